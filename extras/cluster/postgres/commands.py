"""PostgreSQL for commands: the keys, one moment of the data, the import of an instance.

A snapshot is read through the stores' own interface: one connection in a read-only transaction. An import fills an
empty database; it begins, ends, or begins again, and no service runs in between.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from typing import Any, TypeVar

import trio

from extras.cluster.postgres import engine
from extras.cluster.postgres.engine import connect
from storage.append import Lease
from storage.errors import Locked, NoKey, Unavailable
from storage.records.access import SigningKey
from storage.records.identity import START
from storage.secrets import Connection, Vault, opens_mark, read_mark
from storage.sql.storage import Places, Storage
from storage.sql.stores import log
from storage.sql.stores.people import CommandKeys, all_signing, insert_signing
from storage.sql.writing import Job

T = TypeVar("T")


class PostgresKeys(CommandKeys):
    """Each call is a transaction."""

    def __init__(self, connection: engine.PostgresConnection, vault: Vault) -> None:
        self._connection, self._vault = connection, vault

    def signing(self) -> Sequence[SigningKey]:
        return self._run(lambda connection: all_signing(connection, self._vault))

    def add_signing(self, key: SigningKey) -> None:
        def add(connection: Connection) -> None:
            # Else two at once would both be active.
            self._connection.run("LOCK TABLE signing_key IN SHARE ROW EXCLUSIVE MODE")
            insert_signing(connection, key, self._vault)

        self._run(add)

    def _run(self, act: Callable[[Connection], T]) -> T:
        with engine.translated():
            self._connection.run("BEGIN")
            try:
                found = act(self._connection)
            except BaseException:
                self._connection.run("ROLLBACK")
                raise
            self._connection.commit()
            return found


@contextmanager
def open_postgres_keys(url: str, vault: Vault) -> Iterator[PostgresKeys]:
    """Open the keys; create missing tables. Raises NoKey, NewerSchema, Unavailable."""
    with engine.connected(url) as connection:
        engine.begin_life(connection, vault)
        connection.commit()
        yield PostgresKeys(connection, vault)


# The server's own limit would end an export that waits for a slow disk or pipe between two pages.
_BEGIN_SNAPSHOT = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY; SET LOCAL idle_in_transaction_session_timeout=0"


class PostgresSnapshot(Storage):
    """See Storage. Writes raise Unavailable."""

    def __init__(self, connection: engine.PostgresConnection, vault: Vault) -> None:
        readers, writer = _Readers(connection), _NoWriter()
        places, newest = Places(writer, writer, readers, readers), log.bounds(connection, START).newest
        super().__init__(places, engine.SPACE, Lease(0, "snapshot", 0), newest, vault)

    def writer_moved_at(self) -> float:
        return trio.current_time()

    async def wait_ended(self) -> str:
        await trio.sleep_forever()
        raise AssertionError

    async def aclose(self) -> None:
        """Do nothing: `open_postgres_snapshot` ends the transaction."""


class _NoWriter:
    async def submit(self, job: Job[T], **how: Any) -> T:
        raise Unavailable("a snapshot is only read")


class _Readers:
    def __init__(self, connection: engine.PostgresConnection) -> None:
        self._connection, self._limiter = connection, trio.CapacityLimiter(1)

    async def run(self, look: Callable[[Connection], T]) -> T:
        def whole() -> T:
            with engine.translated():
                return look(self._connection)

        return await trio.to_thread.run_sync(whole, limiter=self._limiter)

    async def one(self, query: str, given: Sequence[Any] = ()) -> Any:
        return await self.run(lambda connection: connection.execute(query, given).fetchone())


@asynccontextmanager
async def open_postgres_snapshot(url: str, vault: Vault) -> AsyncIterator[Storage]:
    """Open one moment of a database. Raises NoKey, NewerSchema, Corrupt, Unavailable."""
    connection = await trio.to_thread.run_sync(_open_snapshot, url, vault, limiter=trio.CapacityLimiter(1))
    try:
        yield PostgresSnapshot(connection, vault)
    finally:
        connection.close()


def _open_snapshot(url: str, vault: Vault) -> engine.PostgresConnection:
    connection = connect(url)
    try:
        with engine.translated():
            connection.run(_BEGIN_SNAPSHOT)
            engine.check_version(connection, len(engine.all_steps()))
            mark = read_mark(connection)
            if mark is not None and not opens_mark(vault, mark):
                raise NoKey(engine.OTHER)
    except BaseException:
        connection.close()
        raise
    return connection


_IMPORTING = "SELECT EXISTS(SELECT 1 FROM fact WHERE name='importing')"
_THERE = "SELECT to_regclass('fact') IS NOT NULL"
_INSIDE = "SELECT id FROM member WHERE inside AND until > extract(epoch FROM clock_timestamp()) LIMIT 1"
_HELD = """SELECT EXISTS(SELECT 1 FROM source), EXISTS(SELECT 1 FROM alert),
    EXISTS(SELECT 1 FROM log) OR (SELECT value FROM fact WHERE name='floor') > 0"""
_EMPTY = """TRUNCATE source_key, source, source_hot, source_base, source_change, log, alert, destination, cursor,
    retraction, shift, look_day, tag_defaults CASCADE; UPDATE fact SET value=0 WHERE name='floor';
    DELETE FROM public_key WHERE key_id NOT IN (SELECT key_id FROM signing_key)"""


class NotEmpty(Exception):
    """The database already holds `there`."""

    def __init__(self, there: str) -> None:
        super().__init__(there)
        self.there = there


def is_half(url: str) -> bool:
    """Return whether an import into a database was cut off. Raises Unavailable."""
    with engine.connected(url) as connection:
        there: tuple[bool] = connection.execute(_THERE).fetchone() or (False,)
        half: tuple[bool] = (connection.execute(_IMPORTING).fetchone() or (False,)) if there[0] else (False,)
        return half[0]


def begin_import(url: str) -> None:
    """Begin an import; delete the rest of an interrupted one. Raises NotEmpty, Locked, Unavailable, NewerSchema."""
    with engine.connected(url) as connection:
        engine.upgrade(connection, engine.all_steps())
        connection.run(engine.BEGIN)
        try:
            inside = connection.execute(_INSIDE).fetchone()
            if inside is not None:
                raise Locked(f"the node {inside[0]} runs on it: stop all services first")
            if connection.execute(_IMPORTING).fetchone() == (True,):
                connection.run(_EMPTY)
            elif there := _held(connection):
                raise NotEmpty(there)
            else:
                connection.run("INSERT INTO fact VALUES('importing', 1)")
        except BaseException:
            connection.run("ROLLBACK")
            raise
        connection.commit()


def end_import(url: str) -> None:
    """Mark an import as complete. Raises Unavailable."""
    with engine.connected(url) as connection:
        connection.run("DELETE FROM fact WHERE name='importing'")


def _held(connection: engine.PostgresConnection) -> str:
    row: tuple[bool, bool, bool] = connection.execute(_HELD).fetchone() or (False, False, False)
    return " and ".join(word for word, found in zip(("sources", "alerts", "events"), row, strict=True) if found)
