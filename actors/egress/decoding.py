"""Content codings, decoded within a bound and in constant memory. Pure.

A library's decoder returns its whole output at once: 200 KB of gzip become 200 MB, and `gzip, gzip` makes 500 MB of a
kilobyte. So: one coding only, output in small steps, and a stop at the limit before the next step.
"""

from __future__ import annotations

import re
import zlib
from collections.abc import Iterator

ACCEPT_ENCODING = "gzip, deflate"
_STEP = 64 << 10
_GZIP, _ZLIB, _RAW = 31, 15, -15
_MAGIC = b"\x1f\x8b"
_BINARY = re.compile(rb"[\x00-\x08\x0e-\x1a\x1c-\x1f]")
_SNIFFED = 1024
_UNREADABLE = frozenset({"br", "zstd", "compress", "x-compress", "dcb", "dcz", "exi", "pack200-gzip"})
_FLUSHED = b"\x00\x00\xff\xff"  # the end of a message whose compressor continues


class DecodingError(Exception):
    """The body can't be decoded: a sentence. `cut`: only its end is missing."""

    def __init__(self, reason: str, *, cut: bool = False) -> None:
        super().__init__(reason)
        self.reason, self.cut = reason, cut


class TooLarge(Exception):
    """The body is larger than the limit, after decoding or on the wire."""


class Body:
    """A body as it arrives: `feed` takes wire bytes, `finish` returns the whole body. coding: the Content-Encoding
    header. limit: bytes after decoding, and on the wire. cut: stop silently at the limit instead of raising TooLarge
    (`full` is then true and no more input is wanted).
    """

    def __init__(self, coding: str, limit: int, *, cut: bool = False) -> None:
        names = [name for name in coding.lower().replace(",", " ").split() if name != "identity"]
        known = [name for name in names if name in ("gzip", "x-gzip", "deflate")]
        unknown = next((name for name in names if name not in known), "")
        if len(known) > 1 or (known and unknown) or not _UNREADABLE.isdisjoint(names):
            raise DecodingError(f"content coding {coding.strip()[:40]!r} was not asked for")
        self._decompressor = zlib.decompressobj(_ZLIB if known == ["deflate"] else _GZIP) if known else None
        self._unknown, self._limit, self._cut = unknown, limit, cut
        self._start = b""
        self._parts: list[bytes] = []
        self._size, self._first = 0, True
        self._is_gzip = "gzip" in coding.lower()
        self.wire_bytes, self.full = 0, False

    def wants(self, announced: int) -> bool:
        return self._cut or announced <= self._limit

    def feed(self, data: bytes) -> None:
        """Take wire bytes. Raises DecodingError, TooLarge."""
        self.wire_bytes += len(data)
        if self.wire_bytes > self._limit and self._decompressor is not None:
            self._stop()  # a stream of empty blocks would otherwise never end
        for part in self._decode(data):
            room = self._limit - self._size
            self._parts.append(part[:room])
            self._size += min(len(part), room)
            if len(part) > room:
                self._stop()
            if self.full:
                return

    def finish(self) -> bytes:
        """Return the decoded body. Raises DecodingError if the compressed stream is incomplete."""
        if self._decompressor is not None and self.wire_bytes and not self._decompressor.eof and not self.full:
            raise DecodingError("the compressed body ends too early", cut=True)
        body = b"".join(self._parts)
        if self._unknown and _BINARY.search(body[:_SNIFFED]):
            raise DecodingError(f"content coding {self._unknown[:40]!r} was not asked for")
        return body

    def _stop(self) -> None:
        if not self._cut:
            raise TooLarge(f"larger than {self._limit} bytes ({self.wire_bytes} on the wire)")
        self.full = True

    def _decode(self, data: bytes) -> Iterator[bytes]:
        while data and not self.full:
            if self._decompressor is None:
                yield data
                return
            if self._first or self._decompressor.eof:
                data = self._start + data
                self._start = data if len(data) < len(_MAGIC) else b""
                if self._start:
                    return
                if self._is_gzip and self._first and data[:2] != _MAGIC:
                    self._decompressor, self._unknown = None, "gzip"
                    continue
                if self._decompressor.eof:  # RFC 1952, 2.2: members follow each other; browsers ignore anything else
                    self.full = not (self._is_gzip and data[:2] == _MAGIC)
                    self._decompressor = zlib.decompressobj(_GZIP) if not self.full else self._decompressor
                    continue
            try:
                part = self._decompressor.decompress(data, _STEP)
            except zlib.error as error:
                if not self._first or self._is_gzip:
                    raise DecodingError(f"the compressed body is damaged: {error}") from None
                # RFC 9110, 8.4.1.2: some send "deflate" without its zlib wrapping.
                self._decompressor, self._first = zlib.decompressobj(_RAW), False
                continue
            self._first = False
            data = self._decompressor.unused_data or self._decompressor.unconsumed_tail
            yield part


def inflated(data: bytes, limit: int) -> bytes | None:
    """Decompress gzip, zlib or raw deflate; return None for anything else. Raises TooLarge."""
    for bits in (_GZIP,) if data[:2] == b"\x1f\x8b" else (_ZLIB, _RAW):
        decompressor = zlib.decompressobj(bits)
        try:
            output = decompressor.decompress(data, limit + 1)
        except zlib.error:
            continue
        if len(output) > limit:
            raise TooLarge(f"larger than {limit} bytes")
        if decompressor.eof or data.endswith(_FLUSHED):
            return output
    return None
