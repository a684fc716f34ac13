"""The connections that only read: two for pages, one for look-ups, each used by one thread at a time.

A look is one read-only transaction, or a single statement. One whose connection turns out to be ended is made again,
once: it has changed nothing. One that has no answer in time, or that nobody waits for any more, is cut off: a lock that
somebody holds, or a server that stands still, must not keep the line from all who come later.
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
"""Seconds that looks under way get at a close."""
_BEGIN = "BEGIN READ ONLY; SET LOCAL statement_timeout='60s'"

T = TypeVar("T")


class LinePool:
    """Some lines behind a limiter of their own. A visit that waits for its turn can be cancelled."""

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
        """Return what comes of a function of a connection on which nothing is open, run in a thread.

        It may run twice: nothing may depend on that. If cancelled, returns at once, and the visit is cut off.
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
                taken.clear()  # or the look would be made again
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
        """Wait for the looks under way, within a deadline also when cancelled, and close the connections."""
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
        """Return what `look` finds with a connection; see Readers. If cancelled, the look is cut off."""
        return await self.visit(_whole(look))

    async def one(self, query: str, given: Sequence[Any] = ()) -> Any:
        """Return the first row; see Lookups."""
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
