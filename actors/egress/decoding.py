"""Content codings, decoded within a bound and in constant memory. Pure.

A library's decoder gives whatever comes out in one piece: 200 KB of gzip become 200 MB at once, and `gzip, gzip` makes
500 MB of a kilobyte. So: one coding only, output taken in small steps, and a stop at the limit before the next step.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterator

ACCEPT_ENCODING = "gzip, deflate"
_STEP = 64 << 10
_GZIP, _ZLIB, _RAW = 31, 15, -15


class BadCoding(Exception):
    """The body can't be decoded: a sentence. `cut` tells that only its end is missing."""

    def __init__(self, reason: str, *, cut: bool = False) -> None:
        super().__init__(reason)
        self.reason = reason
        self.cut = cut


class TooLarge(Exception):
    """The body is larger than the limit, after decoding or on the wire."""


class Body:
    """A body as it arrives: `feed` takes wire bytes, `finish` gives the whole of it.

    coding: the Content-Encoding header. limit: bytes after decoding; also the most that is taken from the wire.
    cut: at the limit stop silently instead of raising TooLarge (`full` is then true and nothing more is wanted).
    """

    def __init__(self, coding: str, limit: int, *, cut: bool = False) -> None:
        self._inflate = _decompressor(coding)
        self._limit = limit
        self._cut = cut
        self._parts: list[bytes] = []
        self._size = 0
        self._first = True
        self._deflate = coding.strip().lower() == "deflate"
        self.wire = 0
        self.full = False

    def __repr__(self) -> str:
        return f"<Body {self._size} of at most {self._limit} bytes, {self.wire} on the wire>"

    def wants(self, announced: int) -> bool:
        """Whether a body announced to have so many bytes on the wire is worth reading."""
        return self._cut or announced <= self._limit

    def feed(self, data: bytes) -> None:
        """Take bytes of the wire. Raises BadCoding, TooLarge."""
        self.wire += len(data)
        if self.wire > self._limit and self._inflate is not None:
            self._stop()  # a stream of empty blocks would otherwise go on for ever
        for part in self._decode(data):
            room = self._limit - self._size
            self._parts.append(part[:room])
            self._size += min(len(part), room)
            if len(part) > room:
                self._stop()
            if self.full:
                return

    def finish(self) -> bytes:
        """Return the decoded body. Raises BadCoding when the compressed stream has no end."""
        if self._inflate is not None and self.wire and not self._inflate.eof and not self.full:
            raise BadCoding("the compressed body ends too early", cut=True)
        return b"".join(self._parts)

    def _stop(self) -> None:
        if not self._cut:
            raise TooLarge(f"larger than {self._limit} bytes ({self.wire} on the wire)")
        self.full = True

    def _decode(self, data: bytes) -> Iterator[bytes]:
        if self._inflate is None:
            yield data
            return
        while data and not self.full:
            try:
                part = self._inflate.decompress(data, _STEP)
            except zlib.error as error:
                if not (self._first and self._deflate):
                    raise BadCoding(f"the compressed body is damaged: {error}") from None
                # RFC 9110, 8.4.1.2: some send "deflate" without its zlib wrapping.
                self._inflate = zlib.decompressobj(_RAW)
                self._first = False
                continue
            self._first = False
            if self._inflate.eof and self._inflate.unused_data:
                raise BadCoding("something follows the compressed body")
            data = self._inflate.unconsumed_tail
            yield part


def _decompressor(coding: str) -> zlib._Decompress | None:
    name = coding.strip().lower()
    if name in ("", "identity"):
        return None
    if name in ("gzip", "x-gzip"):
        return zlib.decompressobj(_GZIP)
    if name == "deflate":
        return zlib.decompressobj(_ZLIB)
    raise BadCoding(f"content coding {name[:40]!r} was not asked for")
