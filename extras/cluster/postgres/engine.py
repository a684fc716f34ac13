"""The database: connections, the writing threads, readers, the schema's steps, the watch.

PostgreSQL keeps the space of deleted rows for itself and gives none back. So the size of the data is that of the
present rows, not of the files: the total must fall when events are deleted, and not only after autovacuum has run.

The members of a database in PostgreSQL: a row for each, a view, and a lock on the view for changing it. A beat is a
single statement and locks its own row only. A change of the view locks the view's row first and then the members'
rows, so two changes cannot deadlock, and the second finds nothing left to do.

The read-only connections: two for pages, one for look-ups, each used by one thread at a time. A read is one read-only
transaction, or a single statement. If its connection turns out to be dead, it runs again, once, as it has changed
nothing. A read without an answer in time, or whose task was cancelled, is cut off: a lock, or a server that hangs,
must not block the connection for later reads. Look-ups of single rows are gathered: while one round trip runs, new
look-ups wait for the next one. No look-up joins a running round trip, which may have begun before a key was revoked;
so the very next request refuses a revoked key. Equal look-ups of one round trip are sent to the server once.

The tables, as the numbered SQL that made them. A released step never changes; new steps are added. A step and its
count in `schema` are one transaction, under its own lock: two concurrent starts wait for each other. `oldest` is the
oldest program that may work on the tables: a program older than `version`, but not older than `oldest`, runs.

The thread that listens for other nodes' commits. A notice is a hint: the log is also read every second.

The writing threads. The appender holds the log's lock from before it reads the head until after its commit, so
positions rise in the order of commits, across all nodes. The other thread writes everything else. If a job fails after
it has written, or the transaction fails, it is rolled back and each of its jobs runs again in its own transaction. A
COMMIT is never cancelled: PostgreSQL would stop waiting for a standby and report success. Past its deadline the
connection is cut instead (`PostgresStorage.follow`), and the outcome is unknown.
"""

from __future__ import annotations

import re
import socket
import threading
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import lru_cache
from importlib import resources
from operator import itemgetter
from typing import Any, NamedTuple, TypeVar

import msgspec
import psycopg
import trio
from psycopg import errors
from psycopg.errors import ProtocolViolation

from extras.cluster.members.membership import shard_of
from extras.cluster.members.view_change import BREAK, LEASE, due
from extras.cluster.postgres.server import SETTINGS, ServerFacts, ServerVerdict, SharedClock, ahead_of, judge
from storage.append import Lease
from storage.errors import Corrupt, DiskFull, Fenced, NewerSchema, NoKey, StorageError, Unavailable, Unopened
from storage.ownership import Members
from storage.records.identity import START, Seq
from storage.records.member import Failover, Member, Says, View
from storage.records.source import Source
from storage.retention import FreeSpace
from storage.secrets import Connection, Vault, examine_boxes, mark, opens_mark, read_mark
from storage.sql.writing import Pool, Query, Row, Space, Ticket, Transaction, WritingThread

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
SHORTEST, LONGEST = 0.1, 1.0  # seconds between two attempts to connect: they double

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
    """See `storage.secrets.Connection`. `changes` counts the rows changed through it, or the writes. Used by
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


SAMPLE = 1_000  # newest events whose sizes are measured
ROW = 100  # bytes of a log row without its body, including its entries in two indexes
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

APPENDS, FENCE, STEPS = 1, 2, 3  # the program's advisory locks: the second key of each; the first is LOCKS
LOCKS = 0x53414E44
LOCK_TIMEOUT = 2.0  # seconds that a step waits for a table: all its readers wait behind the step
_TRIES = 30
_THERE = "SELECT to_regclass('schema') IS NOT NULL"
OTHER = "the given master key does not open the secrets of this database"


def lock_of(what: int) -> str:
    return f"SELECT pg_advisory_xact_lock({LOCKS}, {what});"


def shared_lock_of(what: int) -> str:
    return f"SELECT pg_advisory_xact_lock_shared({LOCKS}, {what});"


BEGIN = f"BEGIN; SET LOCAL idle_in_transaction_session_timeout='60s'; {lock_of(STEPS)}"
"""Begins a step, or a start's own transaction. It may pause longer than the operator allows all sessions to."""


