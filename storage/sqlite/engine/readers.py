"""The read-only connections: a few for pages, each used by one thread at a time, and the loop's own for look-ups.

A reader that held its snapshot would keep the WAL from being reused (60 MB in two seconds, measured). So a read fetches
all of its rows (at most 500) before it returns, and no cursor or transaction is open across an await.
"""

from __future__ import annotations

import queue
import sqlite3
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, TypeVar

import trio

from storage.errors import Unavailable
from storage.sqlite.engine.connection import READER, connect, translated

HOW_MANY = 2
"""More do not read faster: they share the interpreter, and each running one delays the loop."""
CLOSE_WITHIN = 5.0
"""Seconds that running reads get at a close."""

T = TypeVar("T")


class ReaderPool:
    """A pool of read-only connections with its own limiter. A read that waits for its turn can be cancelled."""

    def __init__(self, database: Path) -> None:
        self._limiter = trio.CapacityLimiter(HOW_MANY)
        self._idle: queue.LifoQueue[sqlite3.Connection] = queue.LifoQueue(HOW_MANY)
        self._closed = False
        for _ in range(HOW_MANY):
            self._idle.put(connect(database, READER, read_only=True))

    def __repr__(self) -> str:
        return f"ReaderPool(busy={self._limiter.borrowed_tokens} of {HOW_MANY})"

    async def run(self, look: Callable[[sqlite3.Connection], T]) -> T:
        """Run `look` with a connection in a thread; see `storage.sql.transaction.Readers`.

        If cancelled, returns at once; the read runs to its end and its result is dropped.
        """
        if self._closed:
            raise Unavailable("the storage is closed")
        return await trio.to_thread.run_sync(self._look, look, limiter=self._limiter, abandon_on_cancel=True)

    def _look(self, look: Callable[[sqlite3.Connection], T]) -> T:
        connection = self._idle.get_nowait()
        try:
            with translated():
                return look(connection)
        finally:
            self._idle.put(connection)

    async def aclose(self) -> None:
        """Wait for running reads, within CLOSE_WITHIN even if cancelled, and close the connections."""
        if self._closed:
            return
        self._closed = True
        with trio.move_on_after(CLOSE_WITHIN, shield=True):
            for _ in range(HOW_MANY):
                await self._limiter.acquire_on_behalf_of(object())
        while not self._idle.empty():
            self._idle.get_nowait().close()


class OwnConnection:
    """See `storage.sql.transaction.Lookups`."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection

    async def one(self, query: str, given: Sequence[Any] = ()) -> Any:
        """Not a checkpoint."""
        with translated():
            return self._connection.execute(query, given).fetchone()
