"""Landlock, by ctypes: afterwards this process can't open, create, run or delete a file, nor bind or connect TCP.

An empty rule set handles every right that the running kernel knows and allows none of them. It applies to C code,
threads and children, permanently; open files stay open. Needs Linux 5.13 or later, with Landlock enabled. Numbers and
bits are from the kernel's `linux/landlock.h`, equal on all architectures.
"""

from __future__ import annotations

import ctypes
import os
import struct
from typing import Final

_CREATE: Final = 444
_RESTRICT: Final = 446
_VERSION: Final = 1
_FILES: Final = {1: 13, 2: 14, 3: 15, 5: 16}
"""Number of file rights by interface version: one bit each, from the lowest."""
_NETWORK: Final = 4
"""From this version on: binding and connecting TCP, two bits."""
_SCOPES: Final = 6
"""From this version on: abstract sockets of others, and signals to them, two bits."""


def forbid_everything(libc: ctypes.CDLL) -> str:
    """Give up every right that Landlock knows. Returns the obstacle, or "". Needs no_new_privs."""
    version = _call(libc, _CREATE, None, 0, _VERSION)
    if version < 1:
        return _reason()
    rights = _attributes(version)
    ruleset = _call(libc, _CREATE, rights, len(rights), 0)
    if ruleset < 0:
        return _reason()
    refused = _call(libc, _RESTRICT, ruleset, 0, 0) != 0
    reason = _reason() if refused else ""
    os.close(ruleset)
    return reason


def _attributes(version: int) -> bytes:
    """Return the kernel's `landlock_ruleset_attr` with everything that this version handles."""
    files = max(bits for since, bits in _FILES.items() if since <= version)
    words = [(1 << files) - 1]
    if version >= _NETWORK:
        words.append(0b11)
    if version >= _SCOPES:
        words.append(0b11)
    return struct.pack(f"{len(words)}Q", *words)


def _call(libc: ctypes.CDLL, number: int, first: bytes | int | None, second: int, third: int) -> int:
    head = ctypes.c_long(first) if isinstance(first, int) else ctypes.c_char_p(first)
    libc.syscall.restype = ctypes.c_long
    return int(libc.syscall(ctypes.c_long(number), head, ctypes.c_long(second), ctypes.c_long(third)))


def _reason() -> str:
    return os.strerror(ctypes.get_errno())
