"""Room in the database file that deleted rows have left: how much, and how it goes back to the disk in small steps.

SQLite uses free pages again, but a file that was large once stays large, unless it was made to give pages back
(`auto_vacuum=incremental`: a map of page owners, one page in eight hundred). That is decided before the first table;
later it takes a copy of the whole. So a new database is made that way, and an old one is copied once, before its use.
"""

from __future__ import annotations

import os
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

from storage.errors import DiskFull
from storage.retention import Room
from storage.sqlite.connection import COMMAND, connect
from storage.sqlite.copying import copy_database
from storage.sqlite.migrations import version_of

_INCREMENTAL = 2
_PAGES = ("PRAGMA page_count", "PRAGMA freelist_count", "PRAGMA page_size")
_WAL = "-wal"
SPARE = 16 << 20
"""Bytes that stay free beside the copy."""


def begin(connection: sqlite3.Connection) -> None:
    """Make a database without any table give pages back later."""
    connection.execute(f"PRAGMA auto_vacuum={_INCREMENTAL}")
    connection.execute("VACUUM")  # its first page, which says WAL, is written already


def room_of(connection: sqlite3.Connection) -> Room:
    """Return the bytes of a database, and how many of them are free."""
    pages, free, size = (int(connection.execute(pragma).fetchone()[0]) for pragma in _PAGES)
    return Room(pages * size, free * size)


def give_back(connection: sqlite3.Connection, limit: int) -> int:
    """Move pages from the end of the file into free ones, in the open transaction; return by how many bytes it shrinks.

    At most `limit` bytes, and pages of the map. The file is cut when the write-ahead log is next copied into it.
    """
    pages, free, size = (int(connection.execute(pragma).fetchone()[0]) for pragma in _PAGES)
    for _ in range(min(free, limit // size)):
        connection.execute("PRAGMA incremental_vacuum(1)")  # Python takes one step of it, which is one page
    (left,) = connection.execute("PRAGMA page_count").fetchone()
    return int(pages - left) * size


def gives_back(connection: sqlite3.Connection) -> bool:
    """Return whether a database can give pages back."""
    (mode,) = connection.execute("PRAGMA auto_vacuum").fetchone()
    return bool(mode == _INCREMENTAL)


def rebuild(database: Path, *, at_most: int | None = None) -> bool:
    """Put a copy in the place of a database that can't give pages back; return whether that was done.

    It is left as it is when it needs none, has no tables yet, has more than `at_most` bytes in use, when the disk has
    no room for the copy, or somebody reads it. The caller holds the folder's lock, and has it not open. Raises Corrupt,
    NewerSchema, Unavailable, OSError; nothing has changed then.
    """
    copy = database.with_name(database.name + ".rebuilt")
    copy.unlink(
        missing_ok=True
    )  # of a start that was killed meanwhile: it takes room, and holds all that the other does
    if not database.stat().st_size:
        return False
    with closing(connect(database, COMMAND)) as connection:
        if gives_back(connection) or not version_of(connection):
            return False  # one without tables is of a first start that was killed: it begins anew in its place
        needed = room_of(connection).used
    if (at_most is not None and needed > at_most) or shutil.disk_usage(database.parent).free < needed + SPARE:
        return False
    if database.with_name(database.name + _WAL).exists():
        return False  # somebody else has it open: what he writes would be lost
    try:
        copy_database(database, copy)
    except DiskFull:
        return False
    if database.with_name(database.name + _WAL).exists():
        copy.unlink()
        return False
    copy.replace(database)
    _sync(database.parent)
    return True


def _sync(folder: Path) -> None:
    """Make a change of names last: else a power cut could bring back the old file, without what was written since."""
    fd = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(fd)
    finally:
        os.close(fd)