def all_steps() -> Sequence[str]:
    folder = resources.files("extras.cluster.postgres") / "steps"
    names = sorted(each.name for each in folder.iterdir() if each.name.endswith(".sql"))
    return [(folder / name).read_text("utf-8") for name in names]


def upgrade(connection: PostgresConnection, steps: Sequence[str], lock_timeout: float = LOCK_TIMEOUT) -> None:
    """A step without its lock rolls back and retries. Raises NewerSchema, Corrupt (others' tables), Unavailable."""
    tries = 0
    while (version := _version(connection, len(steps))) < len(steps):
        connection.run(f"{BEGIN} SET LOCAL lock_timeout={round(1000 * lock_timeout)};")
        try:
            if _version(connection, len(steps)) == version:
                connection.run(steps[version])
        except psycopg.errors.LockNotAvailable as error:
            connection.run(f"ROLLBACK; SELECT pg_sleep({lock_timeout / 2})")
            tries += 1
            if tries == _TRIES:
                waits = f"step {version + 1} of the schema waits for a table that another session holds"
                raise Unavailable(waits) from error
            continue
        except psycopg.errors.DuplicateTable as error:
            connection.run("ROLLBACK")
            raise Corrupt(f"the schema holds tables that are not Sanderling's: {error.diag.message_primary}") from error
        except BaseException:
            connection.run("ROLLBACK")
            raise
        connection.commit()


def begin_life(connection: PostgresConnection, vault: Vault) -> None:
    """Upgrade the tables, and begin a transaction with the mark of this master key. Raises NoKey, as `upgrade` does."""
    upgrade(connection, all_steps())
    connection.run(BEGIN)
    there = read_mark(connection)
    if there is None:
        mark(connection, vault)
    elif not opens_mark(vault, there):
        raise NoKey(OTHER)


def check_version(connection: PostgresConnection, known: int) -> None:
    version = _version(connection, known)
    if not version:
        raise Unavailable("this database has no Sanderling schema yet: the first start creates it")
    if version < known:
        raise Unavailable("the database is older than this program: start the service on it once to upgrade it")


def _version(connection: PostgresConnection, known: int) -> int:
    if not connection.execute(_THERE).fetchone()[0]:  # type: ignore[index]
        return 0
    row = connection.execute("SELECT version, oldest FROM schema").fetchone()
    if row is None:
        raise Corrupt("the database's own table `schema` is empty")
    version, oldest = row
    if oldest > known:
        raise NewerSchema(f"the data need a program of schema {oldest}, this one knows {known}: use a newer Sanderling")
    return int(version)


_SERVER = """SELECT current_setting('server_version_num')::int,
    (SELECT pg_encoding_to_char(encoding) FROM pg_database WHERE datname=current_database()),
    NOT pg_is_in_recovery() AND current_setting('default_transaction_read_only')='off',
    coalesce(has_schema_privilege(current_schema(), 'CREATE'), false), pg_backend_pid(),
    pg_has_role(current_user, 'pg_monitor', 'USAGE')"""
_CLOCK = "SELECT extract(epoch FROM clock_timestamp())::float8"
_STANDBYS = "SELECT application_name FROM pg_stat_replication WHERE sync_state='async' ORDER BY 1"
_HOLDER = """SELECT extract(epoch FROM clock_timestamp() - coalesce(a.xact_start, clock_timestamp()))::float8, l.pid
    FROM pg_locks l LEFT JOIN pg_stat_activity a USING (pid)
    WHERE l.locktype='advisory' AND l.granted AND l.classid=? AND l.objid=? LIMIT 1"""


