"""The simulated machine and the lives of the service on it: a `World` made from a seed, a disk that outlives a crash.

A crash is like `kill -9`: connections are reset, listeners gone, the unsynced tail of the disk lost, the disk fenced
against the dead life's clean-up, and its tasks cancelled abruptly.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cache

import trio

from actors.catalogue import Catalogue
from actors.destination_kinds.email import Mail, MailServer
from actors.destination_kinds.messengers.messenger import Messenger, built_in
from actors.destination_kinds.table import kinds_of
from actors.messages.workers import ImportMessage, RecorderMessage
from actors.recorder.actor import signing_keys
from actors.settings import Settings
from actors.system import Front, Superseded, System
from actors.templates.template import Template
from actors.templates.template import built_in as built_in_templates
from actors.world import World
from storage.errors import STANDSTILL
from storage.sql.storage import Storage
from storage.sqlite.engine import translated
from supervision import Escalate, Mailbox
from tests.simulation.browser import SimBrowser
from tests.simulation.chances import chance
from tests.simulation.disk_troubles import DiskTroubles
from tests.simulation.facts import LifeSpan
from tests.simulation.network import SimListener, SimNetwork
from tests.simulation.origins.texts import EPOCH
from tests.simulation.program import CALM, SERVICE, SOON, Program
from tests.simulation.standby import SimObjects, SimShipping, Standby
from tests.simulation.trace import Trace
from tests.support.in_loop import Disk, InLoopStorage
from tests.support.in_loop_nodes import InLoopNode, SharedDisk
from tests.support.inline_jail import InlineJail
from tests.support.passwords import NoPasswords

ACTORS = ("recorder/", "matcher/", "delivery/")
"""Points inside an actor, where it alone may crash; those of the storage are inside a promise of the engine."""
HEAL = 300.0
"""Least virtual seconds between two crashes of actors, so that the tree never has a reason to give up."""
STOP_BUDGET = 60.0
"""Virtual seconds within which a requested stop, or the clean-up of a dead life, must be over."""
REFUSED = "can't start"
"""The report of a life that cannot read its data."""
POST = MailServer("post.people.org", 587, "starttls", "watch@sanderling.test")
"""The mail server, in worlds that have one."""
_ADDRESSES = re.compile(r"0x[0-9a-f]{6,}")


@dataclass(slots=True, eq=False)
class Machine:
    """The state that outlives a life: the disk, the clock's setting, and the number of starts.

    clock: (when, seconds that it is ahead since then). faults: sentences about a life's offences (it gave up, or did
    not end). spans: the lives that are over. told: (when, event) of its log's lines from warnings up. members: the same
    lives by their names, with their nodes.
    """

    program: Program
    network: SimNetwork
    trace: Trace
    settings: Settings
    front: Front
    disk: Disk
    clock_offset: float = 0.0
    clock: list[tuple[float, float]] = field(default_factory=list)
    lives: int = 0
    spans: list[LifeSpan] = field(default_factory=list)
    faults: list[str] = field(default_factory=list)
    actor_crashes: list[float] = field(default_factory=list)
    told: list[tuple[float, str]] = field(default_factory=list)
    members: dict[str, tuple[int, LifeSpan]] = field(default_factory=dict)
    standby: Standby | None = None

    def wall(self) -> float:
        """Return the service's clock."""
        return EPOCH + self.clock_offset + trio.current_time()

    def fill_disk(self, lasts: float) -> None:
        """Fill the disk for a while."""
        self.network.hosts[SERVICE].suffer("disk full", lasts)
        self.disk.full = True

    def free_disk(self) -> None:
        """Free the disk, if no such fault lasts any longer."""
        self.disk.full = self.network.hosts[SERVICE].suffers("disk full")

    def healed(self) -> bool:
        """Return whether the last crash of an actor is long enough ago."""
        return not self.actor_crashes or trio.current_time() > self.actor_crashes[-1] + HEAL

    def step_clock(self, by: float) -> None:
        self.clock_offset += by
        self.clock.append((trio.current_time(), self.clock_offset))
        self.trace.note("machine", "sets its clock", by=f"{by:+.3f}s")


