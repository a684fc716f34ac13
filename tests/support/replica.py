"""Replicas in memory, and a shipper that writes to one from a real data folder."""

from __future__ import annotations

import random
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path

import pytest
import trio

from extras.cluster.replica import shipper as shipping
from extras.cluster.replica.log import NAME, Objects, ObjectsAway
from extras.cluster.replica.place import replica_keys
from extras.cluster.replica.shipper import Shipper
from extras.cluster.replica.shipping import Shipping, shipping_of
from storage.sql.storage import Storage
from storage.sql.writing import Transaction
from storage.sqlite.database import SqliteStorage, open_sqlite
from supervision import ChildSpec, Supervisor
from tests.support.memory_network import MemoryNetwork, a_world
from tests.support.waiting import HANG

_PUT = "INSERT INTO fact VALUES(?, ?) ON CONFLICT(name) DO UPDATE SET value=excluded.value"


KEY = bytes(range(32))
OTHER = bytes(32)


def keys_of(data: Path) -> list[bytes]:
    """The keys of the replica of this folder's service."""
    return replica_keys(data, {})


class MemoryObjects(Objects):
    """history: every put, in order. away: the reason why the objects cannot be reached; "" while they can."""

    every = 0.01

    def __init__(self) -> None:
        self.objects: dict[str, bytes] = {}
        self.history: list[tuple[str, bytes]] = []
        self.away = ""
        self._changed = trio.Event()

    async def put(self, name: str, body: bytes) -> None:
        assert NAME.fullmatch(name), name
        self._check()
        self.objects[name] = body
        self.history.append((name, body))
        self._change()

    async def get(self, name: str) -> bytes | None:
        self._check()
        return self.objects.get(name)

    async def names(self) -> Sequence[str]:
        self._check()
        return sorted(self.objects)

    async def delete(self, name: str) -> None:
        self._check()
        self.objects.pop(name, None)
        self._change()

    async def aclose(self) -> None:
        """See Objects."""

    async def until(self, holds: Callable[[], bool]) -> None:
        """Wait until a condition holds; it is evaluated at each change of an object."""
        with trio.fail_after(HANG):
            while not holds():
                await self._changed.wait()

    def _check(self) -> None:
        if self.away:
            raise ObjectsAway(self.away)

    def _change(self) -> None:
        event, self._changed = self._changed, trio.Event()
        event.set()


def shipping_in(storage: Storage) -> Shipping:
    found = shipping_of(storage)
    assert found is not None
    return found


@asynccontextmanager
async def a_storage(folder: Path) -> AsyncIterator[SqliteStorage]:
    storage = await open_sqlite(folder, clock=lambda: 1e9, owner="a test", warn=lambda _says: None)
    assert isinstance(storage, SqliteStorage)
    shipping_of(storage)
    try:
        yield storage
    finally:
        await storage.aclose()


def drawn_rows(chance: random.Random, transaction: Transaction) -> None:
    """Write rows of a random size."""
    rows = [(f"x{chance.randrange(4000)}{'y' * chance.randint(1, 900)}", chance.randrange(1 << 40)) for _ in range(20)]
    transaction.executemany(_PUT, rows)
    if chance.random() < 0.2:
        transaction.execute("DELETE FROM fact WHERE name LIKE ?", (f"x{chance.randrange(10)}%",))


async def write(storage: SqliteStorage, chance: random.Random) -> None:
    await storage.alerts._writer.submit(partial(drawn_rows, chance))


@asynccontextmanager
async def a_shipper(
    storage: SqliteStorage,
    objects: MemoryObjects,
    superseded: Callable[[str], None] = lambda _why: None,
    log: Callable[..., None] = lambda *_, **__: None,
) -> AsyncIterator[Shipper]:
    """A running shipper, stopped in order at the end."""
    async with trio.open_nursery() as nursery:
        shipper = Shipper(
            a_world(MemoryNetwork(nursery), log=log),
            shipping_in(storage),
            objects,
            place="/mnt/replica",
            version="0.1.0",
            by="a test",
            superseded=superseded,
        )
        tree = Supervisor("test", [ChildSpec("replica", shipper.run)], chance=random.Random(0))
        nursery.start_soon(tree.run)
        yield shipper
        tree.stop()


def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let a shipper work without its pauses."""
    monkeypatch.setattr(shipping, "IDLE", 0)
    monkeypatch.setattr(shipping, "AGAIN", (0.01, 0.01))
