"""What a worker gives up for good before its first task, and the watch over what it does after that.

The limits are the system's and hold for C code too. The watch sees what Python does (PEP 578): once it is set, a file
opened, a socket made or a process started ends the worker on the spot, for no parser of ours has a reason to. It is no
sandbox (C code passes it by) but the second line behind parsers that are told to open nothing: whatever a document
talks them into ends here, before a byte of it is read. Modules may still be imported: codecs are, when a body first
names them.
"""

from __future__ import annotations

import ctypes
import os
import resource
import sys
from collections.abc import Mapping
from typing import Any, Final

PROMISE_BROKEN: Final = 86
"""The exit code of a worker that did what it must not."""

_PR_SET_DUMPABLE, _PR_SET_NO_NEW_PRIVS = 4, 38
_WATCHED: Final = ("socket.", "subprocess.", "os.", "pty.", "ctypes.dlopen", "urllib.", "shutil.", "tempfile.")
_HARMLESS: Final = frozenset(
    {"builtins.id", "array.__new__", "import", "compile", "exec", "marshal.loads", "os.listdir"}
)
"""What parsers and imports do by the thousand; let pass first, the watch costs about 1 % of reading a feed."""
_MODULES: Final = (".pyc", ".py", ".so")
_FROZEN: Final = frozenset((sys.executable, f"{sys._MEIPASS}/base_library.zip") if hasattr(sys, "_MEIPASS") else ())
"""Where a frozen program's modules are: in the program itself, and in this file beside its libraries."""
_WRITES: Final = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC


def shut_in(limits: Mapping[str, int]) -> None:
    """Give up rights. limits: `memory`, bytes of address space; `files`, how many may be open at once."""
    for kind, value in (
        (resource.RLIMIT_AS, limits["memory"]),
        (resource.RLIMIT_NOFILE, limits["files"]),
        (resource.RLIMIT_NPROC, 0),
        (resource.RLIMIT_FSIZE, 0),
        (resource.RLIMIT_CORE, 0),
    ):
        _, most = resource.getrlimit(kind)
        allowed = value if most == resource.RLIM_INFINITY else min(value, most)
        resource.setrlimit(kind, (allowed, allowed))
    if sys.platform == "linux":
        libc = ctypes.CDLL(None)
        libc.prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
        libc.prctl(_PR_SET_DUMPABLE, 0, 0, 0, 0)
    sys.addaudithook(_watch)


def is_module(path: object, flags: object) -> bool:
    """Whether opening a path with these flags is what importing a module does, or something just as harmless."""
    if isinstance(path, int):
        return True  # it is open already
    reads = isinstance(flags, int) and not flags & _WRITES
    return reads and isinstance(path, str) and (path.endswith(_MODULES) or path in _FROZEN)


def _watch(event: str, given: tuple[Any, ...]) -> None:
    if event in _HARMLESS:
        return
    if event == "open":
        if is_module(given[0], given[2]):
            return
    elif not event.startswith(_WATCHED):
        return
    os.write(2, f"a worker must not do this: {event} {given!r}"[:300].encode(errors="replace") + b"\n")
    os._exit(PROMISE_BROKEN)