def facts_of(
    connection: PostgresConnection, clock: Callable[[], float], named: Collection[str], *, listens: bool = False
) -> ServerFacts:
    """clock: our wall clock, in seconds. named: settings to check. Raises psycopg.Error; Unavailable behind poolers."""
    version, encoding, writable, may_create, pid, sees_all = _row(connection, _SERVER)
    asked = clock()
    (server,) = _row(connection, _CLOCK)
    answered = clock()
    settings = {name: _row(connection, "SELECT current_setting(?)", name)[0] for name in named}
    held = connection.execute(_HOLDER, (LOCKS, APPENDS)).fetchone()
    pooled = pid != connection.pid  # a pooler reports its own process id
    try:
        for statement in ("BEGIN", "COMMIT") if pooled else ():  # in one message, a pooler takes them for one statement
            connection.run(statement)
    except ProtocolViolation as error:
        raise Unavailable("the pooler takes no transactions. Set pool_mode = transaction in PgBouncer") from error
    return ServerFacts(
        version=version,
        encoding=encoding,
        settings=dict.fromkeys(SETTINGS, "on") | settings,
        ahead=ahead_of(asked, server, answered),
        writable=writable,
        may_create=may_create,
        asynchronous=tuple(name for (name,) in connection.execute(_STANDBYS).fetchall()) if sees_all else None,
        log_lock=None if held is None else (held[0], held[1]),
        pooled=pooled,
        listens=listens,
    )


def _row(connection: PostgresConnection, query: str, *given: str) -> tuple[Any, ...]:
    row: tuple[Any, ...] | None = connection.execute(query, given).fetchone()
    assert row is not None
    return row


_INSIDE = "SELECT id FROM member WHERE inside ORDER BY id"


class Examination(NamedTuple):
    """version: the server's. schema: of our tables, or None. inside: members. opened: why the key fails, "" or None."""

    version: str
    verdicts: Sequence[ServerVerdict]
    schema: int | None
    inside: Sequence[str]
    opened: str | None


def examine(url: str, clock: Callable[[], float], vault: Vault | None, *, listens: bool) -> Examination:
    with connected(url) as connection:
        facts = facts_of(connection, clock, SETTINGS, listens=listens)
        version = f"PostgreSQL {facts.version // 10_000}.{facts.version % 10_000}"
        verdicts = list(judge(facts))
        if not connection.execute(_THERE).fetchone()[0]:  # type: ignore[index]
            return Examination(version, verdicts, None, (), None)
        (schema,) = connection.execute("SELECT version FROM schema").fetchone() or (0,)
        inside = [id for (id,) in connection.execute(_INSIDE).fetchall()]
        opened = None
        if vault is not None:
            mark = read_mark(connection)
            opened = "" if mark is None or opens_mark(vault, mark) else "it is another than the database's"
            try:
                examine_boxes(connection, vault)
            except Unopened as error:
                opened = opened or str(error)
        return Examination(version, verdicts, int(schema), inside, opened)


_BEGIN = "BEGIN READ ONLY; SET LOCAL statement_timeout='60s'; SET LOCAL idle_in_transaction_session_timeout='5s'"

T = TypeVar("T")


class LinePool(Pool[ThreadConnection]):
    """Connections that break and come back. within: most seconds of a call with its wait."""

    def __init__(self, lines: Sequence[ThreadConnection], within: float) -> None:
        super().__init__(lines, ThreadConnection.drop)
        self._within = within

    async def visit(self, look: Callable[[PostgresConnection], T]) -> T:
        """Run a function in a thread, perhaps twice. If cancelled, return at once, and cut the connection."""
        if self._closed:
            raise Unavailable("the storage is closed")
        taken: list[ThreadConnection] = []
        with trio.move_on_after(self._within):
            try:
                return await trio.to_thread.run_sync(
                    self._look, look, taken, limiter=self._limiter, abandon_on_cancel=True
                )
            except trio.Cancelled:
                connections = [line.connection for line in taken]
                taken.clear()  # so that the read does not run again
                for connection in connections:
                    if connection is not None:
                        connection.cut()
                raise
        raise Unavailable(f"PostgreSQL has not answered for {self._within:.0f} s")

    async def ask(self, queries: Sequence[Query]) -> list[list[Any]]:
        """Return the rows of queries, in one round trip. The server gives up after the caller: no session piles up."""
        seconds = self._within + 1
        return await self.visit(lambda connection: connection.ask(queries, seconds))

    def _look(self, look: Callable[[PostgresConnection], T], taken: list[ThreadConnection]) -> T:
        line = self._idle.get_nowait()
        taken.append(line)
        try:
            with translated():
                there = line.connection is not None
                try:
                    return look(line.ready())
                except psycopg.Error as error:
                    line.drop()
                    if not taken or not there or not isinstance(in_our_words(error), Unavailable):
                        raise
                return look(line.ready())
        finally:
            taken.clear()
            self._idle.put(line)


