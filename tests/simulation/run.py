"""One seed from beginning to end: builds the world, runs the service in it, and gathers the facts.

`simulate_program` is the whole of it. The world first plays its program, then comes to rest: it continues until nothing
is owed any more, or until patience runs out; then a remaining debt breaks a promise.
"""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace
from functools import partial
from unittest.mock import patch

import msgspec
import trio

from actors.content.changes.memory import decode_memory, settled_of
from actors.messages.workers import ImportMessage
from actors.setting_table import with_values
from actors.settings import Settings
from api.server.server import front
from api.streams import streams
from storage.records.alert import Alert
from storage.records.checks import unpack_memory
from storage.records.destination import Destination, Secret
from storage.records.identity import Millis, SourceId
from supervision import Mailbox
from tests.simulation import scheduling
from tests.simulation.arrivals import Arrivals
from tests.simulation.auditor import audit
from tests.simulation.browser import shown_in
from tests.simulation.chances import chance
from tests.simulation.clients import Caller, Doctor, Service, StreamClient, User
from tests.simulation.deliveries.stage import Stage
from tests.simulation.epilogue import Epilogue
from tests.simulation.facts import Facts, Logged, Shown, ViewChange
from tests.simulation.hangups import hang_ups
from tests.simulation.keyring import Keyring
from tests.simulation.meddler import Meddler
from tests.simulation.network import SimNetwork
from tests.simulation.oracle.owed import owed
from tests.simulation.oracle.promises import Violation, judge, seen_broken
from tests.simulation.origins.collector import Collector
from tests.simulation.origins.everyone import Origins
from tests.simulation.origins.receiver import Receiver
from tests.simulation.origins.texts import EPOCH
from tests.simulation.program import (
    ALERT_WORD,
    CALM,
    COLLECTOR,
    DAY,
    HOOK,
    SERVICE,
    UNWATCHED,
    NodeTrouble,
    Program,
)
from tests.simulation.standby import PLACE, Standby, WatchedDisk, in_the_loop
from tests.simulation.tightness import keeping, paging, tightness
from tests.simulation.trace import Trace
from tests.simulation.world import STOP_BUDGET, Life, Machine
from tests.support.in_loop import Disk, InLoopStorage
from tests.support.in_loop_nodes import SharedDisk

PORT = 8080
LOST_WAKES = 0.4
"""The share of lost wake-ups about another node's commit."""
SETTLES = 3.0
"""Seconds within which all nodes apply a change made at one."""
KEEPALIVE = 300.0
PATIENCE = 2 * DAY
"""Virtual seconds after the program's end within which everything owed must have arrived."""
LOOK_AROUND = 600.0


@dataclass(frozen=True, slots=True)
class Result:
    """The result of a seed."""

    program: Program
    facts: Facts
    violations: Sequence[Violation]
    digest: str
    counts: dict[str, int]
    lines: Sequence[str]
    virtual: float
    """Seconds of the simulated world."""


def simulate_program(
    program: Program,
    *,
    sink: Callable[[str], None] | None = None,
    patience: float = PATIENCE,
    until: Collection[str] = (),
) -> Result:
    """Run one program and judge it. `sink` gets every line of the timeline as it is written.

    until: the letters of promises; the world ends as soon as one of them is seen to be broken, and only they are judged
    then. See `oracle.promises.LATE`.
    """
    trace = Trace(sink)
    simulation = _Simulation(program, trace, patience, until)
    ends = program.ends + patience + DAY
    try:
        small = tightness() if program.tight else keeping(program.keeps) if program.keeps else nullcontext()
        pages = paging() if program.letters and program.letters.readers else nullcontext()
        inline = in_the_loop() if program.has_standby else nullcontext()
        with patch.object(streams, "KEY_CHECK", program.key_check), small, pages, hang_ups(), inline:
            scheduling.run(program.seed, simulation.run, ends=ends)
        facts = simulation.gather()
    except scheduling.Stuck as error:
        facts = simulation.gather()
        facts.deaf.append(str(error))
    finally:
        simulation.close()
    violations = simulation.broken or judge(facts)
    return Result(program, facts, violations, trace.digest, trace.counts, trace.lines, facts.ends)


