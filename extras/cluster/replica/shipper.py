"""The actor that maintains the replica: a copy of the database, then each change once committed.

The service never waits for it. While the replica can't be written, the shipper retries and the write-ahead log grows;
past a limit the shipper gives up the chain and begins a new one later. It also begins one at each start, and when the
changes outgrow the copy; the chain before it continues until the new copy is whole.

Before each read of the log it reads the replica's owner. A higher number than its own means that a standby took over:
this service must not write any more. An owner without a valid MAC raises an alarm, and shipping continues.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass

import trio

from actors.world import World
from extras.cluster.replica import parts
from extras.cluster.replica.log import Objects, ObjectsAway
from extras.cluster.replica.shipping import ChainStart, Origin, Shipping
from storage.errors import STANDSTILL, ChainBroken
from storage.records.identity import Millis, rfc3339
from storage.records.member import ReplicaState
from supervision import Child

IDLE = 4  # rounds between two updates of the `current` record
FIRST_WITHIN = 5.0  # seconds for the owner check at a start
AGAIN = (0.5, 30.0)  # seconds between two tries while the replica is unavailable: initial and maximum
MOST_CHANGES = 20_000
LEAST_CHANGED = 64 << 20  # bytes of changes before a new chain starts, however small the copy is
FOREIGN = (
    "it holds the replica of another instance, or of this one before a restore: choose an empty folder, or delete "
    "what is in it"
)

UNFINISHED = "; {} copies in a row were not finished: no standby can begin with one until the place is quicker"


class _Foreign(Exception):
    """The replica belongs to another instance."""


class _Superseded(Exception):
    """Another machine has taken over."""


_ENDING = (_Foreign, ChainBroken, parts.BadPart, *STANDSTILL)  # errors that end all chains; a new one starts later


@dataclass(slots=True)
class _Chain:
    """One growing chain. at: its start time. bytes: the size of its changes. whole: its copy is complete."""

    name: str
    begun: ChainStart
    at: Millis
    hash: bytes
    number: int = 0
    bytes: int = 0
    whole: bool = False

    def is_outgrown(self) -> bool:
        return self.whole and (self.number > MOST_CHANGES or self.bytes > max(LEAST_CHANGED, self.begun.size))


class Shipper:
    """See above. by: this machine's name. superseded: called once with a sentence when another has taken over."""

    def __init__(
        self,
        world: World,
        shipping: Shipping,
        objects: Objects,
        *,
        place: str,
        version: str,
        by: str,
        superseded: Callable[[str], None],
    ) -> None:
        self._world, self._shipping, self._objects = world, shipping, objects
        self._version, self._by, self._superseded = version, by, superseded
        self._chains: list[_Chain] = []
        self._told_at = float("-inf")
        self._shipped_at = Millis(0)  # every commit until then is in the replica
        self._chance = world.chance("replica")
        self._failed: Exception | None = None
        self._gone = False
        self._alarm = ""
        self._unfinished = 0
        self._limiter = trio.CapacityLimiter(2)
        self.state = ReplicaState(place=place)

    def __repr__(self) -> str:
        return f"<Shipper to {self.state.place}: {', '.join(chain.name for chain in self._chains) or 'no chain'}>"

    async def run(self, child: Child) -> None:
        """Ship until stopped, then the rest. Retry after own crashes: a restart would be the whole service's."""
        wait = AGAIN[0]
        origin = await self._origin()
        with trio.move_on_after(FIRST_WITHIN):
            await self._look_at_owner_once(origin)
        if self._gone:  # nothing else of the service starts
            await child.stopping.wait()
            return
        child.ready()
        while not child.stopping.is_set():
            began = trio.current_time()
            try:
                await self._chain_by_chain(child, origin)
            except _Superseded as error:
                await self._give_way(str(error))
                await child.stopping.wait()
                return
            except _ENDING as error:
                await self._ends(child, str(error))
            except Exception as error:
                self._world.log("replica.failed", level="error", why=repr(error))
                await self._ends(child, f"it failed by a mistake of the program ({error!r})")
            wait = AGAIN[0] if trio.current_time() - began > AGAIN[1] else min(wait * 2, AGAIN[1])
            with trio.move_on_after(wait):
                await child.stopping.wait()

    async def _ends(self, child: Child, says: str) -> None:
        """Abandon all chains; a new one starts later."""
        if self._chains:
            self._unfinished = 0 if any(chain.whole for chain in self._chains) else self._unfinished + 1
        if self._unfinished > 1:
            says += UNFINISHED.format(self._unfinished)
        self._fails(says)
        child.note(f"waiting: {says}"[:200])
        self._chains.clear()
        await self._shipping.end()

    # --- ownership ---------------------------------------------------------------------------------------------------

    async def _origin(self) -> Origin:
        while True:
            try:
                return await self._shipping.origin(int.from_bytes(self._world.entropy(7), "big"))
            except STANDSTILL as error:
                self._fails(str(error))
                await trio.sleep(AGAIN[0])

    async def _look_at_owner_once(self, origin: Origin) -> None:
        try:
            await self._look_at_owner(origin)
        except _Superseded as error:
            await self._give_way(str(error))
        except (_Foreign, ObjectsAway, parts.BadPart) as error:
            self._fails(str(error))

    async def _look_at_owner(self, origin: Origin) -> None:
        body = await self._objects.get(parts.OWNER)
        if body is not None and self._is_owned(body, origin):
            return
        owner = parts.Owner(origin.id, origin.number, self._by, self._world.now())
        await self._objects.put(parts.OWNER, parts.written_record(parts.OWNER, owner, self._shipping.key))

    def _is_owned(self, body: bytes, origin: Origin) -> bool:
        """Return whether to leave the replica's owner unchanged. Raises _Foreign, _Superseded."""
        try:
            owner = parts.read_owner(body, self._shipping.key)
        except parts.BadPart as error:
            claimed, earlier = parts.claimed_owner(body)
            if claimed is None:
                raise
            if claimed.id != origin.id:
                raise _Foreign(FOREIGN) from None
            higher = claimed.number > origin.number
            if higher or not earlier:
                self._alarms(f"{error}; the service continues; check the permissions there")
            return higher  # an unproven claim
        if owner.id != origin.id:
            raise _Foreign(FOREIGN)
        if owner.number > origin.number:
            raise _Superseded(f"{owner.by} took over at {rfc3339(owner.at)}")
        self._alarm = ""
        return owner.number == origin.number

    def _alarms(self, says: str) -> None:
        if says != self._alarm:
            self._world.log("replica.owner", level="warning", says=says)
        self._alarm = says

    async def _give_way(self, why: str) -> None:
        self._gone = True
        self.state.says = f"{why}: this service may write no more"
        self._world.log("replica.superseded", level="error", says=self.state.says)
        try:
            await self._shipping.give_way()
        except STANDSTILL as error:
            self._fails(str(error))
        self._superseded(why)

    # --- shipping ----------------------------------------------------------------------------------------------------

    async def _chain_by_chain(self, child: Child, origin: Origin) -> None:
        """Ship until stopped. Raises the errors that end all chains."""
        self._failed = None
        async with trio.open_nursery() as nursery:
            try:
                await self._rounds(child, origin, nursery)
            except (_Superseded, *_ENDING) as error:
                self._failed = error
            nursery.cancel_scope.cancel()
        if self._failed is not None:  # outside any exception group
            raise self._failed

    async def _rounds(self, child: Child, origin: Origin, nursery: trio.Nursery) -> None:
        wait = every = self._objects.every
        while True:
            last = child.stopping.is_set()
            try:
                await self._round(origin, nursery, last=last)
                wait = every
            except ObjectsAway as error:
                self._is_away(error)
                wait = min(wait * 2, AGAIN[1])
            if last:
                break
            child.note(f"shipping {self._chains[-1].name}" if self._chains else "waiting for a moment to begin")
            with trio.move_on_after(wait):
                await child.stopping.wait()

    async def _round(self, origin: Origin, nursery: trio.Nursery, *, last: bool) -> None:
        if self._failed is not None:
            raise self._failed
        await self._look_at_owner(origin)
        if not last and (not self._chains or (len(self._chains) == 1 and self._chains[0].is_outgrown())):
            await self._shipping.renew()
        await self._ship(nursery)
        await self._tell(now=last)

    async def _ship(self, nursery: trio.Nursery) -> None:
        while True:
            at = self._world.now()
            found = await self._shipping.next()
            if found is None:
                break
            if isinstance(found, ChainStart):
                name = parts.chain_name(at, self._chance.getrandbits(32))
                chain = _Chain(name, found, at, parts.start_of(name))
                self._chains.append(chain)
                nursery.start_soon(self._copy_or_fail, chain)
            else:
                await self._put_change(found, at)
        self._shipped_at = at
        self.state.untold = self._shipping.untold()

    async def _put_change(self, change: parts.PageChange, at: Millis) -> None:
        for chain in self._chains:
            body, hash = await trio.to_thread.run_sync(
                parts.packed_change, change, chain.hash, at, self._shipping.key, limiter=self._limiter
            )
            await self._until_it_is_there(parts.change_name(chain.name, chain.number + 1), body)
            chain.number, chain.hash, chain.bytes = chain.number + 1, hash, chain.bytes + len(body)
            self._world.metrics.shipped.add(by=len(body))
        if any(chain.whole for chain in self._chains):
            self._well(at)

    async def _copy_or_fail(self, chain: _Chain) -> None:
        try:
            await self._copy(chain)
        except _ENDING as error:
            self._failed = error

    async def _copy(self, chain: _Chain) -> None:
        hashes = []
        for number, offset in enumerate(range(0, chain.begun.size, parts.PART)):
            part = await self._shipping.copy(offset, min(parts.PART, chain.begun.size - offset))
            body, hash = await trio.to_thread.run_sync(parts.packed_part, part, limiter=self._limiter)
            await self._until_it_is_there(parts.copy_name(chain.name, number), body)
            hashes.append(hash)
            self._world.metrics.shipped.add(by=len(body))
        await self._shipping.copied()
        whole = parts.Whole(chain.begun.size, chain.begun.schema, self._version, chain.at, tuple(hashes))
        name = parts.whole_name(chain.name)
        await self._until_it_is_there(name, parts.written_record(name, whole, self._shipping.key))
        chain.whole = True
        self._chains = self._chains[self._chains.index(chain) :]
        self._world.log("replica.chain", chain=chain.name, bytes=chain.begun.size)
        with suppress(ObjectsAway):  # the next round and the next chain retry
            await self._tell(now=True)
            for name in await self._objects.names():
                if name.startswith(parts.CHAIN) and name.partition("/")[0] < chain.name:
                    await self._objects.delete(name)

    async def _tell(self, *, now: bool = False) -> None:
        chain = next((chain for chain in self._chains if chain.whole), None)
        if chain is None or not (now or trio.current_time() - self._told_at >= IDLE * self._objects.every):
            return
        # Not the present: a change may still wait for the place when a copy is whole.
        at = max(chain.at, self._shipped_at)
        current = parts.Current(chain.name, chain.number, at)
        await self._objects.put(parts.CURRENT, parts.written_record(parts.CURRENT, current, self._shipping.key))
        self._told_at = trio.current_time()
        if not self.state.untold:
            self._well(at)

    async def _until_it_is_there(self, name: str, body: bytes) -> None:
        """Write an object, with retries while the replica is unavailable and the chain can still continue."""
        wait = AGAIN[0]
        while True:
            try:
                await self._objects.put(name, body)
                return
            except ObjectsAway as error:
                self._is_away(error)
            await trio.sleep(wait)
            wait = min(wait * 2, AGAIN[1])

    def _is_away(self, error: ObjectsAway) -> None:
        """Note the failure. Raises ChainBroken once it has lasted too long."""
        self._fails(str(error))
        if broken := self._shipping.broken():
            raise ChainBroken(broken) from None

    def _well(self, at: Millis) -> None:
        if self.state.says not in ("", self._alarm):
            self._world.log("replica.well", place=self.state.place)
        self.state.says, self.state.told_at = self._alarm, at
        self.state.chain = self._chains[0].name

    def _fails(self, says: str) -> None:
        self.state.untold = self._shipping.untold()
        if says != self.state.says:
            self.state.says = says
            self._world.log("replica.behind", level="warning", place=self.state.place, says=says)
