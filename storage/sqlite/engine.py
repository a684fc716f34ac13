"""The database: connections, the folder and its lock, the writer's thread, readers, tables.

SQLite silently ignores a pragma that it does not know or cannot honour, so each is read back at once. `FULL` is not
negotiable: under group commit it costs next to nothing, and `NORMAL` loses acknowledged events at a power cut. A file
returns free pages only if `auto_vacuum=incremental` was set before the first table; later it takes a copy of the whole
database (`storage/sqlite/upkeep.py`).

The head mark is a file with the log's newest committed position: SQLite does not notice if its WAL was cut or deleted
(the newest commits are just gone, and every check says ok).

The tables are made by `steps/`. A released step never changes; new steps are added. A step, its record and its count in
`user_version` are one transaction: a failing step leaves nothing, and an older program refuses a newer database. A
database from elsewhere must have exactly the schema of its version (`check_schema`): an added trigger, view or table
would run, or be read, as ours.

SQLite's own checkpoint, after each 1,000 pages, restarts the WAL only when no reader is using it. With a few readers
that replay without pause, one always is. Above a size the writer therefore waits for the present readers, for about one
page's time, and cuts the WAL.

If a job fails after it has written, or the commit fails, the transaction is rolled back and each of its jobs runs again
in its own transaction.
"""

from __future__ import annotations

import fcntl
import os
import queue
import re
import sqlite3
import stat
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import trio

from storage.errors import Corrupt, DiskFull, Exposed, Locked, NewerSchema, StorageError, Unavailable
from storage.records.identity import START, Seq
from storage.retention import FreeSpace
from storage.secrets import Connection, Vault, mark, seal_plain
from storage.sql.writing import Pool, Space, Ticket, Transaction, WritingThread
from storage.sqlite.master_key import NEXT, OWN
from storage.sqlite.ownership import entrust, opened

if TYPE_CHECKING:
    from sqlite_utils import Database


OLDEST_SQLITE = (3, 37, 0)  # the first version with STRICT tables

Pragmas = tuple[tuple[str, str | int], ...]

_EVERY: Pragmas = (("trusted_schema", 0), ("busy_timeout", 5000), ("temp_store", 2))
"""Definitions in the file may call only functions without side effects; temporary tables are in memory."""
WRITER: Pragmas = (
    *_EVERY,
    ("journal_mode", "wal"),
    ("synchronous", 2),  # FULL
    ("wal_autocheckpoint", 1000),
    ("journal_size_limit", 64 << 20),
    ("cache_size", -65536),
    ("foreign_keys", 1),
)
COMMAND: Pragmas = (
    *(pragma for pragma in WRITER if pragma[0] not in ("wal_autocheckpoint", "cache_size")),
    ("wal_autocheckpoint", 0),  # checkpoints are the job of the server's writer, or of the last connection to close
)
UNTRUSTED: Pragmas = (*_EVERY, ("query_only", 1))
READER: Pragmas = (*UNTRUSTED, ("cache_size", -16384))

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
    if (code := getattr(error, "sqlite_errorcode", None)) is None:
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
    """Return a database's size and its free part, in bytes."""
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


