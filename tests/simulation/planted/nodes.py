"""Bugs of several nodes on one database: of comparing versions, of membership, of other nodes' writes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from typing import Any
from unittest.mock import patch

import trio
from msgspec.structs import replace

from extras.cluster.members.membership import Membership, SharedOwnership
from extras.cluster.members.view_change import LEASE, due
from storage.records.event import Stored
from storage.records.identity import Seq
from storage.records.member import LEFT, View
from storage.sql.stores.outbox import Outbox
from storage.sql.stores.people import Keys
from storage.tail import Follower
from tests.simulation.planted.meddled import harvests_of_any_version
from tests.support import in_loop_nodes
from tests.support.in_loop_nodes import InLoopNode, LoopMembers


def versions_not_compared() -> AbstractContextManager[Any]:
    """A node that was frozen writes its old result over the others' newer writes."""
    return harvests_of_any_version()


def own_commits_shown_at_once() -> AbstractContextManager[Any]:
    """A node shows its own commit, and skips earlier commits of others."""
    right = Follower.committed

    def wrong(self: Follower, after: Seq, events: Sequence[Stored]) -> None:
        right(self, self._tail.head, events)

    return patch.object(Follower, "committed", wrong)


def wake_ups_lost_and_nothing_read() -> AbstractContextManager[Any]:
    """A node reads another's commit only when a notification comes."""

    async def wrong(self: InLoopNode) -> None:
        await self.log.follower.run()

    return patch.object(InLoopNode, "follow", wrong)


def everything_is_mine() -> AbstractContextManager[Any]:
    """Every node watches every source."""
    return patch.object(SharedOwnership, "watches", lambda self, source: True)


def leaving_nodes_beat_on() -> AbstractContextManager[Any]:
    """A heartbeat under way when a node leaves lets it in again, for a whole lease."""
    right = LoopMembers.leave

    async def wrong(self: LoopMembers) -> None:
        await right(self)
        row = self._disk.members.get(self.me)
        if row is not None and row.until == LEFT:
            now = trio.current_time()
            self._disk.members[self.me] = replace(row, since=now, until=now + LEASE)
            self._change()

    return patch.object(LoopMembers, "leave", wrong)


def the_first_one_back_puts_out_the_rest() -> AbstractContextManager[Any]:
    """After an outage of the database all leases are over, and the first node to return puts out all others."""

    def wrong(view: View, me: str, lease: float = LEASE) -> Any:
        eager = [replace(each, since=view.at - lease) if each.id == me else each for each in view.members]
        return due(replace(view, members=tuple(eager)), me, lease)

    return patch.object(in_loop_nodes, "due", wrong)


def leases_by_their_own_clocks() -> AbstractContextManager[Any]:
    """Each node sets the end of its lease by its own clock, and one clock is ten seconds behind."""
    right = LoopMembers.beat

    async def wrong(self: LoopMembers, says: Any) -> View:
        await right(self, says)
        row = self._disk.members.get(self.me)
        if row is not None and row.until != LEFT and int(self.me.rpartition("-")[2]) % 2:
            self._disk.members[self.me] = replace(row, until=row.until - 2 * LEASE)
        self._change()
        return self._view()

    return patch.object(LoopMembers, "beat", wrong)


def parked_nodes_go_on() -> AbstractContextManager[Any]:
    """A node that can't reach the database keeps checking, while others do so in its place."""

    async def wrong(self: Membership) -> None:
        await trio.sleep_forever()

    return patch.object(Membership, "_watch_silence", wrong)


def keys_kept_by_each() -> AbstractContextManager[Any]:
    """Each node caches the keys that it has looked up."""
    right = Keys.by_hash
    found: dict[tuple[int, str], Any] = {}

    async def wrong(self: Keys, sha256: str, *now: Any) -> Any:
        if (id(self), sha256) not in found:
            found[id(self), sha256] = await right(self, sha256, *now)
        return found[id(self), sha256]

    return patch.object(Keys, "by_hash", wrong)


def all_claims_released() -> AbstractContextManager[Any]:
    """A node that takes over a destination releases the claims of all destinations."""
    right = Outbox.release

    async def wrong(self: Outbox, lease: Any, *, destination: str | None = None, held: Any = ()) -> int:
        return await right(self, lease)

    return patch.object(Outbox, "release", wrong)


@contextmanager
def two_matchers() -> Iterator[None]:
    """Every node matches, and moves the cursor from wherever it is."""
    everything = SharedOwnership.owns

    def mine(self: SharedOwnership, key: str) -> bool:
        return key == "matcher" or everything(self, key)

    right = Outbox.advance

    async def wrong(self: Outbox, name: str, expect: Any, to: Seq, *given: Any, **more: Any) -> None:
        at = await self.cursor(name)
        await right(self, name, at, to, *given, **more)

    with patch.object(SharedOwnership, "owns", mine), patch.object(Outbox, "advance", wrong):
        yield
