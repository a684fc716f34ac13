"""The read-only connections: two for pages, one for look-ups, each used by one thread at a time.

A read is one read-only transaction, or a single statement. If its connection turns out to be dead, it runs again, once,
as it has changed nothing. A read without an answer in time, or whose task was cancelled, is cut off: a lock, or a
server that hangs, must not block the connection for later reads.
"""

from __future__ import annotations

import queue
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import psycopg
import trio

from storage.errors import Unavailable
from storage.postgres.engine.connection import Line, PostgresConnection, in_our_words, translated
from storage.secrets.connection import Connection

CLOSE_WITHIN = 5.0
"""Seconds that running reads get at a close."""
_BEGIN = "BEGIN READ ONLY; SET LOCAL statement_timeout='60s'"

T = TypeVar("T")


class LinePool:
    """Connections behind their own limiter. A call that waits for its turn can be cancelled."""

    def __init__(self, lines: Sequence[Line], within: float) -> None:
        self._lines, self._within = lines, within
        self._limiter = trio.CapacityLimiter(len(lines))
        self._idle: queue.LifoQueue[Line] = queue.LifoQueue(len(lines))
        self._closed = False
        for line in lines:
            self._idle.put(line)

    def __repr__(self) -> str:
        return f"{type(self).__name__}(busy={self._limiter.borrowed_tokens} of {len(self._lines)})"

    async def visit(self, look: Callable[[PostgresConnection], T]) -> T:
        """Run a function with an idle connection in a thread, and return its result.

        The function may run twice and must allow that. If cancelled, returns at once, and the connection is cut.
        """
        if self._closed:
            raise Unavailable("the storage is closed")
        taken: list[Line] = []
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

    def _look(self, look: Callable[[PostgresConnection], T], taken: list[Line]) -> T:
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

    async def aclose(self) -> None:
        """Wait for running reads, within CLOSE_WITHIN even if cancelled, and close the connections."""
        if self._closed:
            return
        self._closed = True
        with trio.move_on_after(CLOSE_WITHIN, shield=True):
            for _ in self._lines:
                await self._limiter.acquire_on_behalf_of(object())
        while not self._idle.empty():
            self._idle.get_nowait().drop()


class ReaderPool(LinePool):
    """See `storage.sql.transaction.Readers` and `Lookups`."""

    async def run(self, look: Callable[[Connection], T]) -> T:
        """See Readers. If cancelled, the read is cut off."""
        return await self.visit(_whole(look))

    async def one(self, query: str, given: Sequence[Any] = ()) -> Any:
        return await self.visit(lambda connection: connection.execute(query, given).fetchone())


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
