"""Gzip that no header declared: some servers store feeds and pages compressed and serve the file unchanged.

The size is bounded: a bomb stays packed and is then rejected as gzip.
"""

from __future__ import annotations

import zlib

MOST_UNPACKED = 8 << 20
"""Upper bound of unpacked bytes."""
_GZIP = b"\x1f\x8b\x08"
_GZIP_WINDOW = 31
"""zlib's code for a 32 KiB window inside a gzip header."""


def unpacked(body: bytes) -> bytes:
    """Unpack a gzip body; return it unchanged if it is no gzip, damaged or larger than `MOST_UNPACKED`.

    A truncated stream yields its readable part, as in browsers.
    """
    if not body.startswith(_GZIP):
        return body
    unpacker = zlib.decompressobj(_GZIP_WINDOW)
    try:
        inside = unpacker.decompress(body, MOST_UNPACKED)
    except zlib.error:
        return body
    return body if unpacker.unconsumed_tail or not inside else inside
