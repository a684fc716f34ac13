"""Images of 40 by 30 pixels and other sizes; only their headers are valid."""

from __future__ import annotations


def a_png(width: int, height: int) -> bytes:
    head = b"\0\0\0\rIHDR" + width.to_bytes(4) + height.to_bytes(4) + b"\x08\x02\0\0\0" + bytes(4)
    return b"\x89PNG\r\n\x1a\n" + head + b"\0\0\0\0IEND\xaeB`\x82"


def a_webp(width: int, height: int) -> bytes:
    data = b"\0\0\0\x9d\x01\x2a" + width.to_bytes(2, "little") + height.to_bytes(2, "little")
    chunk = b"VP8 " + len(data).to_bytes(4, "little") + data
    return b"RIFF" + (len(chunk) + 4).to_bytes(4, "little") + b"WEBP" + chunk


PNG, WEBP = a_png(40, 30), a_webp(40, 30)
JPEG = (
    b"\xff\xd8\xff\xe0\x00\x10JFIF\0\x01\x01\0\0\x01\0\x01\0\0"
    + b"\xff\xc0\x00\x11\x08"
    + (30).to_bytes(2)
    + (40).to_bytes(2)
    + b"\x03\x01\x11\0\x02\x11\0\x03\x11\0"
    + b"\xff\xd9"
)
