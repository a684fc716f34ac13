"""Screenshots of rendered pages, accepted only if their bytes prove their type. Pure.

A picture must be a whole PNG, JPEG or WebP by its own header (no declared type counts), of a size that our browser can
have made. Anything else is discarded: a compromised browser may return any bytes.
"""

from __future__ import annotations

from typing import Final, Literal

from msgspec import Struct

from storage.records.identity import Millis, Seq

Media = Literal["image/png", "image/jpeg", "image/webp"]
Side = Literal["before", "after"]

MOST_BYTES: Final = 2 << 20
MOST_PIXELS: Final = 16_384
"""Most pixels of each side."""
_PNG, _PNG_END = b"\x89PNG\r\n\x1a\n", b"IEND\xaeB`\x82"
_FRAMES: Final = frozenset({0xC0, 0xC1, 0xC2})
"""JPEG markers with the image size: baseline, extended, progressive."""


class Picture(Struct, frozen=True):
    """A screenshot of a page. at: when it was taken."""

    media: Media
    body: bytes
    at: Millis

    def __repr__(self) -> str:
        return f"Picture({self.media}, {len(self.body)} bytes)"


class KeptPicture(Struct, frozen=True):
    """A picture without its bytes. seq: the event it belongs to; 0 for the picture of the first check."""

    seq: Seq
    at: Millis
    media: Media
    size: int


def picture_of(body: bytes, at: Millis) -> Picture | None:
    """Validate bytes as a picture; None if they are none, incomplete or too large.

    >>> picture_of(b"<svg onload=alert(1)>", Millis(0)) is None
    True
    """
    found = described(body) if len(body) <= MOST_BYTES else None
    return None if found is None else Picture(found[0], body, at)


def described(body: bytes) -> tuple[Media, int, int] | None:
    sizes: tuple[tuple[Media, tuple[int, int] | None], ...] = (
        ("image/png", _size_of_png(body)),
        ("image/webp", _size_of_webp(body)),
        ("image/jpeg", _size_of_jpeg(body)),
    )
    for media, size in sizes:
        if size is not None and all(0 < side <= MOST_PIXELS for side in size):
            return media, *size
    return None


def _size_of_png(body: bytes) -> tuple[int, int] | None:
    if len(body) < 45 or not body.startswith(_PNG) or body[8:16] != b"\0\0\0\rIHDR" or not body.endswith(_PNG_END):
        return None
    return int.from_bytes(body[16:20]), int.from_bytes(body[20:24])


def _size_of_webp(body: bytes) -> tuple[int, int] | None:
    if len(body) < 30 or body[:4] != b"RIFF" or body[8:12] != b"WEBP":
        return None
    if int.from_bytes(body[4:8], "little") + 8 not in (len(body), len(body) + 1):
        return None
    kind, data = body[12:16], body[20:30]
    if kind == b"VP8X":
        return int.from_bytes(data[4:7], "little") + 1, int.from_bytes(data[7:10], "little") + 1
    if kind == b"VP8 " and data[3:6] == b"\x9d\x01\x2a":
        return int.from_bytes(data[6:8], "little") & 0x3FFF, int.from_bytes(data[8:10], "little") & 0x3FFF
    if kind == b"VP8L" and data[:1] == b"\x2f":
        bits = int.from_bytes(data[1:5], "little")
        return (bits & 0x3FFF) + 1, (bits >> 14 & 0x3FFF) + 1
    return None


def _size_of_jpeg(body: bytes) -> tuple[int, int] | None:
    if not body.startswith(b"\xff\xd8\xff") or not body.endswith(b"\xff\xd9"):
        return None
    at = 2
    while at + 9 <= len(body) and body[at] == 0xFF:
        if body[at + 1] in _FRAMES:
            return int.from_bytes(body[at + 7 : at + 9]), int.from_bytes(body[at + 5 : at + 7])
        at += 2 + max(2, int.from_bytes(body[at + 2 : at + 4]))
    return None
