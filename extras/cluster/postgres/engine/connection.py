"""Connections: connecting and reconnecting, the stores' statements in PostgreSQL's dialect, its errors as ours.

PostgreSQL keeps the space of deleted rows for itself and gives none back. So the size of the data is that of the
present rows, not of the files: the total must fall when events are deleted, and not only after autovacuum has run.
"""

from __future__ import annotations

import re
import socket
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import lru_cache
from typing import Any

import psycopg
from psycopg import errors

from storage.errors import Corrupt, DiskFull, StorageError, Unavailable
from storage.retention import FreeSpace
from storage.secrets.sealing import Connection
from storage.sql.transaction import Query, Space

KEEPALIVE = {
    "connect_timeout": 5,
    "keepalives_idle": 5,
    "keepalives_interval": 2,
    "keepalives_count": 3,
    "tcp_user_timeout": 10_000,
}
"""A broken connection is noticed within some ten seconds."""
OVERRULED = {"hostaddr": "", "options": "", "client_encoding": "UTF8"}
"""Otherwise libpq would use PGHOSTADDR, PGOPTIONS and PGCLIENTENCODING: another server, schema or encoding."""
BOUNDS = """SET LOCAL idle_in_transaction_session_timeout='2s';
    SET LOCAL lock_timeout='5s'; SET LOCAL statement_timeout='10s';"""
CHECK = "SET LOCAL client_connection_check_interval='1s';"
_MAY_CHECK = "SELECT set_config('client_connection_check_interval', '1s', true)"
"""Limits of a writing transaction, which holds locks while it waits or pauses between two statements."""
_LINEAGE = """SELECT (SELECT system_identifier FROM pg_control_system()),
    left(pg_walfile_name(pg_current_wal_lsn()), 8)"""
SHORTEST, LONGEST = 0.1, 1.0
"""Seconds between two attempts to connect: they double."""

_WORDS = (
    (" INDEXED BY log_source", ""),
    ("json_extract(CAST(body AS TEXT), '$.result')", "(convert_from(body, 'UTF8')::json ->> 'result')"),
    ("json_extract(CAST(body AS TEXT), '$.event_id')", "(convert_from(body, 'UTF8')::json ->> 'event_id')"),
)
"""SQLite's dialect and PostgreSQL's."""
_UNKNOWN_COMMIT = "01000"
"""The warning of a COMMIT that was cancelled while it waited for a standby, and still reports success."""


@lru_cache(1_000)
def in_its_words(statement: str) -> bytes:
    """Translate a statement of the stores for psycopg.

    >>> in_its_words("SELECT seq FROM log INDEXED BY log_source WHERE source=?")
    b'SELECT seq FROM log WHERE source=%s'
    """
    for ours, its in _WORDS:
        statement = statement.replace(ours, its)
    return statement.replace("%", "%%").replace("?", "%s").encode()


def _clean(parameters: Sequence[Any]) -> Sequence[Any]:
    """Replace NUL, which PostgreSQL texts cannot contain, with U+FFFD."""
    if any(type(value) is str and "\0" in value for value in parameters):
        return [value.replace("\0", "\ufffd") if type(value) is str else value for value in parameters]
    return parameters


_WRITES = re.compile(r"\s*(?:INSERT|UPDATE|DELETE)\b(?!.*\bRETURNING\b)", re.S)
LARGE = 8 << 10  # bytes of a value that is sent at once: as text it takes twice as much


class Later:
    """A write that is put off until the connection next waits for the server. Asking for `rowcount` sends it."""

    def __init__(self, flush: Callable[[], None]) -> None:
        self._flush, self.rows = flush, 0

    @property
    def rowcount(self) -> int:
        self._flush()
        return self.rows


