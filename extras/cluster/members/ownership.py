"""A node's share of the work: rendezvous hashing over the current members. And rate limits over all nodes.

The owner of a key is the member with the highest hash of member and key: pure, equal at all nodes, and when one of n
members leaves only its own 1/n moves.

Each beat has the counts of recent clients at this node, from when they were first recorded. The others charge the
difference to their own buckets. So a client may exceed its rate by its requests to other nodes within a beat.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Awaitable, Callable, Mapping, Sequence
from functools import lru_cache, partial
from hashlib import blake2b
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit
from zlib import crc32

import trio

from storage.ownership import C, Ownership
from storage.records.member import View
from storage.records.source import Source

if TYPE_CHECKING:
    from extras.cluster.members.other_nodes import OtherNodes, Sharing

TOLD = 256
"""Most counts in a beat, of the most recent clients."""
KEPT = 60.0
"""Seconds until an inactive client is dropped."""


class Usage:
    """The usage of all nodes. Clients are sent as hashes."""

    def __init__(self) -> None:
        self._taken: OrderedDict[str, tuple[int, float]] = OrderedDict()
        self._heard: dict[str, Mapping[str, int]] = {}
        self._owed: dict[str, int] = {}

    def __repr__(self) -> str:
        return f"<Usage told={len(self._taken)} owed={len(self._owed)}>"

    def admitted_elsewhere(self, who: str) -> int:
        return self._owed.pop(_name(who), 0) if self._owed else 0

    def count_admitted(self, who: str, now: float) -> None:
        name = _name(who)
        self._taken[name] = (self._taken.get(name, (0, 0.0))[0] + 1, now)
        self._taken.move_to_end(name)
        if len(self._taken) > TOLD:
            self._taken.popitem(last=False)

    def told(self, now: float) -> Mapping[str, int]:
        while self._taken and next(iter(self._taken.values()))[1] < now - KEPT:
            self._taken.popitem(last=False)
        return {name: count for name, (count, _) in self._taken.items()}

    def hear(self, view: View, me: str) -> None:
        """Take the other nodes' counts. Counts from before this node knew a member are not charged."""
        before, self._heard = self._heard, {}
        for member in view.members:
            if member.id == me or not member.inside:
                continue
            taken = self._heard[member.id] = member.says.taken
            known = before.get(member.id)
            if known is None:
                continue
            for name, count in taken.items():
                was = known.get(name, 0)
                more = count - was if count >= was else count  # a dropped count restarts
                if more:
                    self._owed[name] = self._owed.get(name, 0) + more
        while len(self._owed) > len(view.members) * TOLD:
            del self._owed[next(iter(self._owed))]


def _name(who: str) -> str:
    return blake2b(who.encode(), digest_size=8).hexdigest()


SHARDS = 1024


@lru_cache(1 << 17)
def shard_of(url: str) -> int:
    """Return the shard of a watched URL, by host: a single node then fetches from each host.

    >>> shard_of("https://www.news.example/feed") == shard_of("http://news.example:8080/other")
    True
    """
    return crc32((urlsplit(url).hostname or "").removeprefix("www.").encode()) % SHARDS


def owner(working: Sequence[str], key: str) -> str:
    """Return the member that owns a key, "" without members."""
    return max(working, key=partial(_weight, key), default="")


def _weight(key: str, member: str) -> bytes:
    return blake2b(f"{member}\0{key}".encode(), digest_size=8).digest()


class SharedOwnership(Ownership):
    """One node's share. usage: of rate limits. sharing: others' changes. cut_off: set by the actor, see `isolation`."""

    shared = True

    def __init__(self, me: str, sharing: Sharing | None = None) -> None:
        self.me, self.usage, self.sharing = me, Usage(), sharing
        self.cut_off: Callable[[], str] = str
        self._working = self.view.working()
        self._shards = bytes(SHARDS)
        self._moved = trio.Event()

    def __repr__(self) -> str:
        return f"<SharedOwnership of {self.me}, {self.view}>"

    def take(self, view: View) -> None:
        """Use another view from now on. An older one changes nothing."""
        if view.number < self.view.number:
            return
        moved, self.view = view.number > self.view.number, view  # members' status is newer at any number
        if moved:
            self._working = view.working()
            self._shards = bytes(owner(self._working, f"shard/{shard}") == self.me for shard in range(SHARDS))
            self._moved.set()
            self._moved = trio.Event()

    def follower(self, *of: Any) -> OtherNodes | None:
        from extras.cluster.members.other_nodes import OtherNodes

        return None if self.sharing is None else OtherNodes(self.sharing, *of)

    def owns(self, key: str) -> bool:
        return owner(self._working, key) == self.me

    def watches(self, source: Source) -> bool:
        """Go by the source's host, so that only one node fetches from it; see Ownership."""
        if source.practice is not None:
            return self.owns(f"source/{source.id}")
        return self._shards[shard_of(source.watch_url)] == 1

    async def wait_moved(self, known: int) -> int:
        while self.view.number == known:
            await self._moved.wait()
        return self.view.number

    def while_owned(self, key: str, run: Callable[[C], Awaitable[None]]) -> Callable[[C], Awaitable[None]]:
        async def run_if_mine(given: C) -> None:
            while True:
                while not self.owns(key):
                    await self._moved.wait()
                await self.during(key, partial(run, given))

        return run_if_mine

    async def during(self, key: str, run: Callable[[], Awaitable[None]], *, owned: bool = True) -> None:
        async with trio.open_nursery() as nursery:
            nursery.start_soon(self._cancel_when, key, not owned, nursery.cancel_scope)
            if self.owns(key) is owned:
                await run()
            nursery.cancel_scope.cancel()

    async def _cancel_when(self, key: str, owned: bool, scope: trio.CancelScope) -> None:
        while self.owns(key) is not owned:
            await self._moved.wait()
        scope.cancel()

    def isolation(self) -> str:
        return self.cut_off()

    def admitted_elsewhere(self, who: str) -> int:
        return self.usage.admitted_elsewhere(who)

    def count_admitted(self, who: str, now: float) -> None:
        self.usage.count_admitted(who, now)
