"""A replica and its standby in the simulated world: the pages that commits changed, a place that fails, a follower.

The product's own shipper, follower, copy and take-over run. Only the engine's side differs: there is no write-ahead log
in memory, so a change is the pages that differ from those shipped before.
"""

from __future__ import annotations

import json
import random
import sqlite3
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager, nullcontext
from dataclasses import dataclass, field
from functools import partial
from hashlib import blake2b
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, TypeVar
from unittest.mock import patch

import trio

from extras.cluster import standby as copying
from extras.cluster.replica import shipping
from extras.cluster.replica.log import Objects, ObjectsAway
from extras.cluster.replica.log import put_into as put_whole
from extras.cluster.replica.parts import PageChange
from extras.cluster.replica.shipping import REPLICA, ChainStart, Origin, Shipping
from extras.cluster.standby import Follower, StandbyCopy, Takeover, take_over
from sanderling.data_folder import VARIABLE
from storage.errors import ChainBroken
from storage.records.identity import START, Millis, Seq
from storage.secrets import SIZE, written
from storage.sql.stores import log
from storage.sql.writing import Job
from storage.sqlite.engine import STEPS
from tests.simulation.network import Host
from tests.simulation.origins.texts import EPOCH
from tests.simulation.trace import Trace
from tests.support.in_loop import Disk, InLoopStorage, vault

T = TypeVar("T")
PLACE = "replica.people.org"
"""The machine that keeps the objects."""
AWAY, SLOW = "away", "slow"
PAGE = 4096
MOST = 40 * PAGE
"""Bytes of unread changes that break the chain; a real log holds 256 MB."""
EVERY = 5.0
MEMORY = "/dev/shm" if Path("/dev/shm").is_dir() else None
STEP = 30.0
"""Virtual seconds between two steps of the standby."""


class WatchedDisk(Disk):
    """A disk that records the time of each commit, and the newest position after it."""

    def __init__(self) -> None:
        super().__init__()
        self.commits: list[tuple[float, Seq]] = []

    def run(self, job: Job[T]) -> T:
        """Run a job; see Disk."""
        result = super().run(job)
        self.commits.append((trio.current_time(), self.head()))
        return result


