"""Reading the committed frames of a write-ahead log while the writer runs, and putting them into a copy.

The formats are SQLite's. The log (sqlite.org/fileformat2.html, section 4) is a header of 32 bytes, then frames of 24
bytes and a page. The wal-index (sqlite.org/walformat.html, section 2.1) has the number of committed frames twice, with
a checksum. Unfinished or rolled back frames come after those and are not read.
"""

from __future__ import annotations

import struct
import sys
from collections.abc import Mapping
from typing import IO, NamedTuple

HEADER, FRAME = 32, 24
INDEX = 48
"""Size of the wal-index's header in bytes; it is stored twice."""
MOST = 4 << 20
"""Bytes of log after which a read ends at the next commit."""
_VERSION = 3007000
_INDEX = struct.Struct("=I8xB1xHI12x8s")
_ORDER = "<" if sys.byteorder == "little" else ">"


class Restarted(Exception):
    """The log started over after the position: the changes in between are lost, so a new copy is needed."""


class Index(NamedTuple):
    """The committed log: its salt, number of frames, and page size in bytes."""

    salt: bytes
    frames: int
    page_size: int

    @property
    def end(self) -> int:
        """The offset after the last committed frame."""
        return HEADER + self.frames * (FRAME + self.page_size)


class Position(NamedTuple):
    """The end of a committed transaction in one log: the log's salt, and the offset in bytes."""

    salt: bytes
    offset: int


class Committed(NamedTuple):
    """Whole transactions. pages: the newest version of each page by number (from 1). size: of the database in pages, 0
    if there were no commits. position: after them.
    """

    pages: Mapping[int, bytes]
    size: int
    position: Position


def read_index(raw: bytes) -> Index | None:
    """Parse the start of a wal-index; None while it is being written. Raises ValueError."""
    one, two = raw[:INDEX], raw[INDEX : 2 * INDEX]
    if len(two) < INDEX or one != two or _sums(one[:40]) != struct.unpack("=II", one[40:]):
        return None
    version, ready, page_size, frames, salt = _INDEX.unpack(one[:40])
    if version != _VERSION:
        raise ValueError(f"this wal-index is of version {version}, not of {_VERSION}")
    return Index(salt, frames, page_size if page_size > 1 else 1 << 16) if ready else None


def beginning(index: Index) -> Position | None:
    """Return the position before the first frame; None if the log is empty."""
    return Position(index.salt, HEADER) if index.frames else None


def committed(wal: IO[bytes], after: Position, index: Index) -> Committed:
    """Return the whole transactions after a position, up to the end in the index. Raises Restarted."""
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
        if len(frame) < step or salt != after.salt:  # overwritten during the read: the log started over
            raise Restarted
        offset += step
        pending[number] = frame[FRAME:]
        if whole:
            pages.update(pending)
            pending.clear()
            size, position = whole, Position(after.salt, offset)
    return Committed(pages, size, position)


def put_into(database: IO[bytes], pages: Mapping[int, bytes], size: int) -> None:
    """Apply whole transactions to a copy of the database, which then has `size` pages. Raises OSError."""
    if not size:
        return
    page_size = len(next(iter(pages.values())))
    for number, page in sorted(pages.items()):
        database.seek((number - 1) * page_size)
        database.write(page)
    database.truncate(size * page_size)


def _sums(words: bytes) -> tuple[int, int]:
    """Return SQLite's checksum of an index's words, in this machine's byte order."""
    one = other = 0
    for first, second in struct.iter_unpack(f"{_ORDER}II", words):
        one = (one + first + other) & 0xFFFFFFFF
        other = (other + second + one) & 0xFFFFFFFF
    return one, other
