"""Connections: their pragmas, set and read back, SQLite's errors as ours, free space in the file, and the read-only
connections: a few for pages, each used by one thread at a time, and the loop's own for look-ups.

SQLite silently ignores a pragma that it does not know or cannot honour, so each is read back at once. `FULL` is not
negotiable: under group commit it costs next to nothing, and `NORMAL` loses acknowledged events at a power cut.

SQLite reuses free pages, but a file stays at its largest size unless it was set up to return pages
(`auto_vacuum=incremental`: a map of page owners, one page in eight hundred). That must happen before the first table;
later it takes a copy of the whole database (`storage/sqlite/upkeep/upgrade.py`).
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

import trio

from storage.errors import Corrupt, DiskFull, StorageError, Unavailable
from storage.retention import FreeSpace
from storage.secrets.sealing import Connection
from storage.sql.transaction import Pool, Space

OLDEST_SQLITE = (3, 37, 0)
"""The first version with STRICT tables."""

Pragmas = tuple[tuple[str, str | int], ...]

WRITER: Pragmas = (
    ("busy_timeout", 5000),
    ("journal_mode", "wal"),
    ("synchronous", 2),  # FULL
    ("wal_autocheckpoint", 1000),
    ("journal_size_limit", 64 << 20),
    ("cache_size", -65536),
    ("foreign_keys", 1),
    ("temp_store", 2),  # memory
    ("trusted_schema", 0),  # definitions in the file may call only functions without side effects
)
COMMAND: Pragmas = (
    *(pragma for pragma in WRITER if pragma[0] not in ("wal_autocheckpoint", "cache_size")),
    ("wal_autocheckpoint", 0),  # checkpoints are the job of the server's writer, or of the last connection to close
)
READER: Pragmas = (
    ("busy_timeout", 5000),
    ("query_only", 1),
    ("cache_size", -16384),
    ("temp_store", 2),
    ("trusted_schema", 0),
)
UNTRUSTED: Pragmas = (("trusted_schema", 0), ("busy_timeout", 5000), ("query_only", 1), ("temp_store", 2))

_SHMSIZE = sqlite3.SQLITE_IOERR_SHMSIZE
_AWAY = (
    sqlite3.SQLITE_BUSY,
    sqlite3.SQLITE_LOCKED,
    sqlite3.SQLITE_IOERR,
    sqlite3.SQLITE_CANTOPEN,
    sqlite3.SQLITE_READONLY,
    sqlite3.SQLITE_PROTOCOL,
    sqlite3.SQLITE_NOMEM,
)


def connect(database: Path, pragmas: Pragmas, *, read_only: bool = False) -> sqlite3.Connection:
    """Open in autocommit mode. Raises StorageError for an old SQLite or a refused pragma, else as `translated` does."""
    if sqlite3.sqlite_version_info < OLDEST_SQLITE:
        needed = ".".join(map(str, OLDEST_SQLITE))
        raise StorageError(f"this Python has SQLite {sqlite3.sqlite_version}; Sanderling needs {needed} or newer")
    uri = f"{database.absolute().as_uri()}?mode={'ro' if read_only else 'rw'}"
    with translated():
        connection = sqlite3.connect(
            uri, uri=True, timeout=5, isolation_level=None, check_same_thread=False, cached_statements=256
        )
        try:
            for name, value in pragmas:
                connection.execute(f"PRAGMA {name}={value}").fetchall()
                got = connection.execute(f"PRAGMA {name}").fetchone()
                if got is None or got[0] != value:
                    answer = f"it says {got}; is the folder on a network disk?"
                    raise StorageError(f"SQLite does not accept {name}={value}: {answer}")
        except BaseException:
            connection.close()
            raise
    return connection


@contextmanager
def translated() -> Iterator[None]:
    try:
        yield
    except sqlite3.Error as error:
        raise in_our_words(error) from error


def in_our_words(error: Exception) -> Exception:
    """Translate a failure of SQLite for the caller; return errors of our own making unchanged."""
    code = getattr(error, "sqlite_errorcode", None)
    if code is None:
        closed = isinstance(error, sqlite3.ProgrammingError) and "closed" in str(error)
        return Unavailable("the storage is closed") if closed else error
    if code & 0xFF == sqlite3.SQLITE_FULL or code == _SHMSIZE:
        return DiskFull("the disk is full")
    if code & 0xFF in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB):
        return Corrupt(f"the database is damaged ({error}): stop the service and put a backup in its place")
    if code & 0xFF in _AWAY:
        return Unavailable(f"SQLite: {error}")
    return error


_INCREMENTAL = 2
_PAGES = ("PRAGMA page_count", "PRAGMA freelist_count", "PRAGMA page_size")


def set_up_space(connection: Connection) -> None:
    """Set a database without tables up to return pages later."""
    connection.execute(f"PRAGMA auto_vacuum={_INCREMENTAL}")
    connection.execute("VACUUM")  # its first page exists already, because of WAL mode


def room_of(connection: Connection) -> FreeSpace:
    pages, free, size = (int(connection.execute(pragma).fetchone()[0]) for pragma in _PAGES)
    return FreeSpace(pages * size, free * size)


def give_back(connection: Connection, limit: int) -> int:
    """Move pages from the end into free ones, at most `limit` bytes; return how many. A checkpoint cuts the file."""
    pages, free, size = (int(connection.execute(pragma).fetchone()[0]) for pragma in _PAGES)
    for _ in range(min(free, limit // size)):
        connection.execute("PRAGMA incremental_vacuum(1)")  # Python runs one step of it, which is one page
    (left,) = connection.execute("PRAGMA page_count").fetchone()
    return int(pages - left) * size


def gives_back(connection: Connection) -> bool:
    (mode,) = connection.execute("PRAGMA auto_vacuum").fetchone()
    return bool(mode == _INCREMENTAL)


SPACE = Space(room_of, give_back)


HOW_MANY = 2
"""More do not read faster: they share the interpreter, and each running one delays the loop."""

T = TypeVar("T")


class ReaderPool(Pool[sqlite3.Connection]):
    """The read-only connections for pages."""

    def __init__(self, database: Path) -> None:
        super().__init__([connect(database, READER, read_only=True) for _ in range(HOW_MANY)], sqlite3.Connection.close)

    async def run(self, read: Callable[[sqlite3.Connection], T]) -> T:
        """Run a read in a thread; a cancelled one runs to its end, and its result is dropped."""
        if self._closed:
            raise Unavailable("the storage is closed")
        return await trio.to_thread.run_sync(self._read, read, limiter=self._limiter, abandon_on_cancel=True)

    def _read(self, read: Callable[[sqlite3.Connection], T]) -> T:
        connection = self._idle.get_nowait()
        try:
            with translated():
                return read(connection)
        finally:
            self._idle.put(connection)


class OwnConnection:
    """See `storage.sql.transaction.Lookups`."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection

    async def one(self, query: str, parameters: Sequence[Any] = ()) -> Any:
        """Not a checkpoint."""
        with translated():
            return self._connection.execute(query, parameters).fetchone()
