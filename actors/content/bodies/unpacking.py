"""Gzip that no header declared: some servers store feeds and pages packed and serve them as they lie.

Size is bounded here as everywhere: a bomb is left packed, and is then refused as what it looks like.
"""

from __future__ import annotations

import zlib

MOST_UNPACKED = 8 << 20
"""Bytes that are unpacked at most."""
_GZIP = b"\x1f\x8b\x08"
_GZIP_WINDOW = 31
"""zlib's code for a window of 32 KiB inside of a gzip header."""


def unpacked(body: bytes) -> bytes:
    """Return what a gzip body holds, or the body as it is: no gzip, damaged, or larger than `MOST_UNPACKED`.

    A stream that is cut short gives what there is of it, as in browsers.
    """
    if not body.startswith(_GZIP):
        return body
    unpacker = zlib.decompressobj(_GZIP_WINDOW)
    try:
        inside = unpacker.decompress(body, MOST_UNPACKED)
    except zlib.error:
        return body
    return body if unpacker.unconsumed_tail or not inside else inside
