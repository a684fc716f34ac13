"""This program as a process: no core dumps, and the commands and environments of its children and of foreign programs,
with the browser that the setting `browser` names.

Frozen, the program is a directory (the launcher next to `_internal`), or one file that unpacks such a directory to the
temporary folder and runs from there. The loader records this in `_PYI_*` and points LD_LIBRARY_PATH at the unpacked
files. Our own children need both, or they unpack again; foreign programs must get neither, or they load our libraries
instead of theirs.
"""

from __future__ import annotations

import ctypes
import resource
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from os.path import isabs
from pathlib import Path
from shutil import which
from typing import Final, NamedTuple

from sanderling.environment import PREFIX

LOADER = "_PYI_"
LIBRARIES = "LD_LIBRARY_PATH"
BEFORE = "LD_LIBRARY_PATH_ORIG"
LAUNCHER = "launcher"  # the folder in the one-file form that contains the directory form's launcher
_PR_SET_DUMPABLE = 4


def unpacked() -> Path | None:
    folder = getattr(sys, "_MEIPASS", None)
    return Path(folder) if folder else None


def is_one_file() -> bool:
    folder = unpacked()
    return folder is not None and (folder / LAUNCHER).is_dir()


def worker_command() -> Sequence[str]:
    """Return a worker's command line. A checkout's contains the path to the code, as its environment is empty."""
    return own_process("worker")


def own_process(role: str) -> Sequence[str]:
    if unpacked() is not None:
        return [sys.executable, role]
    top = str(Path(__file__).parents[1])
    start = f"import sys; sys.path.insert(0, {top!r}); from sanderling.__main__ import main; sys.exit(main())"
    return [sys.executable, "-I", "-c", start, role]


def worker_environment(variables: Mapping[str, str]) -> dict[str, str]:
    if unpacked() is None:
        return {}
    return {name: value for name, value in variables.items() if name.startswith(LOADER) or name == LIBRARIES}


def service_command(variables: Mapping[str, str]) -> tuple[Sequence[str], dict[str, str]]:
    clean = {name: value for name, value in variables.items() if not name.startswith(PREFIX)}
    if unpacked() is not None:
        return [sys.executable], clean
    return [sys.executable, "-P", "-m", "sanderling"], clean | {"PYTHONPATH": str(Path(__file__).parents[1])}


def foreign_environment(variables: Mapping[str, str]) -> dict[str, str]:
    if unpacked() is None:
        return dict(variables)
    ours = {LIBRARIES, BEFORE}
    kept = {name: value for name, value in variables.items() if not name.startswith(LOADER) and name not in ours}
    return kept | ({LIBRARIES: variables[BEFORE]} if BEFORE in variables else {})


def forbid_core_dumps() -> None:
    """Also for children. prctl(2) gives /proc/PID to root, so other programs of the user cannot read our memory."""
    with suppress(ValueError, OSError):
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    if sys.platform == "linux":
        with suppress(OSError, AttributeError):
            ctypes.CDLL(None).prctl(_PR_SET_DUMPABLE, 0, 0, 0, 0)


NAMES: Final = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
"""Best first: the headless shell draws no window, so it is lighter and faster."""
OFF: Final = "off"
SOCKET: Final = "unix:"
"""Prefix of the path of a socket where each connection starts a holder, such as a systemd unit's."""
HOW: Final = "install Debian's chromium-headless-shell (or chromium), or name a browser with the setting browser"


class FoundBrowser(NamedTuple):
    """path: the program, or "" if there is none; `absent` then gives the reason."""

    path: str
    absent: str


def find_browser(setting: str, find: Callable[[str], str | None] = which) -> FoundBrowser:
    """Return the browser for a setting: a path, "" (first one found), "off", or a socket of a browser unit.

    >>> find_browser("", {"chromium": "/usr/bin/chromium"}.get).path, find_browser("off").absent
    ('/usr/bin/chromium', 'the setting browser is off: take it out to render pages')
    """
    if setting == OFF:
        return FoundBrowser("", f"the setting browser is {OFF}: take it out to render pages")
    if setting.startswith(SOCKET):
        return FoundBrowser(setting, "")
    if setting:
        path = find(setting) if isabs(setting) else None
        return FoundBrowser(path or "", "" if path else f"browser = {setting!r} is no program that can be run: {HOW}")
    found = next(filter(None, map(find, NAMES)), "")
    return FoundBrowser(found, "" if found else f"no browser is installed: {HOW}")