class PostgresConnection:
    """See `storage.secrets.sealing.Connection`. `changes` counts the rows changed through it, or the writes. Used by
    one thread at a time; only `cut` may be called from another. In a writing transaction, writes go along with the next
    statement that has a result, or with the commit: a round trip costs as much as a statement.
    """

    def __init__(self, raw: psycopg.Connection[Any]) -> None:
        self._raw = raw
        self.changes = 0
        self._writing, self._later = False, list[tuple[str, Later]]()
        self._warned = False
        self._checks: bool | None = None
        self._lock = threading.Lock()
        raw.add_notice_handler(self._notice)

    def __repr__(self) -> str:
        return f"PostgresConnection({'closed' if self._raw.closed else self._raw.info.backend_pid})"

    @property
    def usable(self) -> bool:
        return not self._raw.closed and self._raw.info.transaction_status == psycopg.pq.TransactionStatus.IDLE

    @property
    def pid(self) -> int:
        return self._raw.info.backend_pid

    @property
    def raw(self) -> psycopg.Connection[Any]:
        return self._raw

    def execute(self, statement: str, parameters: Sequence[Any] = (), /) -> psycopg.Cursor[Any]:
        if self._writing and _WRITES.match(statement):
            return self.executemany(statement, [parameters])
        if self._later:
            return self._send(self._bound(statement, parameters))
        cursor = self._raw.execute(in_its_words(statement), _clean(parameters))
        if not (cursor.statusmessage or "").startswith("SELECT"):
            self.changes += max(0, cursor.rowcount)
        return cursor

    def later(self, statement: str, rows: Iterable[Sequence[Any]]) -> Later:
        """Put off a statement of the stores for each row. Only in a writing transaction."""
        later = Later(self.flush)
        self._later += [(self._bound(statement, row), later) for row in rows]
        return later

    def _bound(self, statement: str, parameters: Sequence[Any]) -> str:
        return psycopg.ClientCursor(self._raw).mogrify(in_its_words(statement), _clean(parameters))

    def _send(self, last: str = "") -> psycopg.Cursor[Any]:
        """Send what was put off, then a last statement; return the cursor at the result of that."""
        waiting, self._later = self._later, []
        cursor = self._raw.execute("; ".join([*(text for text, _ in waiting), last]).encode())
        for _, later in waiting:
            later.rows += max(0, cursor.rowcount)
            cursor.nextset()
        return cursor

    def executemany(self, statement: str, rows: Iterable[Sequence[Any]], /) -> psycopg.Cursor[Any]:
        """Run a statement of the stores once per row, in one go."""
        cursor, clean = self._raw.cursor(), [_clean(row) for row in rows]
        values = (value for row in clean for value in row)
        if self._writing and all(len(each) < LARGE for each in values if isinstance(each, bytes | str)):
            self.changes += len(clean)
            return self.later(statement, clean)  # type: ignore[return-value]  # nobody fetches from a write
        self.flush()
        if len(clean) == 1:  # without the pipeline that many take
            cursor.execute(in_its_words(statement), clean[0])
        else:
            cursor.executemany(in_its_words(statement), clean)
        self.changes += max(0, cursor.rowcount)
        return cursor

    def put(self, statement: bytes, rows: Sequence[Sequence[Any]]) -> None:
        """Run a statement of the engine that takes one array per column of the rows."""
        self.flush()
        cursor = self._raw.execute(statement, [list(column) for column in zip(*rows, strict=True)])
        self.changes += max(0, cursor.rowcount)

    def flush(self) -> None:
        if self._later:
            self._send()

    def ask(self, queries: Sequence[Query], seconds: float) -> list[list[Any]]:
        """Return the rows of queries of the stores, in one round trip. The server gives each up after `seconds`."""
        cursor = psycopg.ClientCursor(self._raw)
        bound = [cursor.mogrify(in_its_words(each.statement), _clean(each.parameters)) for each in queries]
        cursor.execute(f"SET LOCAL statement_timeout={round(1000 * seconds)}; {'; '.join(bound)}".encode())
        return [cursor.fetchall() for _ in bound if cursor.nextset()]

    def run(self, statements: str) -> None:
        self._raw.execute(statements.encode())

    def begin(self, then: str = "") -> psycopg.Cursor[Any]:
        """Begin a transaction with the server's limits; return the cursor at the first result of `then`."""
        if self._checks is None:
            self._checks = self._may_check()
        self._writing, self._later = True, []
        return self._raw.execute(f"BEGIN; {BOUNDS} {CHECK if self._checks else ''} {then}".encode())

    def roll_back(self) -> None:
        """Roll back; errors are ignored, as the transaction ends with its connection."""
        self._writing, self._later = False, []
        with suppress(psycopg.Error):
            self.run("ROLLBACK")

    def _may_check(self) -> bool:
        """Return whether the server can notice during its work that we are gone; some systems cannot."""
        try:
            self.run(_MAY_CHECK)
        except psycopg.OperationalError:
            raise
        except psycopg.DatabaseError:
            return False
        return True

    def commit(self, before: str = "") -> None:
        """Commit, after some statements in the same round trip. Raises Unavailable if the outcome is unknown."""
        self._warned = False
        self._send(before + "COMMIT")
        self._writing = False
        if self._warned:
            raise Unavailable("PostgreSQL was set to commit without its standby")

    def close(self) -> None:
        with self._lock, suppress(psycopg.Error, OSError):
            self._raw.close()

    def cut(self) -> None:
        """Break the connection from another thread; the outcome of its running statement is then unknown."""
        with self._lock, suppress(psycopg.Error, OSError):
            line = socket.socket(fileno=socket.dup(self._raw.fileno()))
            with line:
                line.shutdown(socket.SHUT_RDWR)

    def _notice(self, told: psycopg.errors.Diagnostic) -> None:
        if told.sqlstate == _UNKNOWN_COMMIT and told.severity_nonlocalized == "WARNING":
            self._warned = True