class ReaderPool(LinePool):
    """See `storage.sql.writing.Readers` and `Lookups`."""

    async def run(self, look: Callable[[Connection], T]) -> T:
        """See Readers. If cancelled, the read is cut off."""
        if isinstance(look, Query):
            return (await self.ask([look]))[0]  # type: ignore[return-value]
        return await self.visit(_whole(look))


def _whole(look: Callable[[Connection], T]) -> Callable[[PostgresConnection], T]:
    def whole(connection: PostgresConnection) -> T:
        connection.run(_BEGIN)
        try:
            found = look(connection)
        except psycopg.Error:
            raise
        except BaseException:
            connection.run("ROLLBACK")
            raise
        connection.run("COMMIT")
        return found

    return whole


class _Lookup:
    """One look-up and its result."""

    __slots__ = ("answered", "error", "row")

    def __init__(self) -> None:
        self.answered = False
        self.row: Any = None
        self.error: StorageError | None = None

    def take(self, row: Any, error: StorageError | None = None) -> None:
        self.answered, self.row, self.error = True, row, error


class GatheredLookups:
    """See `storage.sql.writing.Lookups`."""

    def __init__(self, pool: LinePool) -> None:
        self._pool = pool
        self._turn = trio.Lock()
        self._next: dict[Query, _Lookup] = {}

    def __repr__(self) -> str:
        return f"GatheredLookups(waiting={len(self._next)})"

    async def one(self, query: str, given: Sequence[Any] = ()) -> Any:
        key = Query(query, tuple(given))
        asked = self._next.setdefault(key, _Lookup())
        async with self._turn:
            if not asked.answered:
                self._next[key] = asked  # the task that had taken it was cancelled
                await self._visit()
        if asked.error is not None:
            raise asked.error
        return asked.row

    async def _visit(self) -> None:
        await trio.lowlevel.checkpoint()  # for those that woke at the same moment
        batch, self._next = self._next, {}
        try:
            rows = await self._pool.ask(list(batch))
        except StorageError as error:
            for asked in batch.values():
                asked.take(None, error)
        else:
            for asked, found in zip(batch.values(), rows, strict=True):
                asked.take(found[0] if found else None)

    async def aclose(self) -> None:
        await self._pool.aclose()


WITHIN = LEASE - 1  # most seconds of a call: a later beat would be useless
# A row that has left gets no more beats, even one that was under way. The log's end is as of this statement:
# nothing is appended on another timeline before the members inside have sent a beat on it.
_BEAT = """INSERT INTO member AS m (id, inside, since, until, shown, timeline, says)
    VALUES(?, FALSE, moment(), moment() + ?, ?, timeline(), ?) ON CONFLICT(id) DO UPDATE SET
    since=CASE WHEN m.until < moment() + ? THEN moment() ELSE m.since END, until=excluded.until,
    shown=greatest(m.shown, excluded.shown), timeline=excluded.timeline, says=excluded.says
    WHERE m.until > '-infinity' RETURNING m.timeline,
    (SELECT coalesce(greatest((SELECT max(seq) FROM log), (SELECT value FROM fact WHERE name='floor')), 0))"""
