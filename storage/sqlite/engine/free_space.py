"""Free space in the database file left by deleted rows: its size, and its return in small steps.

SQLite reuses free pages, but a file stays at its largest size unless it was set up to return pages
(`auto_vacuum=incremental`: a map of page owners, one page in eight hundred). That must happen before the first table;
later it takes a copy of the whole database (`storage/sqlite/upkeep/rebuilding.py`).
"""

from __future__ import annotations

from storage.retention import FreeSpace
from storage.secrets.connection import Connection
from storage.sql.transaction import Space

_INCREMENTAL = 2
_PAGES = ("PRAGMA page_count", "PRAGMA freelist_count", "PRAGMA page_size")


def begin(connection: Connection) -> None:
    """Set a database without tables up to return pages later."""
    connection.execute(f"PRAGMA auto_vacuum={_INCREMENTAL}")
    connection.execute("VACUUM")  # its first page exists already, because of WAL mode


def room_of(connection: Connection) -> FreeSpace:
    """Return the size of a database and its free part, in bytes."""
    pages, free, size = (int(connection.execute(pragma).fetchone()[0]) for pragma in _PAGES)
    return FreeSpace(pages * size, free * size)


def give_back(connection: Connection, limit: int) -> int:
    """Move pages from the end of the file into free ones, in the open transaction; return by how many bytes it shrinks.

    At most `limit` bytes, and pages of the map. The file is cut when the write-ahead log is next copied into it.
    """
    pages, free, size = (int(connection.execute(pragma).fetchone()[0]) for pragma in _PAGES)
    for _ in range(min(free, limit // size)):
        connection.execute("PRAGMA incremental_vacuum(1)")  # Python runs one step of it, which is one page
    (left,) = connection.execute("PRAGMA page_count").fetchone()
    return int(pages - left) * size


def gives_back(connection: Connection) -> bool:
    """Return whether a database can return pages."""
    (mode,) = connection.execute("PRAGMA auto_vacuum").fetchone()
    return bool(mode == _INCREMENTAL)


SPACE = Space(room_of, give_back)
