"""This node's share of the work: rendezvous hashing over the current members.

The owner of a key is the member with the highest hash of member and key: pure, equal at all nodes, and when one of n
members leaves only its own 1/n moves. Ownership is for courtesy and economy: two nodes may both believe for a moment
that they own a thing, and no guarantee depends on it. Their writes are compared with the state they started from.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from hashlib import blake2b
from typing import Final

import trio

from storage.records.member import SHARDS, View, shard_of
from storage.records.source import Source
from supervision import Child, Run

MATCHER: Final = "matcher"
PRUNER: Final = "pruner"
HEARTBEAT: Final = "heartbeat"
NOBODY: Final = View(-1, 0.0, ())


def owner(working: Sequence[str], key: str) -> str:
    """Return the member that owns a key, "" without members."""
    return max(working, key=partial(_weight, key), default="")


def _weight(key: str, member: str) -> bytes:
    return blake2b(f"{member}\0{key}".encode(), digest_size=8).digest()


class Ownership:
    """This node's share. `me` is this member's name; None: there are no others, and everything is this node's."""

    def __init__(self, me: str | None = None) -> None:
        self._me = me
        self._view, self._working = NOBODY, NOBODY.working()
        self._shards = bytes(SHARDS) if me is not None else b"\1" * SHARDS
        self._moved = trio.Event()

    def __repr__(self) -> str:
        return f"<Ownership of {self._me or 'everything'}, {self._view}>"

    @property
    def me(self) -> str | None:
        """This member's name; None for a node alone."""
        return self._me

    @property
    def shared(self) -> bool:
        """Whether there may be others."""
        return self._me is not None

    @property
    def view(self) -> View:
        """The current members, as far as this node knows."""
        return self._view

    def take(self, view: View) -> None:
        """Use another view from now on. An older one changes nothing."""
        if self._me is None or view.number < self._view.number:
            return
        moved, self._view = view.number > self._view.number, view  # members' status is newer at any number
        if moved:
            self._working = view.working()
            self._shards = bytes(owner(self._working, f"shard/{shard}") == self._me for shard in range(SHARDS))
            self._moved.set()
            self._moved = trio.Event()

    def mine(self, key: str) -> bool:
        """Return whether a key is this node's."""
        return self._me is None or owner(self._working, key) == self._me

    def watches(self, source: Source) -> bool:
        """Return whether a source is this node's to watch: by its host, so that only one node fetches from it."""
        if self._me is None:
            return True
        return (
            self.mine(f"source/{source.id}")
            if source.practice is not None
            else self._shards[shard_of(source.watch_url)] == 1
        )

    async def wait_moved(self, known: int) -> int:
        """Wait until the view's number differs from the known one; return the new one."""
        while self._view.number == known:
            await self._moved.wait()
        return self._view.number

    def only_here(self, key: str, run: Run) -> Run:
        """Return a run that is active while this node owns a key."""
        if not self.shared:
            return run

        async def run_if_mine(child: Child) -> None:
            while True:
                await self.wait_mine(key)
                await self.during(key, partial(run, child))

        return run_if_mine

    async def during(self, key: str, run: Callable[[], Awaitable[None]], *, mine: bool = True) -> None:
        """Run while a key is this node's, or with `mine` False another's; cancel the run when that ends."""
        if self._me is None:
            if mine:
                await run()
            return
        async with trio.open_nursery() as nursery:
            nursery.start_soon(self._cancel_when, key, not mine, nursery.cancel_scope)
            if self.mine(key) is mine:
                await run()
            nursery.cancel_scope.cancel()

    async def wait_mine(self, key: str) -> None:
        """Wait until a key is this node's."""
        while not self.mine(key):
            await self._moved.wait()

    async def _cancel_when(self, key: str, mine: bool, scope: trio.CancelScope) -> None:
        while self.mine(key) is not mine:
            await self._moved.wait()
        scope.cancel()