_LEAVE = "UPDATE member SET until='-infinity', since=moment() WHERE id=?"
_LOOK = """SELECT v.number, moment(), EXISTS(SELECT 1 FROM fact WHERE name='drained' AND value=1),
    m.id, m.inside, m.since, m.until, m.shown, m.timeline, m.says
    FROM (SELECT number FROM view LIMIT 1) v LEFT JOIN member m ON TRUE ORDER BY m.id"""
_HOLD_VIEW = "SELECT number FROM view FOR UPDATE"
_HOLD_MEMBERS = "SELECT id FROM member ORDER BY id FOR UPDATE"
_SET_INSIDE = "UPDATE member SET inside=? WHERE id=?"
_DROP = "DELETE FROM member WHERE id=?"
_DRAIN = "INSERT INTO fact VALUES('drained', ?) ON CONFLICT(name) DO UPDATE SET value=excluded.value"
_RAISE = "UPDATE view SET number=number+1"
_decode = msgspec.json.Decoder(Says).decode


class PostgresMembers(Members):
    """lease: seconds. forget: called after a failover, since readers may have seen more. clock: gets beats' times."""

    def __init__(
        self,
        pool: LinePool,
        me: str,
        shown: Callable[[], Seq],
        forget: Callable[[], None],
        lease: float = LEASE,
        *,
        clock: SharedClock | None = None,
    ) -> None:
        super().__init__(me)
        self._pool, self._shown, self._lease, self._clock = pool, shown, lease, clock
        self._left = False
        self._timeline = ""
        self._forget = forget

    def __repr__(self) -> str:
        return f"PostgresMembers({self.me}, left={self._left})"

    async def beat(self, says: Says) -> View:
        shown = self._shown()
        row = (self.me, self._lease, shown, msgspec.json.encode(says), self._lease - BREAK)

        def visit(connection: PostgresConnection) -> tuple[View, Sequence[Any] | None]:
            asked = 0.0 if self._clock is None else self._clock.own()
            *beats, rows = connection.ask([*([] if self._left else [Query(_BEAT, row)]), Query(_LOOK)], WITHIN)
            view, beaten = _view(rows), next((beat[0] for beat in beats if beat), None)
            if self._clock is not None:
                self._clock.hear(asked, view.at, self._clock.own())
            if self._left or due(view, self.me, self._lease) is None:
                return view, beaten
            return self._change(connection), beaten

        view, beaten = await self._pool.visit(visit)
        if beaten is not None:
            before, (self._timeline, ends) = self._timeline, beaten
            if before and before != self._timeline:
                self.failover = Failover(Seq(ends), shown)
                self._forget()
        return view

    async def leave(self) -> None:
        self._left = True

        def visit(connection: PostgresConnection) -> None:
            connection.execute(_LEAVE, (self.me,))
            self._change(connection)

        await self._pool.visit(visit)

    async def drain(self, *, on: bool) -> None:
        def visit(connection: PostgresConnection) -> None:
            connection.execute(_DRAIN, (int(on),))

        await self._pool.visit(visit)

    async def view(self) -> View:
        return _view((await self._pool.ask([Query(_LOOK)]))[0])

    def _change(self, connection: PostgresConnection) -> View:
        """Make a due change unless another member has made it; return the view after that."""
        connection.begin()
        try:
            connection.execute(_HOLD_VIEW)
            connection.execute(_HOLD_MEMBERS)
            # The clock is read with the rows locked: no beat can come until the end.
            view = _view(connection.execute(_LOOK).fetchall())
            change = due(view, self.me, self._lease)
            if change is not None:
                connection.executemany(_SET_INSIDE, [(True, id) for id in change.comes])
                connection.executemany(_SET_INSIDE, [(False, id) for id in change.goes])
                connection.executemany(_DROP, [(id,) for id in change.drops])
                connection.execute(_RAISE)
                view = _view(connection.execute(_LOOK).fetchall())
        except BaseException:
            connection.roll_back()
            raise
        connection.commit()
        return view