def checkup_moments(program: Program) -> list[float]:
    """Return when to request the sources' states: every two hours, and around each fault of our own line."""
    moments = [CALM - 60 + hours * 7200.0 for hours in range(int(program.ends / 7200) + 1)]
    for fault in program.faults_at(SERVICE):
        moments += [fault.at - 0.5, fault.at + fault.lasts / 2, fault.ends + 0.5, fault.ends + 60]
    return sorted(moment for moment in moments if CALM / 2 < moment < program.ends)


def _disk_of(program: Program) -> Disk:
    if program.has_standby:
        return WatchedDisk()
    wakes = chance(program.seed, "wake-ups")
    return Disk() if program.nodes == 1 else SharedDisk(lambda: wakes.random() > LOST_WAKES)


def _settings_of(program: Program) -> Settings:
    return with_values(
        Settings(),
        port=PORT,
        base_url=f"http://{SERVICE}:{PORT}",
        keepalive=KEEPALIVE,
        looks_per_second=program.looks_per_second,
        heartbeat_event=program.heartbeat,
        follow_per_hour=program.hops,
        sweep=program.sweep,
        otlp_endpoint=f"https://{COLLECTOR}" if program.traces else "",
        otlp_sampling=program.traces or 1.0,
    )


def _by_service(asked: Iterable[tuple[float, str, str]]) -> Iterator[tuple[float, str]]:
    return ((at, what) for at, who, what in asked if who == SERVICE)