HOW_MANY = 2  # more do not read faster: they share the interpreter, and each running one delays the loop

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
    """See `storage.sql.writing.Lookups`."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection

    async def one(self, query: str, parameters: Sequence[Any] = ()) -> Any:
        """Not a checkpoint."""
        with translated():
            return self._connection.execute(query, parameters).fetchone()


DATABASE = "sanderling.db"
LOCK = "sanderling.lock"
MARK = "sanderling.head"
_DIGITS = 20  # a 63-bit position at fixed width, so that a new mark overwrites the old one within one sector


def prepare(folder: Path) -> Path:
    """Make folder (0700) and database (0600) before SQLite copies its mode to the WAL. Raises Exposed, OSError."""
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    with opened(folder, os.O_DIRECTORY) as fd:
        _restrict(fd, 0o700)
    database = folder / DATABASE
    _touch(database)
    _refuse(folder, 0o002)  # with write access, others could replace the database; a mounted volume may have a group
    for path in (database, *(folder / name for name in (OWN, NEXT) if (folder / name).exists())):
        with opened(path, os.O_NOFOLLOW) as fd:
            _restrict(fd, 0o600)
        _refuse(path, 0o077)
    return database


def identity(path: Path) -> tuple[int, int] | None:
    """Return the device and inode of a file, which differ for another file at the same path; None if missing."""
    try:
        status = path.stat()
    except OSError:
        return None
    return status.st_dev, status.st_ino


class FolderLock:
    """An exclusive lock on a folder, held until `release` or the end of the process, however it ends."""

    def __init__(self, folder: Path) -> None:
        self._path = folder / LOCK
        self._fd: int | None = None

    def acquire(self) -> None:
        """Take the lock at once. Raises Locked if another process (or another engine of this one) holds it."""
        _touch(self._path)
        fd = os.open(self._path, os.O_RDWR | os.O_CLOEXEC | os.O_NOFOLLOW)
        try:
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            os.close(fd)
            folder = self._path.parent
            raise Locked(f"another process serves from {folder}: stop it, or choose another folder") from None
        self._fd = fd

    def release(self) -> None:
        if self._fd is not None:
            os.close(self._fd)
            self._fd = None

    def __enter__(self) -> None:
        self.acquire()

    def __exit__(self, *exc: object) -> None:
        self.release()


@contextmanager
def opening(folder: Path) -> Iterator[None]:
    """Let one process at a time open or create the folder's contents; others wait for that moment."""
    with opened(folder, os.O_DIRECTORY) as fd:
        fcntl.flock(fd, fcntl.LOCK_EX)
        yield


class HeadMark:
    """The newest committed position in a file. Used by the writer thread only."""

    def __init__(self, folder: Path) -> None:
        self._path = folder / MARK
        self._fd: int | None = None
        self.written = START

    def read(self) -> Seq:
        """Open the file, created if missing, and return its position, 0 for none. Raises ValueError if damaged."""
        _touch(self._path)
        self._fd = os.open(self._path, os.O_RDWR | os.O_CLOEXEC | os.O_NOFOLLOW)
        if not (text := os.pread(self._fd, _DIGITS + 1, 0)):
            return START
        if len(text) != _DIGITS + 1 or not text[:_DIGITS].isdigit():
            raise ValueError(f"{self._path} does not hold a position: {text[:40]!r}")
        self.written = Seq(int(text))
        return self.written

    def write(self, head: Seq) -> None:
        """Raises OSError."""
        assert self._fd is not None
        os.pwrite(self._fd, b"%0*d\n" % (_DIGITS, head), 0)
        os.fdatasync(self._fd)
        self.written = head

    def close(self) -> None:
        if self._fd is not None:
            os.close(self._fd)
            self._fd = None