def _view(rows: Sequence[Any]) -> View:
    members = tuple(_member(row[3:]) for row in rows if row[3] is not None)
    return View(rows[0][0], rows[0][1], members, rows[0][2])


def _member(row: Sequence[Any]) -> Member:
    id, inside, since, until, shown, timeline, says = row
    return Member(id, inside, since, until, Seq(shown), timeline, _decode(says))


AGAIN = 3  # most attempts of a job that PostgreSQL rolled back because of a conflict
_CONFLICTS = errors.DeadlockDetected, errors.SerializationFailure, errors.ForeignKeyViolation
"""The last one: another node has just deleted a row that a new one refers to."""
CHANNEL = "sanderling_log"  # notifies other nodes of every commit of events, without details

_PUT_EVENTS = b"""INSERT INTO log(seq, source, kind, codec, body) SELECT seq, source, kind, 0, body
    FROM unnest(%b::int8[], %b::int8[], %b::int4[], %b::bytea[]) AS new(seq, source, kind, body)"""
_PUT_MARKS = b"""INSERT INTO story_mark(mark, seq) SELECT * FROM unnest(%b::int8[], %b::int8[])
    ON CONFLICT(mark) DO UPDATE SET seq=excluded.seq WHERE excluded.seq>story_mark.seq"""
# Who writes these holds the log's lock: their order need not match another transaction's.
_PUT_HOT = b"""UPDATE source_hot SET body=new.body, version=new.version
    FROM unnest(%b::bytea[], %b::int8[], %b::int8[]) AS new(body, version, key) WHERE source_hot.key=new.key"""
_OF_ALERTS = "SELECT id FROM destination WHERE alert=ANY(?)"
_LOCK = "SELECT 1 FROM {0} WHERE id=ANY(?) ORDER BY id"
_LOCKS = {table: _LOCK.format(table) for table in ("alert", "destination", "publication")} | {
    "fact": "SELECT 1 FROM fact WHERE name=ANY(?) ORDER BY name",
    "cursor": "SELECT 1 FROM cursor WHERE name=ANY(?) ORDER BY name",
    "source": """SELECT 1 FROM source WHERE key IN (SELECT key FROM source_key WHERE id=ANY(?)) ORDER BY key""",
}


class PostgresTransaction(Transaction):
    """fence: earlier starts may not write. newest: when the log's lock was taken. Rows read for a write are locked."""

    SHARED = True

    def __init__(self, connection: PostgresConnection, vault: Vault, fence: int, newest: int) -> None:
        super().__init__(connection, vault)
        self._postgres = connection
        self._fence, self._found = fence, newest

    def fence(self, lease: Lease) -> None:
        """Refuse a writer of an earlier start; see Transaction. Starts that share the data do not fence each other."""
        if lease.epoch < self._fence:
            raise Fenced(f"start {self._fence} owns the data now, not start {lease.epoch} ({lease.owner})")

    def lock(self, rows: Iterable[Row]) -> None:
        """Lock rows, all those of a transaction at once and in one order, which is that of every other node, too. NO
        KEY lets others insert rows that refer to these by a foreign key, as those of the outbox do. Where rows are
        deleted, those inserts wait from here on: else the deletes lock once more, in an order of their own.
        """
        ids: defaultdict[str, set[str]] = defaultdict(set)
        for kind, id in rows:
            ids[kind].add(id)
        drops = ids.pop("drops", None)
        how = "FOR UPDATE" if drops else "FOR NO KEY UPDATE"
        of_destinations = how if drops or "destination" in ids else "FOR KEY SHARE"
        ids["destination"] |= ids.pop("refers", set())
        for table in sorted(ids):
            strength = of_destinations if table == "destination" else how
            if ids[table]:
                self._postgres.later(f"{_LOCKS[table]} {strength}", [(sorted(ids[table]),)])
            if table == "alert" and drops:  # no other node adds one to an alert that is locked
                ids["destination"] |= {id for (id,) in self.execute(_OF_ALERTS, (sorted(drops),)).fetchall()}

    def place(self, source: Source) -> None:
        write = "UPDATE source SET shard=? WHERE key=(SELECT key FROM source_key WHERE id=?)"
        self.execute(write, (shard_of(source.watch_url), source.id))

    def put_events(self, rows: Sequence[tuple[int, int, int, bytes]]) -> None:
        if rows:
            self._postgres.put(_PUT_EVENTS, rows)

    def put_marks(self, rows: Sequence[tuple[int, int]]) -> None:
        if rows:
            self._postgres.put(_PUT_MARKS, rows)

    def put_hot(self, rows: Sequence[tuple[bytes, int, int]]) -> None:
        if rows:
            self._postgres.put(_PUT_HOT, sorted(rows, key=itemgetter(2)))

    def last(self, known: int) -> int:
        return max(known, self._found)


