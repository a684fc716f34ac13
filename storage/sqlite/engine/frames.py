"""The committed frames of a write-ahead log, read beside the writer and put into a copy of the database.

The forms are SQLite's: the log (sqlite.org/fileformat2.html, section 4) is a header of 32 bytes, then frames of 24
bytes and a page; the wal-index (sqlite.org/walformat.html, section 2.1) says twice, with a checksum, how many of the
frames are committed. What a writer has not finished, or has rolled back, lies behind that and is not read.
"""

from __future__ import annotations

import struct
import sys
from collections.abc import Mapping
from typing import IO, NamedTuple

HEADER, FRAME = 32, 24
INDEX = 48
"""Bytes of the wal-index's header, which is there twice."""
MOST = 4 << 20
"""Bytes of the log after which a reading ends at the next commit."""
_VERSION = 3007000
_INDEX = struct.Struct("=I8xB1xHI12x8s")
_ORDER = "<" if sys.byteorder == "little" else ">"


class Restarted(Exception):
    """The log began anew since the position: what was in between can't be told, so a new copy is needed."""


class Index(NamedTuple):
    """What is committed: the log's salt, its frames, and the bytes of a page."""

    salt: bytes
    frames: int
    page_size: int

    @property
    def end(self) -> int:
        """The offset behind the last committed frame."""
        return HEADER + self.frames * (FRAME + self.page_size)


class Position(NamedTuple):
    """The end of a committed transaction in one log: its salt, and the offset in bytes."""

    salt: bytes
    offset: int


class Committed(NamedTuple):
    """Whole transactions: the newest of each page by its number (from 1), the database's size in pages (0: nothing
    was committed), and the position behind them.
    """

    pages: Mapping[int, bytes]
    size: int
    position: Position


def read_index(raw: bytes) -> Index | None:
    """Return what the first bytes of a wal-index say, None while somebody writes them. Raises ValueError."""
    one, two = raw[:INDEX], raw[INDEX : 2 * INDEX]
    if len(two) < INDEX or one != two or _sums(one[:40]) != struct.unpack("=II", one[40:]):
        return None
    version, ready, page_size, frames, salt = _INDEX.unpack(one[:40])
    if version != _VERSION:
        raise ValueError(f"this wal-index is of version {version}, not of {_VERSION}")
    return Index(salt, frames, page_size if page_size > 1 else 1 << 16) if ready else None


def beginning(index: Index) -> Position | None:
    """Return the position before the first frame; None when the log is empty."""
    return Position(index.salt, HEADER) if index.frames else None


def committed(wal: IO[bytes], after: Position, index: Index) -> Committed:
    """Return whole transactions behind a position, of what an index says is committed. Raises Restarted."""
    if index.salt != after.salt:
        raise Restarted
    step = FRAME + index.page_size
    pages: dict[int, bytes] = {}
    pending: dict[int, bytes] = {}
    size, position, offset = 0, after, after.offset
    wal.seek(offset)
    while offset < index.end and position.offset - after.offset < MOST:
        frame = wal.read(step)
        number, whole, salt = struct.unpack(">II8s8x", frame[:FRAME].ljust(FRAME, b"\0"))
        if len(frame) < step or salt != after.salt:  # overwritten while we read: it began anew
            raise Restarted
        offset += step
        pending[number] = frame[FRAME:]
        if whole:
            pages.update(pending)
            pending.clear()
            size, position = whole, Position(after.salt, offset)
    return Committed(pages, size, position)


def put_into(database: IO[bytes], pages: Mapping[int, bytes], size: int) -> None:
    """Bring a copy of the database to the end of whole transactions, `size` pages then. Raises OSError."""
    if not size:
        return
    page_size = len(next(iter(pages.values())))
    for number, page in sorted(pages.items()):
        database.seek((number - 1) * page_size)
        database.write(page)
    database.truncate(size * page_size)


def _sums(words: bytes) -> tuple[int, int]:
    """Return SQLite's checksum of the words of an index, which are in this machine's order."""
    one = other = 0
    for first, second in struct.iter_unpack(f"{_ORDER}II", words):
        one = (one + first + other) & 0xFFFFFFFF
        other = (other + second + one) & 0xFFFFFFFF
    return one, other