def _touch(path: Path) -> None:
    """Create an empty file if missing. Raises OSError, also for a link, which may lead to another user's file."""
    try:
        fd = os.open(path, os.O_CREAT | os.O_EXCL | os.O_RDWR | os.O_CLOEXEC, 0o600)
        entrust(fd, path.parent)
    except FileExistsError:
        fd = os.open(path, os.O_CREAT | os.O_RDWR | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
    try:
        _restrict(fd, 0o600)
    finally:
        os.close(fd)


def _refuse(path: Path, forbidden: int) -> None:
    mode = stat.S_IMODE(path.stat().st_mode)
    if mode & forbidden:
        raise Exposed(path, mode)


def _restrict(fd: int, mode: int) -> None:
    """Remove other users' rights from a file of ours. A mounted volume may belong to root."""
    status = os.fstat(fd)
    if status.st_mode & 0o777 & ~mode and status.st_uid == os.geteuid():
        os.fchmod(fd, mode)


class MigrationStep(NamedTuple):
    """then: runs after the statements, with the key that seals secrets, None in a new database."""

    name: str
    statements: Sequence[str]
    then: Callable[[sqlite3.Connection, Vault | None], None] | None = None


def _seal(connection: sqlite3.Connection, vault: Vault | None) -> None:
    if vault is not None:
        mark(connection, vault)
        seal_plain(connection, vault)
        connection.execute("INSERT INTO fact SELECT 'scrub', 1 WHERE EXISTS (SELECT 1 FROM signing_key)")


_AFTER = {"sealed": _seal}


def _statements(text: str) -> Iterator[str]:
    statement = ""
    for line in text.splitlines():
        statement += "" if line.startswith("--") else f"{line}\n"
        if sqlite3.complete_statement(statement):
            yield statement
            statement = ""


STEPS: Sequence[MigrationStep] = [
    MigrationStep(name, tuple(_statements(file.read_text("utf-8"))), _AFTER.get(name))
    for file in sorted((resources.files("storage.sqlite") / "steps").iterdir(), key=lambda file: file.name)
    for name in [file.name.removesuffix(".sql").partition("_")[2]]
]
"""The files of `steps/` in order; a file's name is a number and its step's name."""


def version_of(connection: sqlite3.Connection, steps: Sequence[MigrationStep] = STEPS) -> int:
    """Raises NewerSchema."""
    version = connection.execute("PRAGMA user_version").fetchone()[0]
    assert isinstance(version, int)
    if version > len(steps):
        raise NewerSchema(f"the data have schema {version}, this program knows {len(steps)}: use a newer Sanderling")
    return version


def migrate(
    connection: sqlite3.Connection, steps: Sequence[MigrationStep] = STEPS, *, vault: Vault | None = None
) -> None:
    """A failing step raises and leaves nothing. vault: seals old plain secrets. Raises NewerSchema."""
    if version_of(connection, steps) == len(steps):
        return
    from sqlite_utils import Database, Migrations  # noqa: PLC0415  (a third of a second that only a first start pays)

    migrations = Migrations("sanderling")
    for number, step in enumerate(steps, 1):
        migrations(name=f"{number:04d}_{step.name}")(_counted(number, step, vault))
    migrations.apply(Database(connection, execute_plugins=False))


def _counted(number: int, step: MigrationStep, vault: Vault | None) -> Callable[[Database], None]:
    def run(db: Database) -> None:
        for statement in step.statements:
            db.conn.execute(statement)
        if step.then is not None:
            step.then(db.conn, vault)
        db.conn.execute(f"PRAGMA user_version={number}")

    return run


_SCHEMA = "SELECT type, name, tbl_name, coalesce(sql, '') FROM sqlite_master WHERE name NOT LIKE 'sqlite^_%' ESCAPE '^'"
_OF_THE_LIBRARY = "_sqlite_migrations"  # sqlite-utils' own table, whose text depends on the library's version
_Part = tuple[str, str, str, str]


def check_schema(database: Path) -> None:
    """Compare a database's schema with the result of this program's steps. Raises Corrupt, NewerSchema, Unavailable."""
    with closing(connect(database, UNTRUSTED)) as connection, translated():
        found, version = _parts(connection), version_of(connection)
    if not version:
        raise Corrupt("the database is not one of Sanderling's")
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as fresh:
        migrate(fresh, STEPS[:version])
        wanted = _parts(fresh)
    if odd := sorted(found ^ wanted):
        type, name, _table, _text = odd[0]
        raise Corrupt(f"its schema is not Sanderling's of version {version}: {type} {name!r:.80}")


def _parts(connection: sqlite3.Connection) -> set[_Part]:
    rows = connection.execute(_SCHEMA).fetchall()
    return {
        (type, name, table, "" if name == _OF_THE_LIBRARY else re.sub(r"\s+", " ", text))
        for type, name, table, text in rows
    }


CUT_AT = 16 << 20  # Size of the WAL in bytes above which it is cut. An ordinary WAL stays at about 4 MB.
PATIENCE = 0.1  # seconds that the writer waits for readers
AGAIN = 1.0  # seconds until the next attempt after a reader (a backup) held a snapshot for longer than that


class Wal:
    """The WAL of a database, as its writer sees it. An extra that reads the log sets `keeps`."""

    keeps: Callable[[sqlite3.Connection, int], bool] | None = None
    """Gets the log's size after each commit, and returns whether it has decided about the log. Raises sqlite3.Error."""

    def __init__(self, database: Path, clock: Callable[[], float]) -> None:
        self.path = database.with_name(database.name + "-wal")
        self._clock = clock
        self._tried_at = 0.0

    def after_commit(self, connection: sqlite3.Connection) -> None:
        """Cut the WAL if it is too large. Raises sqlite3.Error; the commit is not affected."""
        try:
            size = self.path.stat().st_size
        except FileNotFoundError:
            return
        if self.keeps is not None and self.keeps(connection, size):
            return
        if size <= CUT_AT or abs(self._clock() - self._tried_at) < AGAIN:
            return
        # If a reader holds a snapshot for long, waiting at each commit would be worse than a larger WAL.
        self._tried_at = 0.0 if emptied(connection) else self._clock()


def emptied(connection: sqlite3.Connection) -> bool:
    """Copy the whole WAL into the database and cut it to nothing; return whether readers allowed it."""
    (patience,) = connection.execute("PRAGMA busy_timeout").fetchone()
    connection.execute(f"PRAGMA busy_timeout={int(PATIENCE * 1000)}").fetchone()
    try:
        (busy, _, _) = connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
    finally:
        connection.execute(f"PRAGMA busy_timeout={patience}").fetchone()
    return not busy


class WriterThread(WritingThread):
    """See WritingThread. Also writes the newest position to the head mark from time to time."""

    def __init__(
        self, mark: HeadMark, wal: Wal, clock: Callable[[], float], warn: Callable[[str], None], vault: Vault
    ) -> None:
        super().__init__(warn)
        self._mark, self._wal, self._clock, self._vault = mark, wal, clock, vault
        self._head = START
        self._marked_at = 0.0

    def start(self, connection: sqlite3.Connection, head: Seq) -> None:
        """Start the thread, which owns the connection from now on. `head` is the newest position in the log."""
        self._connection, self._head = connection, head
        self.begin("sqlite-writer")

    # --- on the thread -----------------------------------------------------------------------------------------------

    def _settle(self) -> None:
        # The commits hold; the next one will report a failing disk.
        self._guarded(lambda: self._wal.after_commit(self._connection))
        self._guarded(self._write_mark_if_due)

    def _finish(self) -> None:
        for last in (self._write_mark, self._mark.close, self._connection.close):
            with suppress(Exception):  # all commits hold; one that fails must not keep the others from closing
                last()

    def _expected(self, error: Exception) -> bool:
        return isinstance(error, sqlite3.Error)

    def _write_mark_if_due(self) -> None:
        if abs(self._clock() - self._marked_at) >= 1:
            self._write_mark()

    def _wait(self) -> Ticket[Any] | None:
        if self._head > self._mark.written:
            try:
                return self._queue.get(timeout=1.0)
            except queue.Empty:
                self._write_mark()
        return self._queue.get()

    def _commit(self, tickets: Sequence[Ticket[Any]]) -> None:
        if not tickets:
            return
        try:
            head = self._attempt(tickets)
        except Exception as error:
            if self._connection.in_transaction:  # SQLite rolls back by itself after a full disk
                with suppress(sqlite3.Error):
                    self._connection.execute("ROLLBACK")
            # After an I/O error it is unknown what reached the disk, so no job is retried.
            if len(tickets) > 1 and not isinstance(in_our_words(error), Unavailable):
                for ticket in tickets:
                    ticket.error = None
                    self._commit([ticket])
                return
            for ticket in tickets:
                ticket.error = in_our_words(error)  # one exception per ticket, since each gets its own traceback
                if ticket.error is not error:
                    ticket.error.__cause__ = error
        else:
            self._head = max(self._head, head)

    def _attempt(self, tickets: Sequence[Ticket[Any]]) -> Seq:
        """Commit jobs; return the newest position, 0 for none. Raises the error that spoils the transaction."""
        connection = self._connection
        connection.execute("BEGIN IMMEDIATE")
        transaction = Transaction(connection, self._vault)
        for ticket in tickets:
            before = connection.total_changes
            try:
                ticket.result = ticket.job(transaction)
            except sqlite3.Error:
                raise
            except Exception as error:
                if connection.total_changes != before:
                    raise
                ticket.error = error
        known = False
        try:
            connection.execute("COMMIT")
            known = True
        finally:
            if transaction.afterwards:
                self._call_soon(transaction.ended, known)
        return transaction.newest

    def _write_mark(self) -> None:
        if self._head <= self._mark.written:
            return
        self._marked_at = self._clock()
        try:
            self._mark.write(self._head)
        except OSError as error:
            self._call_soon(self._warn, f"the head mark could not be written: {error}")
