"""Shipping: all commits, in order, for a copy of the whole database elsewhere. One shipper at a time.

A chain begins with the database at one moment; changes follow, each a whole number of transactions. Between
`ChainStart` and `copied` the database file does not change; commits in that time arrive as changes.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Final, NamedTuple, TypeVar

import trio

from extras.cluster.replica.log import ShippedLog
from extras.cluster.replica.parts import PageChange
from storage.sql.storage import Storage
from storage.sql.writing import Transaction, Writer
from storage.sqlite.database import SqliteStorage
from storage.sqlite.engine import STEPS

T = TypeVar("T")
REPLICA: Final = "replica"  # the context of the key for a replica's MACs
ID, NUMBER = "replica", "replica_number"
_FIRST = "INSERT INTO fact VALUES(?, ?), (?, 1) ON CONFLICT DO NOTHING"
_FACT = "SELECT value FROM fact WHERE name=?"
_NEXT_LIFE = "UPDATE fact SET value=value+1 WHERE name='epoch'"


class Origin(NamedTuple):
    """The database copied. id: of the instance, across restarts. number: rises with each take-over."""

    id: int
    number: int


class ChainStart(NamedTuple):
    """The start of a chain. size: of the database in bytes. schema: its version. Earlier changes belong elsewhere."""

    size: int
    schema: int


class Shipping:
    """The source of a copy, on SQLite. Its own thread reads the files. key: 32 bytes for the copy's MACs."""

    def __init__(self, writer: Writer, log: ShippedLog, database: Path, key: bytes) -> None:
        self.key = key
        self._writer, self._log, self._database = writer, log, database
        self._limiter = trio.CapacityLimiter(1)
        self._copying = trio.CapacityLimiter(1)
        self._fd: int | None = None

    async def origin(self, drawn: int) -> Origin:
        return await self._writer.submit(partial(_origin, drawn))

    async def renew(self) -> None:
        """Ask for a new chain, until `ChainStart` follows: readers may hold it up. Raises StorageError."""
        await self._in_thread(self._log.want)
        await self._writer.submit(lambda _transaction: None)  # lets the writer notice the request

    async def next(self) -> ChainStart | PageChange | None:
        """Return the next change, None if there is none. Raises ChainBroken: only a new chain helps then."""
        found = await self._in_thread(self._log.read)
        if found is None:
            return ChainStart(self._database.stat().st_size, len(STEPS))
        return PageChange(found.pages, found.size) if found.size else None

    async def copy(self, offset: int, size: int) -> bytes:
        """Read the database as of `ChainStart`, until `copied`. Raises OSError."""
        return await trio.to_thread.run_sync(self._copy, offset, size, limiter=self._copying)

    def broken(self) -> str:
        """Return why only a new chain can continue, "" if the chain is intact."""
        return self._log.broken

    async def copied(self) -> None:
        """Allow writes to the database file. Raises ChainBroken if it was written before, so the copy is torn."""
        await self._in_thread(self._log.copied)

    def untold(self) -> int:
        return self._log.unread()

    async def end(self) -> None:
        """Stop shipping; the database is then as without a shipper."""
        await self._in_thread(self._log.end)

    def close(self) -> None:
        """Close the file, after SQLite's connections: closing it earlier would release their locks (POSIX)."""
        self._log.close()
        if self._fd is not None:
            os.close(self._fd)
            self._fd = None

    async def give_way(self) -> None:
        """Refuse every write of this start from now on: another has taken over. Raises StorageError."""
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


def _give_way(transaction: Transaction) -> None:
    transaction.execute(_NEXT_LIFE)


def shipping_of(storage: Storage) -> Shipping | None:
    """Return the commits of a storage, and let SQLite's writer keep its log; None where the engine replicates."""
    if storage.shipping is None and isinstance(storage, SqliteStorage):
        log = ShippedLog(storage.wal.path)
        shipping = Shipping(storage.thread, log, storage.database, storage.vault.mac_key(REPLICA))
        storage.closing.append(shipping.close)
        storage.shipping, storage.wal.keeps = shipping, log.after_commit
    assert storage.shipping is None or isinstance(storage.shipping, Shipping)
    return storage.shipping
