"""One moment of the data, read through the stores' own interface: one connection in a read-only transaction."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import Any, TypeVar

import trio

from storage.append import Lease
from storage.errors import NoKey, Unavailable
from storage.interface import Storage
from storage.postgres.engine.connection import PostgresConnection, connect, translated
from storage.postgres.engine.space import SPACE
from storage.postgres.engine.steps import all_steps, check_version
from storage.postgres.keys import OTHER
from storage.records.identity import START
from storage.secrets.connection import Connection
from storage.secrets.mark import opens_mark, read_mark
from storage.secrets.vault import Vault
from storage.sql.stores import scan
from storage.sql.stores.stores import Places, Stores
from storage.sql.transaction import Job, Row

T = TypeVar("T")
_BEGIN = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"


class PostgresSnapshot(Stores):
    """See `storage.interface.Storage`. Writes raise Unavailable."""

    def __init__(self, connection: PostgresConnection, vault: Vault) -> None:
        readers, writer = _Readers(connection), _NoWriter()
        places, newest = Places(writer, writer, readers, readers), scan.bounds(connection, START).newest
        super().__init__(places, SPACE, Lease(0, "snapshot", 0), newest, vault)

    def writer_moved_at(self) -> float:
        """Return the present time: no write ever waits."""
        return trio.current_time()

    async def wait_ended(self) -> str:
        """Wait forever: there is no writer."""
        await trio.sleep_forever()
        raise AssertionError

    def stands(self) -> bool:
        """Always True."""
        return True

    def sizes(self) -> Mapping[str, int]:
        """Return an empty mapping: the files are the server's."""
        return {}

    async def aclose(self) -> None:
        """Do nothing: `open_postgres_snapshot` ends the transaction."""


class _NoWriter:
    async def submit(self, job: Job[T], *, events: int = 0, rows: int = 1, holds: Sequence[Row] = ()) -> T:
        raise Unavailable("a snapshot is only read")


class _Readers:
    def __init__(self, connection: PostgresConnection) -> None:
        self._connection, self._limiter = connection, trio.CapacityLimiter(1)

    async def run(self, look: Callable[[Connection], T]) -> T:
        def whole() -> T:
            with translated():
                return look(self._connection)

        return await trio.to_thread.run_sync(whole, limiter=self._limiter)

    async def one(self, query: str, given: Sequence[Any] = ()) -> Any:
        return await self.run(lambda connection: connection.execute(query, given).fetchone())


@asynccontextmanager
async def open_postgres_snapshot(url: str, vault: Vault) -> AsyncIterator[Storage]:
    """Open one moment of a database. Raises NoKey, NewerSchema, Corrupt, Unavailable."""
    connection = await trio.to_thread.run_sync(_open, url, vault, limiter=trio.CapacityLimiter(1))
    try:
        yield PostgresSnapshot(connection, vault)
    finally:
        connection.close()


def _open(url: str, vault: Vault) -> PostgresConnection:
    connection = connect(url)
    try:
        with translated():
            connection.run(_BEGIN)
            check_version(connection, len(all_steps()))
            mark = read_mark(connection)
            if mark is not None and not opens_mark(vault, mark):
                raise NoKey(OTHER)
    except BaseException:
        connection.close()
        raise
    return connection
