"""Shipping SQLite's commits; see `storage/shipping.py`. Its own thread reads the files."""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TypeVar

import trio

from storage.shipping import Begun, Change, Origin
from storage.sql.transaction import Transaction, Writer
from storage.sqlite.engine.migrations import STEPS
from storage.sqlite.engine.wal import ShippedLog

T = TypeVar("T")
ID, NUMBER = "replica", "replica_number"
_FIRST = "INSERT INTO fact VALUES(?, ?), (?, 1) ON CONFLICT DO NOTHING"
_FACT = "SELECT value FROM fact WHERE name=?"
_NEXT_LIFE = "UPDATE fact SET value=value+1 WHERE name='epoch'"


class SqliteShipping:
    """See Shipping."""

    def __init__(self, writer: Writer, log: ShippedLog, database: Path, key: bytes) -> None:
        self.key = key
        self._writer, self._log, self._database = writer, log, database
        self._limiter = trio.CapacityLimiter(1)
        self._copying = trio.CapacityLimiter(1)
        self._fd: int | None = None

    async def origin(self, drawn: int) -> Origin:
        return await self._writer.submit(partial(_origin, drawn))

    async def renew(self) -> None:
        """See Shipping. An empty commit lets the writer notice the request."""
        await self._in_thread(self._log.want)
        await self._writer.submit(_nothing)

    async def next(self) -> Begun | Change | None:
        found = await self._in_thread(self._log.read)
        if found is None:
            return Begun(self._database.stat().st_size, len(STEPS))
        return Change(found.pages, found.size) if found.size else None

    async def copy(self, offset: int, size: int) -> bytes:
        return await trio.to_thread.run_sync(self._copy, offset, size, limiter=self._copying)

    def broken(self) -> str:
        return self._log.broken

    async def copied(self) -> None:
        await self._in_thread(self._log.copied)

    def untold(self) -> int:
        return self._log.unread()

    async def end(self) -> None:
        await self._in_thread(self._log.end)

    def close(self) -> None:
        """Close the file, after SQLite's connections: closing it earlier would release their locks (POSIX)."""
        self._log.close()
        if self._fd is not None:
            os.close(self._fd)
            self._fd = None

    async def give_way(self) -> None:
        await self._writer.submit(_give_way)

    async def _in_thread(self, act: Callable[[], T]) -> T:
        """Run a function on the log in a thread, since the writer holds the lock while it empties a large log."""
        return await trio.to_thread.run_sync(act, limiter=self._limiter)

    def _copy(self, offset: int, size: int) -> bytes:
        if self._fd is None:
            self._fd = os.open(self._database, os.O_RDONLY | os.O_CLOEXEC)
        return os.pread(self._fd, size, offset)


def _origin(drawn: int, transaction: Transaction) -> Origin:
    transaction.execute(_FIRST, (ID, drawn, NUMBER))
    (id,) = transaction.execute(_FACT, (ID,)).fetchone()
    (number,) = transaction.execute(_FACT, (NUMBER,)).fetchone()
    return Origin(id, number)


def _nothing(_transaction: Transaction) -> None:
    """Change nothing."""


def _give_way(transaction: Transaction) -> None:
    transaction.execute(_NEXT_LIFE)
