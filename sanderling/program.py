"""This same program, started again (a worker, a service), from a checkout or frozen; and programs that are not ours.

Frozen, it is one executable with everything inside: a directory (the launcher beside `_internal`) or one file that
unpacks such a directory to the temporary folder and runs from there. Its loader leaves word of that in `_PYI_*` and
points LD_LIBRARY_PATH at what it unpacked: our own children need both, so as not to unpack again; a foreign program
must get neither, or it loads our libraries in place of its own.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from actors.browser.held import SOCKET
from sanderling.environment import PREFIX

LOADER = "_PYI_"
LIBRARIES = "LD_LIBRARY_PATH"
BEFORE = "LD_LIBRARY_PATH_ORIG"
LAUNCHER = "launcher"
"""The folder in which the one-file form carries the launcher of the directory form."""


def unpacked() -> Path | None:
    """Return the folder that the frozen program runs from; None in a checkout."""
    folder = getattr(sys, "_MEIPASS", None)
    return Path(folder) if folder else None


def is_one_file() -> bool:
    """Return whether this is the form that unpacks itself at each start."""
    folder = unpacked()
    return folder is not None and (folder / LAUNCHER).is_dir()


def worker_command() -> Sequence[str]:
    """Return the command line that starts a worker process of this same program.

    In a checkout a worker's environment is empty, so the way to the code is in the command itself; -I keeps everything
    else out.
    """
    return _own_process("worker")


def holder_command(browser: str) -> Sequence[str]:
    """Return the command line that starts a process of this same program which holds a browser; of a socket it is the
    socket itself: another unit starts it.
    """
    if browser.startswith(SOCKET):
        return [browser]
    return [*_own_process("browser-holder"), browser]


def _own_process(role: str) -> Sequence[str]:
    if unpacked() is not None:
        return [sys.executable, role]
    top = str(Path(__file__).parents[1])
    start = f"import sys; sys.path.insert(0, {top!r}); from sanderling.__main__ import main; sys.exit(main())"
    return [sys.executable, "-I", "-c", start, role]


def worker_environment(variables: Mapping[str, str]) -> dict[str, str]:
    """Return all that a worker sees of the environment: nothing, or the loader's own words."""
    if unpacked() is None:
        return {}
    return {name: value for name, value in variables.items() if name.startswith(LOADER) or name == LIBRARIES}


def service_command(variables: Mapping[str, str]) -> tuple[Sequence[str], dict[str, str]]:
    """Return the command line and environment of this same program with no settings but the defaults."""
    clean = {name: value for name, value in variables.items() if not name.startswith(PREFIX)}
    if unpacked() is not None:
        return [sys.executable], clean
    return [sys.executable, "-P", "-m", "sanderling"], clean | {"PYTHONPATH": str(Path(__file__).parents[1])}


def foreign_environment(variables: Mapping[str, str]) -> dict[str, str]:
    """Return the environment for a program that is not ours: without the loader's words, libraries as they were."""
    if unpacked() is None:
        return dict(variables)
    ours = {LIBRARIES, BEFORE}
    kept = {name: value for name, value in variables.items() if not name.startswith(LOADER) and name not in ours}
    return kept | ({LIBRARIES: variables[BEFORE]} if BEFORE in variables else {})
