"""Free space in the database file that deleted rows have left: how much, and how it goes back in small steps.

SQLite uses free pages again, but a file that was large once stays large, unless it was made to give pages back
(`auto_vacuum=incremental`: a map of page owners, one page in eight hundred). That is decided before the first table;
later it takes a copy of the whole (`storage/sqlite/upkeep/rebuilding.py`).
"""

from __future__ import annotations

from storage.retention import FreeSpace
from storage.secrets.connection import Connection
from storage.sql.transaction import Space

_INCREMENTAL = 2
_PAGES = ("PRAGMA page_count", "PRAGMA freelist_count", "PRAGMA page_size")


def begin(connection: Connection) -> None:
    """Make a database without any table give pages back later."""
    connection.execute(f"PRAGMA auto_vacuum={_INCREMENTAL}")
    connection.execute("VACUUM")  # its first page, which says WAL, is written already


def room_of(connection: Connection) -> FreeSpace:
    """Return the bytes of a database, and how many of them are free."""
    pages, free, size = (int(connection.execute(pragma).fetchone()[0]) for pragma in _PAGES)
    return FreeSpace(pages * size, free * size)


def give_back(connection: Connection, limit: int) -> int:
    """Move pages from the end of the file into free ones, in the open transaction; return by how many bytes it shrinks.

    At most `limit` bytes, and pages of the map. The file is cut when the write-ahead log is next copied into it.
    """
    pages, free, size = (int(connection.execute(pragma).fetchone()[0]) for pragma in _PAGES)
    for _ in range(min(free, limit // size)):
        connection.execute("PRAGMA incremental_vacuum(1)")  # Python takes one step of it, which is one page
    (left,) = connection.execute("PRAGMA page_count").fetchone()
    return int(pages - left) * size


def gives_back(connection: Connection) -> bool:
    """Return whether a database can give pages back."""
    (mode,) = connection.execute("PRAGMA auto_vacuum").fetchone()
    return bool(mode == _INCREMENTAL)


SPACE = Space(room_of, give_back)
