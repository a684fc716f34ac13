"""The read-only connections: two for pages, one for look-ups, each used by one thread at a time.

A read is one read-only transaction, or a single statement. If its connection turns out to be dead, it runs again, once,
as it has changed nothing. A read without an answer in time, or whose task was cancelled, is cut off: a lock, or a
server that hangs, must not block the connection for later reads.

Look-ups of single rows are gathered: while one round trip runs, new look-ups wait for the next one. No look-up joins a
running round trip, which may have begun before a key was revoked; so the very next request refuses a revoked key. Equal
look-ups of one round trip are sent to the server once.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import psycopg
import trio

from extras.cluster.postgres.engine.connection import PostgresConnection, ThreadConnection, in_our_words, translated
from storage.errors import StorageError, Unavailable
from storage.secrets.sealing import Connection
from storage.sql.transaction import Pool, Query

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
    """See `storage.sql.transaction.Readers` and `Lookups`."""

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
    """See `storage.sql.transaction.Lookups`."""

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
