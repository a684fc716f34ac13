"""The replica: its delay while events are committed, and the log's cost of shipping.

For the delay, each change is applied to a copy afterwards, which shows what the replica had when that change was
durable.
"""

from __future__ import annotations

import random
import sqlite3
import tempfile
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, closing
from pathlib import Path

import trio

from bench.log_loads import ROUNDS, closed_loop, median, opened, percentile, poisson, sender
from bench.log_material import seeded
from bench.topic import Figure, Row, Topic, size
from extras.cluster.replica.log import FolderObjects
from extras.cluster.replica.parts import CURRENT, read_change
from extras.cluster.replica.shipper import Shipper
from extras.cluster.replica.shipping import REPLICA, shipping_of
from extras.cluster.standby import Follower, StandbyCopy
from storage.append import events_of
from storage.sql.storage import Storage
from supervision import ChildSpec, Supervisor
from tests.support.memory_network import MemoryNetwork, a_world

RATE, SECONDS = 100, size(15.0, 1.0)
SENDERS = 100
TOPIC = Topic(
    "The replica for a standby",
    "A replica in a folder on the same disk, the worst case for the log; the limit is the log without it, in turns.",
    ("extras/cluster/replica", "storage/sqlite"),
    {
        "behind": Figure("from an event's commit to the replica, 100 events a second, worst", "s", "<= 2 s"),
        "cost": Figure("harvests committed by 100 senders while it is shipped", "/s", ">= 0.85 x without"),
    },
)


class NotingObjects(FolderObjects):
    """Records when each object was durable."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self.times: dict[str, float] = {}

    async def put(self, name: str, body: bytes) -> None:
        await super().put(name, body)
        self.times[name] = trio.current_time()


def rows() -> Iterator[Row]:
    with tempfile.TemporaryDirectory() as folder:
        behind = trio.run(_behind, Path(folder))
    yield Row("behind", max(behind), note=f"p99 {percentile(behind, 99):.2f}, of {len(behind):,}")
    with tempfile.TemporaryDirectory() as folder:
        without, beside = trio.run(_cost, Path(folder))
    yield Row("cost", beside, without)


@asynccontextmanager
async def _shipped(storage: Storage, objects: FolderObjects) -> AsyncIterator[None]:
    async with trio.open_nursery() as nursery:
        shipping = shipping_of(storage)
        assert shipping is not None
        world = a_world(MemoryNetwork(nursery))
        shipper = Shipper(world, shipping, objects, place="bench", version="", by="bench", superseded=lambda _why: None)
        tree = Supervisor("bench", [ChildSpec("replica", shipper.run)], chance=random.Random(0))
        nursery.start_soon(tree.run)
        while await objects.get(CURRENT) is None:  # noqa: ASYNC110  (a file that appears)
            await trio.sleep(0.05)
        yield
        tree.stop()


async def _behind(folder: Path) -> list[float]:
    """Return each event's seconds from commit to replica."""
    (folder / "replica").mkdir()
    objects, copy = NotingObjects(folder / "replica"), StandbyCopy(folder / "standby", [])
    committed: list[tuple[float, int]] = []
    async with opened(seeded(folder / "data")) as storage, _shipped(storage, objects):
        copy.keys = [storage.vault.mac_key(REPLICA)]
        await Follower(objects, copy).step()
        send = sender(storage)

        async def noted(number: int) -> None:
            answers = await send(number)
            committed.extend((trio.current_time(), stored.seq) for stored in events_of(answers))

        await poisson(noted, RATE, SECONDS)
    had = list(await trio.to_thread.run_sync(_had, copy, objects, folder / "replica"))
    return [next(at for at, head in had if head >= seq) - when for when, seq in committed]


def _had(copy: StandbyCopy, objects: NotingObjects, folder: Path) -> list[tuple[float, int]]:
    """Return the replica's position at each time, from its changes in order."""
    found = []
    while (applied := copy.applied) is not None:
        name = f"{applied.chain}/change/{applied.change + 1:09}"
        if name not in objects.times:
            break
        body = (folder / name).read_bytes()
        copy.put(read_change(body, applied.hash, name, copy.keys[0]), body)
        with closing(sqlite3.connect(f"{copy.database.as_uri()}?immutable=1", uri=True)) as connection:
            found.append((objects.times[name], connection.execute("SELECT max(seq) FROM log").fetchone()[0]))
    return found


async def _cost(folder: Path) -> tuple[float, float]:
    """Return harvests per second without and with a shipper, in turns."""
    without, beside = list[float](), list[float]()
    async with opened(seeded(folder / "data")) as storage:
        for round in range(ROUNDS):
            without.append(await closed_loop(sender(storage), SENDERS))
            (folder / f"replica{round}").mkdir()
            async with _shipped(storage, FolderObjects(folder / f"replica{round}")):
                beside.append(await closed_loop(sender(storage), SENDERS))
            shipping = shipping_of(storage)
            assert shipping is not None
            await shipping.end()
    return median(without), median(beside)