class Role(NamedTuple):
    """A thread's name, the statements that begin its transactions, and whether it appends."""

    name: str
    begin: str
    appends: bool

    def begun(self, connection: PostgresConnection) -> tuple[int, int]:
        """Begin a transaction; return the fence and the newest position, START if it does not append."""
        found = list(_results(connection.begin(self.begin)))
        if not self.appends:
            return found[-1][0], START
        (fence,), (newest, others) = found[-2:]
        if others:
            raise Unavailable(
                f"PostgreSQL has failed over, and {others} of the nodes that were at work have not said yet how far "
                "their readers were: nothing is written to the log until they have, or are seen to be gone"
            )
        return fence, newest


def _results(cursor: psycopg.Cursor[Any]) -> Iterator[Any]:
    more: bool | None = True
    while more:
        if cursor.description is not None:
            yield cursor.fetchone()
        more = cursor.nextset()


# Each lock and each read is a separate statement: a snapshot taken before the wait for a lock would show old rows.
_FENCE = "SELECT value FROM fact WHERE name='fence';"
# After a failover that lost commits, no position that a reader has seen may be assigned again: each member's beats
# report the newest position shown, and all members inside must have sent one on the present timeline.
_HEAD = """SELECT greatest((SELECT max(seq) FROM log), (SELECT value FROM fact WHERE name='floor'),
    (SELECT max(shown) FROM member)), (SELECT count(*) FROM member WHERE inside AND timeline<>timeline());"""
APPENDER = Role("postgres-append", f"{lock_of(APPENDS)} {shared_lock_of(FENCE)} {_FENCE} {_HEAD}", appends=True)
WRITER = Role("postgres-write", f"{shared_lock_of(FENCE)} {_FENCE}", appends=False)


