"""The launcher of the directory form, as the one file carries it: without the modules, which that has anyway.

Both are a loader with an archive behind it, and in both the same modules are one part of that. The part is cut out of
the launcher, and found in the one file by its first bytes.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping

_MARK = 4096
"""Bytes of the part that stay, to find it by."""


def cut(launcher: bytes, begins: int, ends: int) -> dict[str, bytes]:
    """Return what is carried of a launcher, by name of file; its modules are from begins to ends."""
    marked = begins + _MARK
    about = f"{ends - marked} {hashlib.sha256(launcher).hexdigest()}"
    return {"before": launcher[:marked], "after": launcher[ends:], "about": about.encode()}


def assembled(carried: Mapping[str, bytes], program: bytes) -> bytes:
    """Return the launcher, with its modules taken from the program that carries it.

    Raises ValueError where that is another program, or damaged.

    >>> launcher, one_file = b"loader" + bytes(range(256)) * 40 + b"end", b"another" + bytes(range(256)) * 40 + b"more"
    >>> assembled(cut(launcher, 6, 6 + 256 * 40), one_file) == launcher
    True
    """
    size, sum = carried["about"].decode().split()
    at = program.find(carried["before"][-_MARK:]) + _MARK
    launcher = carried["before"] + program[at : at + int(size)] + carried["after"]
    if hashlib.sha256(launcher).hexdigest() != sum:
        raise ValueError("the launcher that the program carries does not fit it")
    return launcher