class ActorCrash(Exception):
    """A bug in an actor, injected."""


class Life:
    """One process of the service, from its start to its end. node: its number among several."""

    def __init__(self, machine: Machine, node: int = 0) -> None:
        machine.lives += 1
        self.machine, self.node = machine, node
        self.number = machine.lives
        self.alive = True
        self.over = trio.Event()
        """Set when the life ends; `gone` when nothing of it runs any more."""
        self.gone = trio.Event()
        self.storage: Storage | None = None
        self._epoch = 0
        self._stuck: tuple[float, float] | None = None
        self._system: System | None = None
        self._scope = trio.CancelScope()
        self._began = trio.current_time()
        self._side = machine.network.side(SERVICE)
        self._point_dice = chance(machine.program.seed, f"points/{self.number}")
        self._sync_dice = chance(machine.program.seed, f"sync/{self.number}")
        self._troubles = DiskTroubles(
            machine.disk,
            self._side,
            self._sync_dice,
            chance(machine.program.seed, f"disk/{self.number}"),
        )
        self._entropy_dice = chance(machine.program.seed, f"entropy/{self.number}")
        self.world = self._make_world()

    @property
    def span_so_far(self) -> LifeSpan:
        """This life as one that has no end yet."""
        return LifeSpan(self._began, math.inf, politely=True, why="goes on")

    @property
    def member(self) -> str:
        """The name of this life among several; "" for a single one, or before it reaches its storage."""
        return self._side.member

    @property
    def recorder(self) -> Mailbox[RecorderMessage] | None:
        """The mailbox for this life's harvests; None while it boots."""
        return None if self._system is None else self._system.recorder_box

    @property
    def importer(self) -> Mailbox[ImportMessage] | None:
        """The mailbox for lists of sources; None while it boots, and when it is over."""
        return self._system.importer_box if self._system is not None and self.alive else None

    async def run(self) -> None:
        """Boot the product's own composition root and run it to its end."""
        trace = self.machine.trace
        trace.note("machine", "starts the service", life=self.number)
        try:
            with self._scope:
                try:
                    self.storage = await self.world.open_storage()
                    keys = await signing_keys(self.world, self.storage)
                except STANDSTILL as error:  # as when the command exits; the service manager restarts it
                    trace.note("service", "can't start", error=error)
                    self.machine.told.append((trio.current_time(), REFUSED))
                    self._end(politely=False, why="could not start")
                    return
                machine = self.machine
                kinds = kinds_of(_messengers(), Mail(POST, _no_login, machine.settings.base_url))
                self._system = System(
                    self.world,
                    machine.settings,
                    self.storage,
                    keys,
                    machine.front,
                    templates=_templates(),
                    kinds=kinds,
                )
                await self._system.run()
                await self.storage.aclose()
        except* Escalate as group:
            why = str(group.exceptions[0])
            trace.note("service", "gives up", why=why)
            self.machine.faults.append(f"life {self.number} gave up: {why}")
            self._end(politely=False, why="gave up")
        except* Superseded as group:
            trace.note("service", "gives way", why=group.exceptions[0])
            self._end(politely=False, why="a standby took over")
        finally:
            self.gone.set()
        if self.alive:
            self._end(politely=True, why="stopped")

    def kill(self, why: str, *, unsynced_is_lost: bool = False) -> None:
        """End this life at once, as `kill -9` does; `unsynced_is_lost`: as a power cut, which loses unsynced data."""
        if not self.alive:
            return
        self.machine.trace.note("machine", "kills the service", life=self.number, why=why)
        disk = self.machine.disk
        if isinstance(disk, SharedDisk):
            disk.killed.add(self._epoch)
        else:
            disk.crash(None if unsynced_is_lost else self._sync_dice)
        self._end(politely=False, why=why)
        if self._system is not None:
            self._system.stop(now=True)
        self._scope.cancel()

    def stop(self) -> None:
        """Ask this life to stop, as SIGTERM does."""
        if self.alive and self._system is not None:
            self.machine.trace.note("machine", "asks the service to stop", life=self.number)
            self._system.stop()

    def freeze(self, seconds: float) -> None:
        """Let no call of this life return for a while, from the network or the disk, as SIGSTOP does."""
        self.machine.trace.note("machine", "stops a node", life=self.number, lasts=f"{seconds:.1f}s")
        self._side.frozen_until = trio.current_time() + seconds

    def freeze_at_append(self, seconds: float) -> None:
        """Freeze at the beginning of the next append, if that comes soon."""
        self._stuck = (trio.current_time() + SOON, seconds)

    def cut(self, disk: SharedDisk, *, off: bool) -> None:
        """Cut this life off from the database, or reconnect it."""
        self.machine.trace.note("machine", "cuts off a node" if off else "joins a node", life=self.number)
        (disk.away.add if off else disk.away.discard)(self._epoch)
        self._side.cut_off = off

    def _end(self, *, politely: bool, why: str) -> None:
        self.alive = False
        self._side.die()
        span = LifeSpan(self._began, trio.current_time(), politely, why)
        self.machine.spans.append(span)
        if self.member:
            self.machine.members[self.member] = (self.node, span)
        self.over.set()

    def _make_world(self) -> World:
        return World(
            wall=self.machine.wall,
            chance=lambda name: chance(self.machine.program.seed, f"life/{self.number}/{name}"),
            entropy=self._entropy_dice.randbytes,
            resolver=self._side,
            connector=self._side,
            listen=self._listen,
            jail=InlineJail(),
            open_storage=self._open_storage,
            reach=self._reach,
            log=self._log,
            passwords=NoPasswords(),
            keep_idle=0.0,
            browser=SimBrowser(self.machine.network, self._side) if self.machine.program.browses else None,
            replica=self._replica(),
        )

    def _replica(self) -> SimObjects | None:
        standby = self.machine.standby
        if standby is None:
            return None
        dice = chance(self.machine.program.seed, f"replica/{self.number}")
        return SimObjects(standby.objects, standby.host, dice, lambda: self.alive)

    async def _listen(self, host: str, port: int) -> Sequence[SimListener]:
        return await self._side.listen(host, port)

    async def _open_storage(self) -> Storage:
        disk, troubles = self.machine.disk, self._troubles
        with translated():
            lease = disk.start(f"life {self.number}")
            self._epoch = lease.epoch
            if isinstance(disk, SharedDisk):
                node = InLoopNode(disk, lease, sync=troubles.sync, reach=self._reach, seek=troubles.seek)
                self._side.member = node.members.me
                return node
            storage = InLoopStorage(disk, lease, sync=troubles.sync, reach=self._reach, seek=troubles.seek)
            if self.machine.standby is not None:
                storage.shipping = SimShipping(storage, self.machine.standby.saw)
            return storage

    def _reach(self, point: str) -> None:
        program = self.machine.program
        if self._stuck is not None and point == "append/before sync":
            (until, seconds), self._stuck = self._stuck, None
            if trio.current_time() < until:
                self.freeze(seconds)
        if not self.alive or not CALM < trio.current_time() < program.ends:
            return
        drawn = self._point_dice.random()
        if drawn < program.point_crash / 2:
            self.kill(f"at {point}")
        elif drawn < program.point_crash and point.startswith(ACTORS) and self.machine.healed():
            self.machine.actor_crashes.append(trio.current_time())
            self.machine.trace.note("machine", "crashes an actor", at=point)
            raise ActorCrash(point)

    def _log(self, event: str, **fields: object) -> None:
        level = fields.pop("level", "")
        if self.alive and level != "debug":
            if level in ("warning", "error"):
                self.machine.told.append((trio.current_time(), event))
            self.machine.trace.note("service", event, **{key: _tame(value) for key, value in fields.items()})


@cache
def _messengers() -> Catalogue[Messenger]:
    return built_in()


@cache
def _templates() -> Catalogue[Template]:
    return built_in_templates()


async def _no_login() -> None:
    await trio.lowlevel.checkpoint()


def _tame(value: object) -> str:
    """Show a value without addresses in memory, which differ from run to run."""
    return _ADDRESSES.sub("0x", str(value))[:200]
