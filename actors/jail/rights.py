"""The rights that a worker gives up permanently before its first task, and the audit of its later actions.

There are four layers, from the outside in. The limits are the system's: memory, open files, no growing file. Landlock
(`landlock.py`) and a filter of system calls (`seccomp.py`) are the kernel's and apply to C code too: a compromised
parser can't open a file, reach a network or start a process. If the kernel lacks them, or a container refuses them,
the worker's first frame reports that. An audit hook sees Python's actions (PEP 578): opening a file, making a socket
or starting a process ends the worker at once, since no parser of ours has a reason to. And imports are disabled:
`tasks.py` has loaded everything.
"""

from __future__ import annotations

import ctypes
import os
import resource
import sys
from collections.abc import Mapping
from typing import Any, Final, NoReturn

from actors.jail.landlock import forbid_everything
from actors.jail.seccomp import filter_calls

PROMISE_BROKEN: Final = 86
"""The exit code of a worker that did something forbidden."""

_PR_SET_DUMPABLE, _PR_SET_NO_NEW_PRIVS = 4, 38
_WATCHED: Final = ("socket.", "subprocess.", "os.", "pty.", "ctypes.dlopen", "urllib.", "shutil.", "tempfile.")
_HARMLESS: Final = frozenset({"builtins.id", "array.__new__", "import", "compile", "exec", "marshal.loads"})
"""Frequent events of parsers; skipped first, the hook costs about 1 % of reading a feed."""


def shut_in(limits: Mapping[str, int]) -> str:
    """Give up rights. limits: `memory`, bytes of address space; `files`, how many may be open at once.

    Returns the missing confinement in a few words, or "".
    """
    for kind, value in (
        (resource.RLIMIT_AS, limits["memory"]),
        (resource.RLIMIT_NOFILE, limits["files"]),
        (resource.RLIMIT_FSIZE, 0),
        (resource.RLIMIT_CORE, 0),
    ):
        _lower(kind, value)
    sys.meta_path[:] = [_Nothing()]
    lacks = _ask_kernel()
    sys.addaudithook(_watch)
    return lacks


def _ask_kernel() -> str:
    """Have the kernel confine this process. Returns the missing confinement."""
    if sys.platform != "linux":
        _lower(resource.RLIMIT_NPROC, 0)
        return f"no Landlock and no seccomp on {sys.platform}"
    libc = ctypes.CDLL(None, use_errno=True)
    libc.prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
    libc.prctl(_PR_SET_DUMPABLE, 0, 0, 0, 0)
    landlock, seccomp = (
        forbid_everything(libc),
        filter_calls(libc),
    )  # the filter forbids Landlock's calls
    if seccomp:
        _lower(resource.RLIMIT_NPROC, 0)  # root is exempt, and this also forbids threads; the filter distinguishes them
    lacks = {"Landlock": landlock, "seccomp": seccomp}
    return ", ".join(f"no {what} ({why})" for what, why in lacks.items() if why)


def _lower(kind: int, value: int) -> None:
    _, most = resource.getrlimit(kind)
    allowed = value if most == resource.RLIM_INFINITY else min(value, most)
    resource.setrlimit(kind, (allowed, allowed))


class _Nothing:
    """Finds no module. The kernel would refuse the file as well, but libraries expect an ImportError."""

    def find_spec(self, name: str, path: object = None, target: object = None) -> NoReturn:
        raise ModuleNotFoundError(f"a worker imports nothing once it has started: {name}", name=name)


def _watch(event: str, given: tuple[Any, ...]) -> None:
    if event in _HARMLESS:
        return
    if event == "open":
        if isinstance(given[0], int):
            return  # it is already open
    elif not event.startswith(_WATCHED):
        return
    os.write(2, f"a worker must not do this: {event} {given!r}"[:300].encode(errors="replace") + b"\n")
    os._exit(PROMISE_BROKEN)
