"""The committed frames of a write-ahead log, read beside the writer and put into a copy of the database.

The form is SQLite's (sqlite.org/fileformat2.html, section 4): a header of 32 bytes, then frames of 24 bytes and a page.
Each frame's checksum goes on from that of the frame before, and its salt is the header's; a frame where either is
another is a rest of an earlier log. A frame that ends a transaction names the size of the database in pages.
"""

from __future__ import annotations

import struct
from collections.abc import Mapping
from typing import IO, NamedTuple

HEADER, FRAME = 32, 24
MOST = 4 << 20
"""Bytes of the log after which a reading ends at the next commit."""
_LITTLE, _BIG, _VERSION = 0x377F0682, 0x377F0683, 3007000


class Restarted(Exception):
    """The log began anew since the position: what was in between can't be told, so a new copy is needed."""


class Position(NamedTuple):
    """The end of a committed transaction in one log: its salt, the offset in bytes, and the checksum up to there."""

    salt: bytes
    offset: int
    sums: tuple[int, int]


class Committed(NamedTuple):
    """Whole transactions: the newest of each page by its number (from 1), the database's size in pages (0: nothing
    was committed), and the position behind them.
    """

    pages: Mapping[int, bytes]
    size: int
    position: Position


def beginning(wal: IO[bytes]) -> Position | None:
    """Return the position before the first frame; None when the log is empty. Raises ValueError when it is no log."""
    wal.seek(0)
    head = wal.read(HEADER)
    if len(head) < HEADER:
        return None
    order, _ = _form(head)
    sums = _sums(head[:24], order, (0, 0))
    if sums != struct.unpack(">II", head[24:]):
        raise ValueError("the header of the write-ahead log has another checksum than it says")
    return Position(head[16:24], HEADER, sums)


def committed(wal: IO[bytes], after: Position) -> Committed:
    """Return whole transactions behind a position. Raises Restarted, ValueError.

    What a writer has not finished, or a power cut has torn, is no part of it.
    """
    wal.seek(0)
    head = wal.read(HEADER)
    if head[16:24] != after.salt:
        raise Restarted
    order, page_size = _form(head)
    pages: dict[int, bytes] = {}
    pending: dict[int, bytes] = {}
    size, position = 0, after
    offset, sums = after.offset, after.sums
    wal.seek(offset)
    while position.offset - after.offset < MOST:
        frame = wal.read(FRAME + page_size)
        if len(frame) < FRAME + page_size or frame[8:16] != after.salt:
            break
        sums = _sums(frame[FRAME:], order, _sums(frame[:8], order, sums))
        number, whole, first, second = struct.unpack(">II8xII", frame[:FRAME])
        if sums != (first, second) or not number:
            break
        offset += len(frame)
        pending[number] = frame[FRAME:]
        if whole:
            pages.update(pending)
            pending.clear()
            size, position = whole, Position(after.salt, offset, sums)
    wal.seek(0)
    if wal.read(HEADER) != head:  # begun anew while we read
        raise Restarted
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


def _form(head: bytes) -> tuple[str, int]:
    """Return the byte order of the checksums and the size of a page."""
    magic, version, page_size = struct.unpack(">III", head[:12])
    if magic not in (_LITTLE, _BIG) or version != _VERSION or not 512 <= page_size <= 1 << 16:
        raise ValueError("this is no write-ahead log of SQLite")
    return (">" if magic == _BIG else "<"), page_size


def _sums(words: bytes, order: str, sums: tuple[int, int]) -> tuple[int, int]:
    one, other = sums
    for first, second in struct.iter_unpack(f"{order}II", words):
        one = (one + first + other) & 0xFFFFFFFF
        other = (other + second + one) & 0xFFFFFFFF
    return one, other
