"""Binary files: kind, size, hash, and for a picture its width and height. Nothing reads the picture itself."""

from __future__ import annotations

import hashlib
import struct
from collections.abc import Iterator
from typing import Final

_PNG: Final = b"\x89PNG\r\n\x1a\n"
_GIF: Final = b"GIF8"
_JPEG: Final = b"\xff\xd8"
_FRAMES: Final = frozenset(range(0xC0, 0xD0)) - {0xC4, 0xC8, 0xCC}
"""JPEG markers before the picture's size (ITU-T T.81, B.2.2)."""
_MOST_MARKERS: Final = 500
_GROUP: Final = 4


def lines_of(kind: str, body: bytes) -> Iterator[str]:
    """Yield the lines of a file that are compared. kind: from `binary_kind`.

    The hash is split into groups of four digits; a run of 64 looks like a machine-made id and would be skipped.
    """
    name = kind.removeprefix("a ").removeprefix("an ")
    size = size_of_picture(body)
    yield f"{name[:1].upper()}{name[1:]}" + (f", {size[0]} × {size[1]} pixels" if size else "")
    yield f"Size: {len(body):,} bytes"
    digest = hashlib.sha256(body).hexdigest()
    yield "SHA-256: " + " ".join(digest[i : i + _GROUP] for i in range(0, len(digest), _GROUP))


def size_of_picture(body: bytes) -> tuple[int, int] | None:
    """Return width and height of a PNG, GIF or JPEG; None if unknown."""
    try:
        if body.startswith(_PNG) and body[12:16] == b"IHDR":
            width, height = struct.unpack_from(">II", body, 16)
        elif body.startswith(_GIF):
            width, height = struct.unpack_from("<HH", body, 6)
        elif body.startswith(_JPEG):
            return _size_of_jpeg(body)
        else:
            return None
    except struct.error:
        return None
    return width, height


def _size_of_jpeg(body: bytes) -> tuple[int, int] | None:
    at = 2
    for _ in range(_MOST_MARKERS):
        mark, marker, length = struct.unpack_from(">BBH", body, at)
        if mark != 0xFF:
            return None
        if marker in _FRAMES:
            height, width = struct.unpack_from(">HH", body, at + 5)
            return width, height
        at += 2 + length
    return None