class Lineage:
    """The server's identity: one system, on a timeline that only rises. All connections of an engine share one. After a
    failover whose old primary was not stopped, an address may lead to either server. Writes to the old one are lost, so
    it is refused.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._known: tuple[int, int] | None = None

    def __repr__(self) -> str:
        return f"Lineage({self._known})"

    def admit(self, connection: PostgresConnection) -> None:
        """Check that a new connection's server is the known one or its successor. Raises Unavailable."""
        with translated():
            system, timeline = connection.execute(_LINEAGE).fetchone() or (0, "0")
        found = int(system), int(timeline, 16)
        with self._lock:
            known = self._known or found
            if found[0] != known[0]:
                raise Unavailable(f"PostgreSQL: this is another server (system {found[0]}) than before ({known[0]})")
            if found[1] < known[1]:
                raise Unavailable(
                    f"PostgreSQL: this server was left behind by a failover (its timeline is {found[1]}, and "
                    f"{known[1]} has been seen): stop it, or it loses new writes"
                )
            self._known = found


class ThreadConnection:
    """One thread's connection, made on demand and made again after it broke. `share` is from 0 to 1 and differs between
    lines, so that not all lines of all nodes reconnect at the same moment.
    """

    def __init__(self, url: str, clock: Callable[[], float], share: float, lineage: Lineage) -> None:
        self._url, self._clock, self._share, self._lineage = url, clock, share, lineage
        self._connection: PostgresConnection | None = None
        self._wait = 0.0
        self._failed_at = 0.0
        self._why = ""

    def __repr__(self) -> str:
        return f"ThreadConnection({self._connection})"

    @property
    def connection(self) -> PostgresConnection | None:
        return self._connection

    def ready(self) -> PostgresConnection:
        """Return an idle connection. Raises Unavailable, at once while it waits for its next attempt."""
        if self._connection is not None:
            if self._connection.usable:
                return self._connection
            self.drop()
        if self._wait and abs(self._clock() - self._failed_at) < self._wait:
            raise Unavailable(self._why)
        try:
            connection = connect(self._url)
            try:
                self._lineage.admit(connection)
            except BaseException:
                connection.close()
                raise
            self._connection = connection
        except Unavailable as error:
            self._wait = min(LONGEST, 2 * self._wait or SHORTEST) * (0.8 + 0.4 * self._share)
            self._failed_at, self._why = self._clock(), str(error)
            raise
        self._wait = 0.0
        return self._connection

    def drop(self) -> None:
        connection, self._connection = self._connection, None
        if connection is not None:
            connection.close()


def connect(url: str) -> PostgresConnection:
    """Open a connection. Raises Unavailable."""
    with translated():
        # No prepared statements: a pooler in between may give each transaction another session.
        raw = psycopg.connect(url, autocommit=True, prepare_threshold=None, **OVERRULED, **KEEPALIVE)  # type: ignore[arg-type]
    return PostgresConnection(raw)


@contextmanager
def connected(url: str) -> Iterator[PostgresConnection]:
    """Open a connection for a while; its errors are ours. Raises Unavailable."""
    connection = connect(url)
    try:
        with translated():
            yield connection
    finally:
        connection.close()


@contextmanager
def translated() -> Iterator[None]:
    try:
        yield
    except psycopg.Error as error:
        raise in_our_words(error) from error


_AWAY = ("08", "53", "57", "25", "40", "55")
"""Classes of SQLSTATE: no connection, no resources, ended from outside, transaction state, rolled back, locked."""


def in_our_words(error: Exception) -> Exception:
    """Translate PostgreSQL's failures; return our own. Psycopg has several classes for the end of a session."""
    if not isinstance(error, psycopg.Error) or isinstance(error, StorageError):
        return error
    words = str(error).strip().replace("\n", " ")
    if isinstance(error, errors.DiskFull):
        return DiskFull("the disk of PostgreSQL is full")
    if isinstance(error, errors.DataCorrupted | errors.IndexCorrupted):
        return Corrupt(f"the database is damaged ({words}): stop the service and put a backup in its place")
    state = error.sqlstate
    if isinstance(error, psycopg.InterfaceError) or (state is None and isinstance(error, psycopg.OperationalError)):
        return Unavailable(f"PostgreSQL does not answer: {words}")
    if state is not None and state[:2] in _AWAY:
        return Unavailable(f"PostgreSQL: {words}")
    return error


SAMPLE = 1_000
"""Newest events whose sizes are measured."""
ROW = 100
"""Bytes of a log row without its body, including its entries in two indexes."""
_EVENTS = "SELECT count(*) FROM log"
_MEAN = "SELECT avg(pg_column_size(body)) FROM (SELECT body FROM log ORDER BY seq DESC LIMIT ?) newest"
_OTHERS = """SELECT coalesce(sum(pg_total_relation_size(oid)), 0) FROM pg_class
    WHERE relkind='r' AND relnamespace=to_regnamespace(current_schema()) AND relname<>'log'"""


def room_of(connection: Connection) -> FreeSpace:
    """Return approximately how many bytes are taken; none are free."""
    (events,) = connection.execute(_EVENTS).fetchone()
    (mean,) = connection.execute(_MEAN, (SAMPLE,)).fetchone()
    (others,) = connection.execute(_OTHERS).fetchone()
    return FreeSpace(int(others) + events * (ROW + round(mean or 0)), 0)


def give_back(_connection: Connection, _limit: int) -> int:
    return 0


SPACE = Space(room_of, give_back)