class SimShipping(Shipping):
    """The engine's side of a replica."""

    def __init__(self, storage: InLoopStorage, seen: Callable[[bytes], None]) -> None:
        self.key = vault().mac_key(REPLICA)
        self._writer, self._connection, self._seen = storage._writer, storage.disk.connection, seen
        self._shipped: bytes | None = None
        self._copying: bytes | None = None
        self._wanted = False
        self._writes = -1
        self._broken = ""

    async def origin(self, drawn: int) -> Origin:
        return await self._writer.submit(partial(shipping._origin, drawn))

    async def renew(self) -> None:
        await trio.lowlevel.checkpoint()
        self._wanted, self._broken = True, ""

    async def next(self) -> ChainStart | PageChange | None:
        await trio.lowlevel.checkpoint()
        if self._broken:
            raise ChainBroken(self._broken)
        change = self._change()
        if change is not None and self._shipped is not None:
            return change
        if not self._wanted:
            return None
        self._wanted = False
        self._shipped = self._copying = self._read()
        return ChainStart(len(self._copying), len(STEPS))

    async def copy(self, offset: int, size: int) -> bytes:
        await trio.lowlevel.checkpoint()
        assert self._copying is not None
        return self._copying[offset : offset + size]

    def broken(self) -> str:
        if not self._broken and self.untold() > MOST:
            self._broken, self._shipped, self._copying = "the log grew too large", None, None
        return self._broken

    async def copied(self) -> None:
        await trio.lowlevel.checkpoint()
        if self._broken or self._copying is None:
            raise ChainBroken(self._broken or "the chain ended before its copy was whole")
        self._copying = None

    def untold(self) -> int:
        if self._shipped is None or self._writes == self._connection.total_changes:
            return 0
        return PAGE * len(_differing(self._shipped, self._connection.serialize()))

    async def end(self) -> None:
        await trio.lowlevel.checkpoint()
        self._shipped = self._copying = None
        self._wanted = False

    async def give_way(self) -> None:
        await self._writer.submit(shipping._give_way)

    def _change(self) -> PageChange | None:
        if self._shipped is None or self._writes == self._connection.total_changes:
            return None
        before, self._shipped = self._shipped, self._read()
        pages = _differing(before, self._shipped)
        return PageChange(pages, len(self._shipped) // PAGE) if pages else None

    def _read(self) -> bytes:
        self._writes = self._connection.total_changes
        pages = self._connection.serialize()
        self._seen(pages)
        return pages


def _differing(before: bytes, after: bytes) -> dict[int, bytes]:
    return {
        at // PAGE + 1: after[at : at + PAGE]
        for at in range(0, len(after), PAGE)
        if after[at : at + PAGE] != before[at : at + PAGE]
    }


class SimObjects(Objects):
    """A place for objects as one process reaches it. While it is away, a put may be lost, arrive torn, or arrive."""

    every = EVERY

    def __init__(
        self, objects: dict[str, bytes], host: Host, dice: random.Random, is_alive: Callable[[], bool] = lambda: True
    ) -> None:
        self._objects, self._host, self._dice, self._is_alive = objects, host, dice, is_alive

    async def put(self, name: str, body: bytes) -> None:
        try:
            await self._reach()
        except ObjectsAway:
            drawn = self._dice.random()
            if drawn < 0.4:
                self._objects[name] = body if drawn < 0.2 else body[: self._dice.randrange(len(body))]
            raise
        self._objects[name] = body

    async def get(self, name: str) -> bytes | None:
        await self._reach()
        return self._objects.get(name)

    async def names(self) -> Sequence[str]:
        await self._reach()
        return sorted(self._objects)

    async def delete(self, name: str) -> None:
        await self._reach()
        self._objects.pop(name, None)

    async def aclose(self) -> None:
        await trio.lowlevel.checkpoint()

    async def _reach(self) -> None:
        await trio.sleep(self._dice.uniform(1, 20) if self._host.suffers(SLOW) else self._dice.uniform(0.002, 0.2))
        if not self._is_alive():
            await trio.sleep_forever()
        if self._host.suffers(AWAY):
            raise ObjectsAway("the place does not answer")


@dataclass(frozen=True, slots=True)
class Followed:
    """A step of the standby: its time, and the time up to which the copy claims to be complete (virtual seconds, None
    without a copy). newest: the position of the copy's newest event. foreign: whether the service's database was never
    the same.
    """

    at: float
    upto: float | None
    says: str
    newest: Seq
    foreign: bool


@dataclass(slots=True)
class Standby:
    """The other machine. It loses its memory between two steps, and now and then dies inside one.

    shipped: digests of the database as the shipper has read it.
    """

    host: Host
    disk: WatchedDisk
    dice: random.Random
    trace: Trace
    objects: dict[str, bytes] = field(default_factory=dict)
    shipped: set[bytes] = field(default_factory=set)
    steps: list[Followed] = field(default_factory=list)
    folder: TemporaryDirectory[str] = field(
        default_factory=partial(TemporaryDirectory, prefix="simulated-standby-", dir=MEMORY)
    )
    following: trio.CancelScope = field(default_factory=trio.CancelScope)

    def saw(self, pages: bytes) -> None:
        """Record the database as it was read for the replica."""
        self.shipped.add(_digest(pages))

    async def follow(self) -> None:
        """Take a step now and then, until `following` is cancelled."""
        with self.following:
            while True:
                await trio.sleep(self.dice.uniform(0.5, 1.5) * STEP)
                try:
                    with self._torn() if self.dice.random() < 0.1 else nullcontext():
                        await self._step()
                except _Died:
                    self.trace.note("standby", "dies while it writes")

    def committed(self, until: float) -> frozenset[str]:
        """Return the ids of the events that were committed by a virtual time."""
        newest = max((head for at, head in self.disk.commits if at < until), default=START)
        return frozenset(json.loads(event.body)["id"] for event in self.disk.events() if event.seq <= newest)

    async def take_over(self, now: Millis) -> Takeover:
        """Take over; the database is then in the data folder."""
        variables = {VARIABLE: written(bytes(range(SIZE)))}
        return await take_over(
            self._place(), self._copy(), self.data, variables, now=now, by="standby", unreachable=False
        )

    @property
    def data(self) -> Path:
        return Path(self.folder.name)

    def _place(self) -> SimObjects:
        return SimObjects(self.objects, self.host, self.dice)

    def _copy(self) -> StandbyCopy:
        return StandbyCopy(self.data, [vault().mac_key(REPLICA)])

    async def _step(self) -> None:
        copy = self._copy()
        standing = await Follower(self._place(), copy).step()
        at, upto, newest, foreign = trio.current_time(), None, START, False
        if copy.applied is not None:
            assert standing.at is not None
            upto = standing.at / 1000 - EPOCH
            newest, foreign = _newest(copy.database), _digest(copy.database.read_bytes()) not in self.shipped
        self.steps.append(Followed(at, upto, standing.says, newest, foreign))

    @contextmanager
    def _torn(self) -> Iterator[None]:
        """Write a part of the next change's pages, and die."""

        def put_into(database: Any, pages: Any, size: int) -> None:
            some = dict(list(pages.items())[: (len(pages) + 1) // 2])
            put_whole(database, some, size)
            raise _Died

        with patch.object(copying, "put_into", put_into):
            yield


class _Died(Exception):
    """The standby's process is gone."""


@contextmanager
def in_the_loop() -> Iterator[None]:
    """Within the block, run thread jobs directly in the loop."""

    async def run_sync(what: Callable[..., T], *args: Any, **_: Any) -> T:
        await trio.lowlevel.checkpoint()
        return what(*args)

    with patch.object(trio.to_thread, "run_sync", run_sync):
        yield


def put_in_place(disk: Disk, database: Path) -> None:
    """Continue with a database from a file, as the life after the previous ones."""
    epoch = disk.epoch
    with closing(sqlite3.connect(database)) as connection:
        connection.backup(disk.connection)
    disk.connection.execute("UPDATE fact SET value=? WHERE name='epoch'", (epoch,))


def _newest(database: Path) -> Seq:
    with closing(sqlite3.connect(f"file:{database}?mode=ro&immutable=1", uri=True)) as connection:
        return log.bounds(connection, START).newest


def _digest(pages: bytes) -> bytes:
    return blake2b(pages, digest_size=16).digest()
