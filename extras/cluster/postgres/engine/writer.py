"""The writing threads. The appender holds the log's lock from before it reads the head until after its commit, so
positions rise in the order of commits, across all nodes. The other thread writes everything else.

If a job fails after it has written, or the transaction fails, it is rolled back and each of its jobs runs again in its
own transaction. A COMMIT is never cancelled: PostgreSQL would stop waiting for a standby and report success. Past its
deadline the connection is cut instead (`PostgresStorage.follow`), and the outcome is unknown.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from operator import itemgetter
from typing import Any, NamedTuple

import psycopg
from psycopg import errors

from extras.cluster.members.ownership import shard_of
from extras.cluster.postgres.engine.connection import PostgresConnection, ThreadConnection, in_our_words
from extras.cluster.postgres.engine.steps import APPENDS, FENCE, lock_of, shared_lock_of
from storage.append import Lease
from storage.errors import Fenced, Unavailable
from storage.records.identity import START
from storage.records.source import Source
from storage.secrets.vault import Vault
from storage.sql.transaction import Row, Transaction
from storage.sql.writing import Ticket, WritingThread

AGAIN = 3
"""Most attempts of a job that PostgreSQL rolled back because of a conflict."""
_CONFLICTS = errors.DeadlockDetected, errors.SerializationFailure, errors.ForeignKeyViolation
"""The last one: another node has just deleted a row that a new one refers to."""
CHANNEL = "sanderling_log"
"""Notifies other nodes of every commit of events, without details."""


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
            for callback in transaction.afterwards:
                self._call_soon(callback, known)

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