class PostgresWriter(WritingThread):
    """A WritingThread on PostgreSQL."""

    lingers = 0.1

    def __init__(self, role: Role, line: ThreadConnection, warn: Callable[[str], None], vault: Vault) -> None:
        super().__init__(warn)
        self._role, self._line, self._vault = role, line, vault

    def start(self) -> None:
        self.begin(self._role.name)

    def cut(self) -> None:
        """Cut the connection; the outcome of its transaction is then unknown. On the loop."""
        connection = self._line.connection
        if connection is not None:
            connection.cut()

    @property
    def pid(self) -> int | None:
        """The server's process id for the thread's session."""
        connection = self._line.connection
        with suppress(psycopg.Error):
            return None if connection is None else connection.pid
        return None

    # --- on the thread -----------------------------------------------------------------------------------------------

    def _commit(self, tickets: Sequence[Ticket[Any]]) -> None:
        for again in range(AGAIN):
            if not tickets:
                return
            try:
                self._attempt(tickets)
            except Exception as error:
                self._roll_back()
                undone = isinstance(error, _CONFLICTS)
                told = in_our_words(error)
                for ticket in tickets:
                    ticket.error = None
                if len(tickets) > 1 and (undone or not isinstance(told, Unavailable)):
                    for ticket in tickets:
                        self._commit([ticket])
                    return
                if undone and again + 1 < AGAIN:
                    continue
                for ticket in tickets:
                    ticket.error = in_our_words(error)  # one exception per ticket, since each gets its own traceback
                    if ticket.error is not error:
                        ticket.error.__cause__ = error
            return

    def _attempt(self, tickets: Sequence[Ticket[Any]]) -> None:
        """Run jobs in one transaction and commit. Raises any error that makes the transaction unusable."""
        connection, found = self._begun()
        transaction = PostgresTransaction(connection, self._vault, *found)
        transaction.lock(row for ticket in tickets for row in ticket.holds)
        for ticket in tickets:
            before = connection.changes
            try:
                ticket.result = ticket.job(transaction)
            except psycopg.Error:
                raise
            except Exception as error:
                if connection.changes != before:
                    raise
                ticket.error = error
        known = False
        try:
            connection.commit(f"NOTIFY {CHANNEL}; " if transaction.newest else "")
            known = True
        finally:
            if transaction.afterwards:
                self._call_soon(transaction.ended, known)

    def _begun(self) -> tuple[PostgresConnection, tuple[int, int]]:
        """Begin, on a new connection if the old one was closed; return also the fence and the newest position."""
        connection = self._line.ready()
        try:
            return connection, self._role.begun(connection)
        except psycopg.Error as error:
            if not isinstance(in_our_words(error), Unavailable) or isinstance(error, errors.LockNotAvailable):
                raise
            self._line.drop()
            connection = self._line.ready()
            return connection, self._role.begun(connection)

    def _roll_back(self) -> None:
        connection = self._line.connection
        if connection is not None and not connection.usable:
            connection.roll_back()
            if not connection.usable:
                self._line.drop()

    def _finish(self) -> None:
        with suppress(Exception):  # all commits hold, and the thread ends
            self._line.drop()


EVERY = 1.0  # seconds between two attempts to listen, and between checks whether the thread should end
CLOSE_WITHIN = 5.0  # seconds that the thread gets at a close
APART, AT_REST = 0.02, 0.25
"""Least seconds between two reads while somebody waits for events, and while nobody does: reading after each of some
hundred commits would slow them down."""


class Watch:
    """See above. hear: called on the loop when other nodes may have committed. awaited: whether somebody waits for
    events here.
    """

    def __init__(
        self,
        line: ThreadConnection,
        writers: Sequence[PostgresWriter],
        hear: Callable[[], None],
        awaited: Callable[[], bool],
    ) -> None:
        self._line, self._writers, self._hear, self._awaited = line, writers, hear, awaited
        self._token = trio.lowlevel.current_trio_token()
        self._ends, self._stopped = threading.Event(), trio.Event()
        self._thread = threading.Thread(target=self._run, name="postgres-watch", daemon=True)

    def __repr__(self) -> str:
        return f"Watch({self._line})"

    def start(self) -> None:
        self._thread.start()

    async def aclose(self) -> None:
        """Stop the thread and wait for its end, within CLOSE_WITHIN even if cancelled."""
        self._ends.set()
        with trio.move_on_after(CLOSE_WITHIN, shield=True):
            while not self._stopped.is_set():
                if (connection := self._line.connection) is not None:
                    connection.cut()
                with trio.move_on_after(APART):  # the thread may still be connecting
                    await self._stopped.wait()

    def _run(self) -> None:
        listening = None
        while not self._ends.is_set():
            try:
                connection = self._line.ready()
                if connection is not listening:
                    connection.run(f"LISTEN {CHANNEL}")
                    listening = connection
                own = {writer.pid for writer in self._writers}
                heard = [each.pid for each in connection.raw.notifies(timeout=EVERY, stop_after=1)]
                if own.issuperset(heard):
                    continue
            except (Unavailable, psycopg.Error, OSError):
                self._line.drop()
                listening = None
                self._ends.wait(EVERY)
            with suppress(trio.RunFinishedError):
                self._token.run_sync_soon(self._hear)
            self._ends.wait(APART if self._awaited() else AT_REST)
        self._line.drop()
        with suppress(trio.RunFinishedError):
            self._token.run_sync_soon(self._stopped.set)
