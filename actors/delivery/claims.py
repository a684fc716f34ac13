"""A destination's claims and outcomes, until both are in storage; and the limits on concurrent requests.

They survive crashes of its actor. If storage leaves open whether a claim succeeded, its possible rows are released
before the next claim; otherwise unheld rows would wait for the next start.

Limits are in all, to one URL, and to one machine. Without them, ten thousand alerts on one URL would make forty
thousand requests to it at once. A receiver that stalls holds its slots for as long as a request may last, so two
smaller pools keep slots free of slow ones: requests to a recently slow URL first take a slot in `_slow`; requests to a
URL with another under way take one in `_additional`, or wait for that one's end. So receivers that have just begun to
stall have one slot each; after their first second, all slow ones together leave a quarter free.
"""

from __future__ import annotations

import random
from collections import Counter, OrderedDict
from collections.abc import AsyncIterator, Callable, Iterable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any
from urllib.parse import urlsplit

import trio

from actors.delivery.schedule import GRACE, MOST_BYTES, MOST_EVENTS, DigestWindow, digest_body, window_of
from actors.world import World
from storage.errors import DestinationMoved, Unavailable
from storage.records.destination import Delivery, Destination, Outcome, Portion
from storage.records.identity import COUNTER_BITS, Millis, Seq, id_of, seq_at
from storage.sql.storage import Storage

COMMIT_DEADLINE = 30.0  # seconds for one write, which a cancellation does not interrupt


class Claims:
    """held: claims without an outcome."""

    def __init__(self, destination: str, world: World, storage: Storage) -> None:
        self._destination, self._world, self._storage = destination, world, storage
        self.held: dict[Seq, Delivery] = {}
        self._outcomes: list[Outcome] = []
        self._is_unconfirmed = False

    async def claim(self, most: int, *, digests: bool, known: Destination | None = None) -> Sequence[Delivery]:
        """Claim due deliveries, durably; see Outbox. Raises DestinationMoved, DiskFull, Unavailable."""
        outbox, lease, claimed = self._storage.outbox, self._storage.lease, list[Delivery]()
        with trio.move_on_after(COMMIT_DEADLINE, shield=True):
            self._is_unconfirmed = True
            try:
                now = self._world.now()
                claimed += await outbox.claim(self._destination, now, most, lease, digests=digests, known=known)
            except DestinationMoved:
                self._is_unconfirmed = False
                raise
            self._is_unconfirmed = False
        if self._is_unconfirmed:
            raise Unavailable(f"no claim within {COMMIT_DEADLINE:.0f} s")
        for each in claimed:
            self.held[each.seq] = each
        return claimed

    def give_up(self, deliveries: Iterable[Delivery]) -> None:
        """Give back claims that have not started; the next `release_unconfirmed` makes them due again."""
        for delivery in deliveries:
            del self.held[delivery.seq]
            self._is_unconfirmed = True

    async def release_unconfirmed(self) -> None:
        """Release the possible rows of an unfinished claim. Raises DiskFull, Unavailable."""
        if self._is_unconfirmed:
            outbox, lease = self._storage.outbox, self._storage.lease
            unsaved = (outcome.seq for outcome in self._outcomes)
            await outbox.release(lease, destination=self._destination, held=(*self.held, *unsaved))
            self._is_unconfirmed = False

    def record(self, outcome: Outcome) -> None:
        """Take a delivery's outcome; `write` makes it durable."""
        del self.held[outcome.seq]
        self._outcomes.append(outcome)

    async def write(self, *, may_wait: bool = False) -> None:
        """Store all known outcomes in one transaction. If it raises DiskFull or Unavailable, they are kept."""
        if not self._outcomes:
            return
        batch = tuple(self._outcomes)
        with trio.move_on_after(COMMIT_DEADLINE, shield=True) as scope:
            await self._storage.outbox.settle(batch, self._storage.lease, may_wait=may_wait)
            del self._outcomes[: len(batch)]
        if scope.cancelled_caught:
            raise Unavailable(f"outcomes not written within {COMMIT_DEADLINE:.0f} s")
        self._world.reach("delivery/after settle")