class _Simulation:
    def __init__(self, program: Program, trace: Trace, patience: float, until: Collection[str]) -> None:
        self._program = program
        self._patience = patience
        self._until = until
        self.broken: Sequence[Violation] = ()
        """Promises seen broken before the end."""
        self._trace = trace
        self._network = SimNetwork(chance(program.seed, "network"))
        disk, settings = _disk_of(program), _settings_of(program)
        self._machine = Machine(program, self._network, trace, settings, front, disk, clock_offset=program.season)
        if isinstance(disk, WatchedDisk):
            dice = chance(program.seed, "standby")
            self._machine.standby = Standby(self._network.add(PLACE), disk, dice, trace)
        self._network.add(SERVICE).balanced = program.nodes > 1
        self._keyring = Keyring(self._machine.disk, trace, partial(chance, program.seed))
        self._key, _ = self._keyring.cut("simulation")
        self._hook = Receiver(self._network.add(HOOK), trace)
        self._collector = self._a_collector(program) if program.traces else None
        self._origins = Origins(program, self._network, trace, self._hook, self._collector)
        self._user = User(self._caller("user"), trace)
        self._meddler = self._a_meddler()
        self._doctor = Doctor(self._caller("doctor"))
        self._clients = [
            StreamClient(plan, self._caller(plan.name), trace, self._machine.disk.floor, self._user.find)
            for plan in program.clients
        ]
        self._facts = Facts(program)
        self._arrivals = Arrivals(self._machine.disk)
        self._stage = Stage(
            program.letters,
            program.seed,
            self._network,
            trace,
            disk=self._machine.disk,
            caller=self._caller,
            life=lambda: self._life,
        )
        self._epilogue = Epilogue(
            self._machine,
            self._caller("operator"),
            trace,
            chance(program.seed, "epilogue"),
            self._reborn,
            self._kill_for,
            lambda: self._life is not None and self._life.alive,
            self._machine.standby,
        )
        self._listening = trio.CancelScope()
        self._final: Facts | None = None
        self._rests: dict[int, float] = {}
        self._lives: list[Life | None] = [None] * program.nodes
        self._over = False

    def close(self) -> None:
        """Delete its files on the real disk."""
        if self._machine.standby is not None:
            self._machine.standby.folder.cleanup()

    def _a_collector(self, program: Program) -> Collector:
        self._network.set_apart(COLLECTOR, chance(program.seed, "network/collector"))
        return Collector(self._network.add(COLLECTOR), self._trace)

    def _a_meddler(self) -> Meddler:
        settles = SETTLES if self._program.nodes > 1 else 0.0
        dice, disk = chance(self._program.seed, "meddler"), self._machine.disk
        return Meddler(
            self._caller("meddler"), self._user, self._trace, dice, disk.head, self._importer, settles=settles
        )

    async def run(self) -> None:
        """Play the program, come to rest, stop the service, and stop the world."""
        await self._provision()
        async with trio.open_nursery() as nursery:
            await self._origins.start(nursery)
            for node in range(self._program.nodes):
                nursery.start_soon(self._live, node)
            for task in (self._step_clocks, self._end_lives):
                nursery.start_soon(task)
            nursery.start_soon(self._trouble_nodes, nursery)
            nursery.start_soon(self._go_wrong, nursery)
            nursery.start_soon(self._user.add_all, self._program)
            nursery.start_soon(self._meddler.live, self._program.meddling)
            nursery.start_soon(self._doctor.watch, checkup_moments(self._program))
            await self._stage.start(nursery, self._program.ends)
            nursery.start_soon(self._listen)
            if self._program.epilogue == "restore":
                nursery.start_soon(self._back_up)
            if self._machine.standby is not None:
                nursery.start_soon(self._machine.standby.follow)
            if self._until:
                nursery.start_soon(self._look_for, self._until, nursery.cancel_scope)
            await trio.sleep_until(self._program.ends)
            await self._come_to_rest()
            if self._program.epilogue:
                await self._play_epilogue()
            await self._stop()
            nursery.cancel_scope.cancel()

    async def _look_for(self, letters: Collection[str], world: trio.CancelScope) -> None:
        """End the world when one of these promises is broken."""
        while not self._over:
            await trio.sleep(LOOK_AROUND)
            facts = replace(self.gather(), ends=trio.current_time())
            facts.lives = [*facts.lives, *(life.span_so_far for life in self._alive())]
            facts.members = {**facts.members, **{life.member: (life.node, life.span_so_far) for life in self._alive()}}
            self.broken = seen_broken(facts, letters)
            if self.broken:
                self._over = True
                for life in self._alive():
                    life.kill("the oracle has seen enough")
                world.cancel()

    def gather(self) -> Facts:
        """Return the facts so far; of the epilogue only its own observations."""
        if self._final is not None:
            return self._final
        facts = self._facts
        facts.seen = {name: server.seen for name, server in self._origins.servers.items()}
        facts.seen |= {push.plan.machine: push.seen for push in self._origins.pushers.values()}
        facts.frames = {push.plan.url: push.sent for push in self._origins.pushers.values()}
        facts.asked = [(at, name) for at, name in _by_service(self._network.asked) if name not in UNWATCHED]
        facts.found = sorted((at, name) for at, name in _by_service(self._network.found) if name not in UNWATCHED)
        facts.dialled = list(_by_service(self._network.dialled))
        facts.spans = () if self._collector is None else self._collector.spans
        facts.checkups, facts.told = self._doctor.checkups, self._machine.told
        facts.receipts, facts.letters = self._hook.receipts, self._stage.letters
        facts.taken = {client.plan.name: client.taken for client in self._clients}
        facts.connections = {client.plan.name: client.connections for client in self._clients}
        facts.revoked = self._keyring.revoked
        facts.expired = {client.plan.name: client.expired for client in self._clients}
        facts.added, facts.refused, facts.alerts = self._user.added, self._user.refused, self._user.alerts
        facts.lives = self._machine.spans
        facts.asked_by = self._network.asked_by
        facts.members = self._machine.members
        if isinstance(self._machine.disk, SharedDisk):
            facts.views = [ViewChange(*view) for view in self._machine.disk.views]
        facts.spells, facts.deleted = self._meddler.spells, self._meddler.deleted
        facts.untrue, facts.picked = self._meddler.untrue, self._meddler.picked
        facts.titled = self._meddler.titled
        facts.visits = {url: gate.visits for url, gate in self._origins.gates.items()}
        if any(plan.pictures for plan in self._program.origins):
            facts.pictures, facts.floor = self._pictures(), self._machine.disk.floor()
        facts.deaf = [*self._machine.faults, *self._user.unheard, *self._meddler.wrong]
        facts.clock = [(0.0, self._program.season), *self._machine.clock]
        facts.actor_crashes = self._machine.actor_crashes
        if isinstance(self._machine.disk, WatchedDisk) and self._machine.standby is not None:
            facts.followed, facts.commits = self._machine.standby.steps, self._machine.disk.commits
        self._read_log()
        return facts

    def _read_log(self) -> None:
        """Read the disk itself: only durable events count."""
        self._facts.log.extend(Logged(seq, body) for seq, body in self._arrivals.take())

    def _pictures(self) -> Sequence[Shown]:
        rows = self._machine.disk.connection.execute(
            "SELECT k.id, p.seq, p.body FROM picture p JOIN source_key k ON k.key=p.key ORDER BY p.number"
        )
        return [Shown(source, seq, shown_in(body)) for source, seq, body in rows.fetchall()]

    def _remember(self) -> None:
        """Record the stored text of each scripted page, and the number of events in the log."""
        if self._final is not None:
            return
        self._read_log()
        told: dict[str, Sequence[str]] = {}
        for plan in self._program.origins:
            added = self._user.added.get(plan.url) if plan.scenes else None
            watched = None if added is None else self._machine.disk.sources().get(SourceId(added.id))
            memory = None if watched is None else decode_memory(unpack_memory(watched.base).tier)
            told[plan.url] = () if memory is None else settled_of(memory).texts
        self._facts.remembered.append((len(self._facts.log), told))

    def _caller(self, name: str) -> Caller:
        service = Service(SERVICE, PORT, self._key, KEEPALIVE)
        return Caller(self._network.side(f"{name}.people.org"), service)

    async def _provision(self) -> None:
        """Do the command line's work before the first start: a key, an alert, a destination."""
        disk, now = self._machine.disk, Millis(int(EPOCH * 1000))
        storage = InLoopStorage(disk, disk.start("provisioning"))
        await storage.alerts.put(Alert("alert", "Storms", ALERT_WORD, "en", (), now, now))
        secret = Secret("whsec_" + b64encode(chance(self._program.seed, "secret").randbytes(24)).decode())
        for number in range(self._program.hooks):
            url = f"https://{HOOK}/{number or ''}"
            await storage.alerts.put_destination(
                Destination(f"hook{number or ''}", "alert", "webhook", url, "instant", HOOK, (secret,), now, now)
            )
        await self._stage.provision(storage)
        await storage.aclose()

    # --- the service's lives -------------------------------------------------------------------------------------

    @property
    def _life(self) -> Life | None:
        """The present life; of several nodes the oldest live one."""
        return next(iter(sorted(self._alive(), key=lambda life: life.number)), self._lives[0])

    def _alive(self) -> list[Life]:
        return [life for life in self._lives if life is not None and life.alive]

    async def _live(self, node: int) -> None:
        """One life after another; a dead one's clean-up may overlap with the next, as nothing of it gets out."""
        dice = chance(self._program.seed, f"downtime/{node}" if node else "downtime")
        async with trio.open_nursery() as nursery:
            while not self._over:
                life = self._lives[node] = Life(self._machine, node)
                nursery.start_soon(self._bury, life)
                await life.over.wait()
                self._remember()
                rests = self._rests.pop(node, None)
                drawn = dice.choice((dice.uniform(0.05, 3), dice.uniform(3, 900)))
                await trio.sleep(drawn if rests is None else rests)

    async def _trouble_nodes(self, nursery: trio.Nursery) -> None:
        for trouble in self._program.troubles:
            await trio.sleep_until(trouble.at)
            if trouble.kind == "outage":
                nursery.start_soon(self._outage, trouble)
                continue
            life = self._lives[trouble.node]
            if life is None or not life.alive:
                continue
            match trouble.kind:
                case "kill":
                    self._rests[trouble.node] = trouble.lasts
                    life.kill("kill -9")
                case "leave":
                    self._rests[trouble.node] = trouble.lasts
                    life.stop()
                case "freeze":
                    life.freeze(trouble.lasts)
                case "stuck":
                    life.freeze_at_append(trouble.lasts)
                case "cut":
                    nursery.start_soon(self._cut, life, trouble)

    async def _outage(self, trouble: NodeTrouble) -> None:
        disk = self._machine.disk
        assert isinstance(disk, SharedDisk)
        self._trace.note("machine", "has no database", lasts=f"{trouble.lasts:.1f}s")
        disk.outage = True
        await trio.sleep_until(trouble.ends)
        disk.outage = False

    async def _cut(self, life: Life, trouble: NodeTrouble) -> None:
        disk = self._machine.disk
        assert isinstance(disk, SharedDisk)
        life.cut(disk, off=True)
        await trio.sleep_until(trouble.ends)
        cuts = (each for each in self._program.troubles if each.kind == "cut" and each.node == trouble.node)
        if not any(cut.at <= trouble.ends < cut.ends for cut in cuts):
            life.cut(disk, off=False)

    async def _bury(self, life: Life) -> None:
        """Run a life, and check that its tasks end soon after it does."""
        async with trio.open_nursery() as nursery:
            nursery.start_soon(life.run)
            await life.over.wait()
            with trio.move_on_after(STOP_BUDGET) as patience:
                await life.gone.wait()
            if patience.cancelled_caught:
                self._machine.faults.append(f"life {life.number} was not gone {STOP_BUDGET:.0f} s after its end")
                nursery.cancel_scope.cancel()

    async def _go_wrong(self, nursery: trio.Nursery) -> None:
        for fault in self._program.faults:
            await trio.sleep_until(fault.at)
            self._trace.note(fault.where, f"suffers {fault.kind}", lasts=f"{fault.lasts:.0f}s")
            if fault.kind == "power cut":
                if self._life is not None:
                    self._life.kill("power cut", unsynced_is_lost=True)
            elif fault.kind == "disk full":
                self._machine.fill_disk(fault.lasts)
                nursery.start_soon(self._free_disk, fault.at + fault.lasts)
            else:
                self._network.hosts[fault.where].suffer(fault.kind, fault.lasts)
            if fault.kind == "hangs" and fault.where in self._origins.pushers:
                self._origins.pushers[fault.where].hang()

    async def _free_disk(self, at: float) -> None:
        await trio.sleep_until(at)
        self._machine.free_disk()

    async def _step_clocks(self) -> None:
        for step in self._program.steps:
            await trio.sleep_until(step.at)
            self._machine.step_clock(step.by)

    async def _end_lives(self) -> None:
        for ending in self._program.endings:
            await trio.sleep_until(ending.at)
            if self._life is not None:
                if ending.politely:
                    self._life.stop()
                else:
                    self._life.kill("kill -9")

    # --- the end -------------------------------------------------------------------------------------------------

    async def _come_to_rest(self) -> None:
        self._trace.note("world", "the program is over")
        with trio.move_on_after(self._patience):
            await self._stage.put_right()
            while self._meddler.busy or next(self._owed(), None):  # noqa: ASYNC110  # no event from outside
                await trio.sleep(LOOK_AROUND)
        self._facts.overdue = list(self._owed())
        self._facts.ends = trio.current_time()
        self._remember()
        await self._stage.ask_at_last()
        await self._meddler.look_back()
        self._facts.jwks = await self._user.learn("/.well-known/jwks.json")
        for url, added in self._user.added.items():
            self._facts.health[url] = await self._user.learn(f"/v1/sources/{added.id}/health")
        self._facts.audited = await audit(
            self._user.added,
            self._user.learn,
            chance(self._program.seed, "auditor"),
            lambda: trio.current_time() + self._machine.clock_offset,
            lambda receipt: len(msgspec.json.encode(receipt)),
        )
        self._trace.note("world", "has come to rest", owed=len(self._facts.overdue))

    def _importer(self) -> Mailbox[ImportMessage] | None:
        return None if self._life is None else self._life.importer

    async def _listen(self) -> None:
        """Let all clients live, until the epilogue."""
        with self._listening:
            async with trio.open_nursery() as nursery:
                for client in self._clients:
                    if client.plan.revocations:
                        nursery.start_soon(self._keyring.look_after, client)
                    nursery.start_soon(client.run, self._program.ends)

    async def _back_up(self) -> None:
        await trio.sleep_until(0.9 * self._program.ends)
        self._epilogue.back_up()

    async def _play_epilogue(self) -> None:
        self._final = self.gather().frozen()
        self._final.lives += [life.span_so_far for life in self._alive()]
        self._listening.cancel()
        self._final.afterwards = await self._epilogue.play(self._program.epilogue)

    def _kill_for(self, seconds: float) -> None:
        """End the life; the next one begins after so many seconds."""
        assert self._life is not None
        self._rests[0] = seconds
        self._life.kill("the machine is gone")

    async def _reborn(self, between: Callable[[], None]) -> None:
        """End the life, do something, and let the next one begin."""
        assert self._life is not None
        self._life.kill("the operator wants it")
        between()
        await trio.sleep(1200)  # longer than any downtime

    def _owed(self) -> Iterator[str]:
        return owed(self.gather())

    async def _stop(self) -> None:
        self._over = True
        for life in self._alive():
            life.stop()
            with trio.move_on_after(STOP_BUDGET):
                await life.over.wait()
            if life.alive:
                self._machine.faults.append(f"life {life.number} did not stop within {STOP_BUDGET:.0f} s")
                life.kill("it did not stop")
