"""The directory form's launcher inside the one-file form, without the modules that both contain.

Both are a loader followed by an archive, with the same modules in one contiguous part. That part is cut from the
launcher and found again in the one-file form by its first bytes.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping

_MARK = 4096
"""Bytes of the part that stay, to find it by."""


def cut(launcher: bytes, begins: int, ends: int) -> dict[str, bytes]:
    """Return the carried files of a launcher; its modules lie at bytes begins to ends."""
    marked = begins + _MARK
    about = f"{ends - marked} {hashlib.sha256(launcher).hexdigest()}"
    return {"before": launcher[:marked], "after": launcher[ends:], "about": about.encode()}


def assembled(carried: Mapping[str, bytes], program: bytes) -> bytes:
    """Rebuild the launcher with the modules of the program that carries it. Raises ValueError if they do not match.

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