class DigestCollector:
    """A destination's windows. `next_close`: the end of the open one; None before the first check, or if instant."""

    def __init__(self, world: World, storage: Storage, chance: random.Random) -> None:
        self._world, self._storage, self._chance = world, storage, chance
        self._open: DigestWindow | None = None

    @property
    def next_close(self) -> Millis | None:
        return None if self._open is None else Millis(self._open.end + GRACE)

    async def freeze_closed(self, record: Destination) -> None:
        """Freeze a digest of every closed window; in instant mode, of more waiting rows than `most_at_once`."""
        if record.delivery_mode == "instant":
            self._open = None
            if record.most_at_once and await self._storage.outbox.backlog(record.id) > record.most_at_once:
                window = DigestWindow(Millis(0), Millis(self._world.now() + 1))
                while await self._freeze(record, window, least=record.most_at_once + 1):
                    pass
            return
        current = window_of(record, Millis(self._world.now() - GRACE))
        if current == self._open:
            return
        since = await self._storage.outbox.gathered_since(record.id)
        while since is not None and since < current.start:
            await self._freeze(record, window_of(record, since))
            since = await self._storage.outbox.gathered_since(record.id)
        self._open = current

    async def _freeze(self, record: Destination, window: DigestWindow, least: int = 1) -> int:
        position = seq_at(self._world.now()) + self._chance.randrange(1 << COUNTER_BITS)
        id = id_of(Seq(position), self._chance.getrandbits(59))
        observer, started_at, links = self._world.observer, trio.current_time(), list[Any]()

        def freeze(events: Sequence[bytes]) -> tuple[str, bytes]:
            links[:] = observer.linked(events)
            return id, digest_body(id, record, window, events)

        portion = Portion(window.start, window.end, MOST_EVENTS, MOST_BYTES, least, fresh=least > 1)
        frozen = await self._storage.outbox.freeze(record.id, portion, freeze, self._storage.lease)
        if frozen:
            observer.digested(id, record, links, events=frozen, began=started_at)
        self._world.reach("delivery/after freeze")
        return frozen


MOST_REQUESTS = 200  # concurrent deliveries over all destinations
MOST_SLOW = 150  # of these, to slow URLs
MOST_ADDITIONAL = 100  # of these, additional ones to the same URL
MOST_PER_URL = 4
MOST_PER_HOST = 20  # as many as five destinations have under way
SLOW = 1.0  # seconds of a finished or running request that make its URL slow; a quicker one clears it
REMEMBERED = 20_000  # known slow URLs; the least recently slow one is forgotten first


class ConcurrencyLimiter:
    """Slots for requests. address_of: the address that a host was last seen at, or the host itself."""

    def __init__(self, address_of: Callable[[str], str]) -> None:
        self._address_of = address_of
        self._all = trio.CapacityLimiter(MOST_REQUESTS)
        self._slow = trio.CapacityLimiter(MOST_SLOW)
        self._additional = trio.CapacityLimiter(MOST_ADDITIONAL)
        self._lanes: dict[str, trio.CapacityLimiter] = {}
        self._admitted: Counter[str] = Counter()
        self._freed: dict[str, trio.Event] = {}
        self._under_way: dict[str, list[float]] = {}
        self._known_slow: OrderedDict[str, None] = OrderedDict()

    def __repr__(self) -> str:
        taken = f"{self._all.borrowed_tokens}/{MOST_REQUESTS} taken, {self._slow.borrowed_tokens} by slow ones"
        return f"<ConcurrencyLimiter {taken}, {len(self._lanes)} lanes>"

    @asynccontextmanager
    async def slot(self, url: str) -> AsyncIterator[None]:
        """Wait for a slot and hold it. Waiting for a crowded receiver takes no slot from others."""
        to_url, to_host = url, f"at {self._address_of(urlsplit(url).hostname or url)}"
        try:
            async with self._lane(to_url, MOST_PER_URL), self._lane(to_host, MOST_PER_HOST), self._pool_slots(url):
                yield
        finally:
            self._close(to_url)
            self._close(to_host)

    @asynccontextmanager
    async def _pool_slots(self, url: str) -> AsyncIterator[None]:
        """Hold a slot among all, after one in each smaller pool that applies."""
        async with AsyncExitStack() as stack:
            oldest = trio.current_time() - min(self._under_way.get(url, ()), default=trio.current_time())
            if url in self._known_slow or oldest > SLOW:
                await stack.enter_async_context(self._slow)
            await self._wait_admission(url, stack)
            await stack.enter_async_context(self._all)
            started_at = trio.current_time()
            self._under_way.setdefault(url, []).append(started_at)
            stack.callback(self._record_duration, url, started_at)
            yield

    async def _wait_admission(self, url: str, stack: AsyncExitStack) -> None:
        """Wait to be the only request to a URL, or for a slot as an additional one."""
        while self._admitted[url]:
            try:
                self._additional.acquire_nowait()
            except trio.WouldBlock:
                await self._freed.setdefault(url, trio.Event()).wait()
            else:
                stack.callback(self._additional.release)
                break
        self._admitted[url] += 1
        stack.callback(self._release, url)

    def _release(self, url: str) -> None:
        self._admitted[url] -= 1
        if not self._admitted[url]:
            del self._admitted[url]
        if (freed := self._freed.pop(url, None)) is not None:
            freed.set()

    def _record_duration(self, url: str, started_at: float) -> None:
        self._under_way[url].remove(started_at)
        if not self._under_way[url]:
            del self._under_way[url]
        self._known_slow.pop(url, None)
        if trio.current_time() - started_at > SLOW:
            self._known_slow[url] = None
            if len(self._known_slow) > REMEMBERED:
                self._known_slow.popitem(last=False)

    def _lane(self, name: str, width: int) -> trio.CapacityLimiter:
        return self._lanes.setdefault(name, trio.CapacityLimiter(width))

    def _close(self, name: str) -> None:
        lane = self._lanes.get(name)
        if lane is not None and not lane.borrowed_tokens and not lane.statistics().tasks_waiting:
            del self._lanes[name]
