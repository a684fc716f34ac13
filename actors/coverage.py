"""The times when the service ran (its shifts), and heartbeats: signed events at regular times, and calls to a monitor.

Each heartbeat names the previous one and its number, so a reader of two knows whether one is missing between. The log
is the only memory: after a restart, a missing answer, or where another node may have written, the newest is read again,
and a new one is committed only as its successor. No event is written and no request sent while the service is not
ready, is drained, or stops: silence is the alarm.

Each minute the wall clock is compared with elapsed time; a step ends the shift and begins the next. The registry's
sweeps report when all checks are stored; a crash loses only the later ones. Until storage has the start of a shift, its
time counts as unknown: coverage never guesses. Deliveries and digests, which wait by the wall clock, learn of its steps
from `ClockWatch`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Final, NamedTuple

import msgspec
import trio
from msgspec import Struct
from msgspec.structs import replace

from actors import notices
from actors.destination_kinds.kind import Poster
from actors.egress.failures import CheckFailed, CheckRefused
from actors.egress.traffic import Egress
from actors.egress.url import Url, parse_url
from actors.errors import UrlRefused
from actors.messages.workers import Record as ViewRecord
from actors.messages.workers import RecorderMessage
from actors.settings import Settings
from actors.world import World
from storage.errors import STANDSTILL
from storage.ownership import HEARTBEAT as HEARTBEAT_KEY
from storage.records.coverage import DEAD, UNSTORED, Record, Shift, record_of, stepped
from storage.records.event import EVERYTHING, HEARTBEAT, Draft, Heartbeat, Stored, id_in
from storage.records.identity import SERVICE, START, Millis, Seq, parse_rfc3339, rfc3339
from storage.records.source import Harvest
from storage.sql.storage import Storage
from supervision import Child, ChildSpec, Mailbox, Unanswered

TAG: Final = "kind:heartbeat"


class Last(NamedTuple):
    """The newest heartbeat in the log: its position, id, number, and its due and emitted times."""

    seq: Seq = START
    id: str | None = None
    number: int = 0
    due: Millis = Millis(0)
    at: Millis = Millis(0)


class _HeartbeatBody(Struct):
    id: str
    emitted_at: str
    heartbeat: Heartbeat


_decoder = msgspec.json.Decoder(_HeartbeatBody)


def last_of(event: Stored | None) -> Last:
    if event is None:
        return Last()
    body = _decoder.decode(event.body)
    beat = body.heartbeat
    return Last(event.seq, body.id, beat.number, parse_rfc3339(beat.due_at), parse_rfc3339(body.emitted_at))


def until_due(last: Last, every: Millis, now: Millis) -> Millis:
    """Return the milliseconds until the next heartbeat is due; 0: now, or overdue."""
    if last.seq == START or last.at > now:
        return Millis(0)
    return Millis(max(0, min(every, last.due + every - now)))


def draft_of(beat: Heartbeat, skipped: int, base_url: str, now: Millis) -> Draft:
    """Return a heartbeat as an event. skipped: earlier ones that were due while the process was suspended."""
    failing = f", {beat.failing:,} of them failing" if beat.failing else ""
    text = (
        f"{beat.watched:,} sources are watched{failing}; {beat.looks:,} checks have finished since {beat.looks_since}."
    )
    if skipped:
        text += f" Skipped before it: {skipped:,}; the process stood still when they were due."
    notice = notices.notice_draft(HEARTBEAT, base_url, f"Heartbeat {beat.number:,}", text, now)
    return replace(notice, tags=(TAG,), heartbeat=beat)


AGAIN = 5.0  # seconds until readiness is tested again, and after a write or a request that may have failed
ANSWERS_WITHIN = 30.0  # seconds for one write


def heartbeat_children(
    world: World,
    settings: Settings,
    storage: Storage,
    recorder: Mailbox[RecorderMessage],
    *,
    readiness: Callable[[], Mapping[str, str]],
    sources: Callable[[], tuple[int, int, int]],
) -> Sequence[ChildSpec]:
    if not (every := settings.heartbeat_event):
        return ()
    url = settings.public_url()
    writer = HeartbeatWriter(world, storage, recorder, readiness, sources, every=every, base_url=url)
    return (ChildSpec("heartbeats", storage.ownership.while_owned(HEARTBEAT_KEY, writer.run)),)


class HeartbeatWriter:
    """Writes heartbeats. every: s. readiness: checks by name; "" means healthy. sources: watched, failing, paused."""

    def __init__(
        self,
        world: World,
        storage: Storage,
        recorder: Mailbox[RecorderMessage],
        readiness: Callable[[], Mapping[str, str]],
        sources: Callable[[], tuple[int, int, int]],
        *,
        every: float,
        base_url: str,
    ) -> None:
        self._world, self._storage, self._recorder = world, storage, recorder
        self._readiness, self._sources = readiness, sources
        self._every, self._base_url = Millis(round(1000 * every)), base_url
        self._began = self._counted_at = world.now()
        self._counted = 0.0

    async def run(self, child: Child) -> None:
        while True:
            try:
                last = last_of(await self._storage.log.heartbeat())
                await trio.sleep(until_due(last, self._every, self._world.now()) / 1000)
                await self._on_from(child, last)
            except (*STANDSTILL, Unanswered, trio.TooSlowError) as error:
                child.note(f"not written: {error}"[:200])
                await trio.sleep(AGAIN)

    async def _on_from(self, child: Child, last: Last) -> None:
        """Write a due heartbeat, and the next ones by a monotonic clock, until another node has written one. Raises
        StorageError, Unanswered, trio.TooSlowError.
        """
        due = trio.current_time()
        while True:
            await trio.sleep_until(due)
            if withheld := next((says for says in self._readiness().values() if says), ""):
                child.note(f"withheld: {withheld}"[:200])
                due = trio.current_time() + AGAIN
                continue
            # No heartbeat is written later for a time when the process was suspended.
            skipped = int((trio.current_time() - due) / (self._every / 1000))
            due += skipped * self._every / 1000
            late = round(1000 * (trio.current_time() - due))
            written = await self._write(last, Millis(self._world.now() - late), skipped)
            if written is None:
                return
            last = written
            child.note(f"wrote the one of number {last.number:,}")
            due += self._every / 1000

    async def _write(self, last: Last, due: Millis, skipped: int) -> Last | None:
        """Commit the next heartbeat and return it; None if `last` is no longer the newest one in the log."""
        looks, now = self._world.metrics.looks.total(), self._world.now()
        watched, failing, paused = self._sources()
        beat = Heartbeat(
            number=last.number + 1,
            every_seconds=self._every // 1000,
            due_at=rfc3339(due),
            before=last.id,
            head=await self._head(),
            running_since=rfc3339(self._began),
            looks=round(looks - self._counted),
            looks_since=rfc3339(self._counted_at),
            watched=watched,
            failing=failing,
            paused=paused,
        )
        harvest = Harvest(SERVICE, (draft_of(beat, skipped, self._base_url, now),), None, follows=last.seq)
        with trio.fail_after(ANSWERS_WITHIN):
            events: Sequence[Stored] = await self._recorder.ask(lambda reply: ViewRecord(harvest, reply))
        if not events:
            return None
        self._counted, self._counted_at = looks, now
        return last_of(events[0])

    async def _head(self) -> str | None:
        log = self._storage.log
        page = await log.read_back(Seq((await log.bounds()).newest + 1), 1, EVERYTHING)
        return id_in(page.events[0].body) if page.events else None


class MonitorCalls:
    """The calls to an external monitor. every: seconds. readiness: checks by name; "" means healthy."""

    def __init__(
        self, world: World, poster: Poster, url: Url, every: float, readiness: Callable[[], Mapping[str, str]]
    ) -> None:
        self._world, self._poster, self._url, self._every = world, poster, url, every
        self._readiness = readiness
        self._last_reason = ""

    async def run(self, child: Child) -> None:
        due = trio.current_time() + min(AGAIN, self._every / 2)  # later parts need time to start
        while True:
            await trio.sleep_until(due)
            if unready := next((says for says in self._readiness().values() if says), ""):
                self._report(child, "withheld", unready)
            else:
                if reason := await self._send():
                    await trio.sleep(min(AGAIN, self._every / 2))
                    reason = await self._send()
                self._report(child, "failed" if reason else "sent", reason)
            due = max(due + (min(AGAIN, self._every) if unready else self._every), trio.current_time())

    async def _send(self) -> str:
        try:
            answer = await self._poster.post(self._url, {}, b"", "GET")
        except (CheckFailed, CheckRefused, UrlRefused) as error:
            return str(error)
        return "" if answer.status // 100 == 2 else f"it answered {answer.status}"

    def _report(self, child: Child, outcome: str, reason: str) -> None:
        """Count it; log changes. The URL may be a secret, so only its host is shown."""
        self._world.metrics.heartbeats.add(outcome)
        child.note(f"{outcome}: {reason}"[:200] if reason else "the last sign arrived")
        if reason != self._last_reason:
            level = "warning" if reason else "info"
            self._world.log(f"heartbeat.{outcome}", level=level, host=self._url.host, says=reason)
        self._last_reason = reason


def monitor_children(
    world: World, settings: Settings, egress: Egress, readiness: Callable[[], Mapping[str, str]]
) -> Sequence[ChildSpec]:
    if not settings.heartbeat_url:
        return ()
    url = parse_url(settings.heartbeat_url, schemes=("http", "https"))
    poster = egress.deliver if url.scheme == "https" else egress.deliver_plain
    calls = MonitorCalls(world, poster, url, settings.heartbeat_every, readiness)
    return (ChildSpec("heartbeat", calls.run),)


EVERY: Final = 60.0  # seconds between checks of the clock; `UNSEEN` is twice that
STEP: Final = 1000  # milliseconds of difference that count as a step; a steered clock drifts slower
PARKED: Final = 5.0  # seconds between attempts while storage is unavailable


MOST: Final = 50  # shifts held in memory; a clock that is set often makes many


class Sweep(NamedTuple):
    """A sweep that has begun: its shift in this process, and its time. last: no check follows."""

    shift: int
    at: Millis
    last: bool


class Shifts:
    """The shifts of this process. node: "" for a single service. Outlives restarts of the actor."""

    def __init__(self, world: World, storage: Storage, node: str = "") -> None:
        self._world, self._storage, self._node = world, storage, node
        self._shifts: list[Shift] = []
        self._stored: list[Shift] = []
        self._crashed: Shift | None = None
        """The last shift before this process, if a crash ended it."""
        self._ahead: Shift | None = None
        """The same, once its clock is known to have been ahead of the current one."""
        self._dropped = 0
        self._is_complete = False
        self._began_at: Millis | None = None
        self._checked, self._tick = Millis(0), 0.0

    async def run(self, child: Child) -> None:
        await self.begin(child)
        while True:
            await trio.sleep(EVERY)
            self.check()
            await self._store()

    async def begin(self, child: Child) -> None:
        """Begin the first shift of this process. While storage is unavailable, retry and let the tree continue."""
        self._began_at = self._now() if self._began_at is None else self._began_at
        while not self._shifts:
            try:
                stored = await self._storage.coverage.shifts()
                shift = await self._storage.coverage.begin(self._node, self._began_at)
            except STANDSTILL as error:
                self._world.log("shift.parked", level="debug", error=str(error))
                child.ready()
                await trio.sleep(PARKED)
            else:
                self._shifts, self._stored = [shift], [shift]
                if shift.after == "crash" and not self._node:  # nodes share one record, and sweep each minute
                    self._crashed = next((shift for shift in reversed(stored) if not shift.node), None)
        child.ready()

    def note_check(self, at: Millis) -> None:
        """Take a source's last stored check, for all sources after a start. After a crash, a check ahead of the clock
        shows that the clock was set back unnoticed; one further ahead than a shift can run without a sweep is older.
        """
        crashed = self._ahead or self._crashed
        if crashed is not None and self._world.now() < at <= crashed.saved + UNSTORED and at > crashed.reach:
            self._ahead = crashed._replace(until=at)

    def _now(self) -> Millis:
        self._checked, self._tick = self._world.now(), trio.current_time()
        return self._checked

    def check(self) -> Millis:
        """Return the time after checking the clock; a step ends the shift and begins the next."""
        before, passed = self._checked, round(1000 * (trio.current_time() - self._tick))
        now = self._now()
        if self._began_at is None:
            return now
        if abs(now - before - passed) > STEP:
            if self._shifts:
                self._shifts[-1:] = stepped(self._shifts[-1], before, passed, now)
            else:
                self._began_at = now
        return now

    def begin_sweep(self, *, last: bool = False) -> Sweep:
        """Return the argument for `end_sweep`, once all checks until now are stored."""
        now = self.check()  # which may begin a shift
        return Sweep(self._dropped + len(self._shifts), now, last)

    def end_sweep(self, sweep: Sweep) -> None:
        count = sweep.shift - self._dropped
        if count < 1:
            return
        last = self._shifts[count - 1]
        saved = max(last.saved, sweep.at if last.until is None else min(sweep.at, last.until))
        self._shifts[:count] = [*(shift.whole for shift in self._shifts[: count - 1]), last._replace(saved=saved)]
        self._is_complete = sweep.last and count == len(self._shifts)

    async def _store(self) -> None:
        try:
            ahead = self._ahead  # it may change while it is being stored
            if ahead is not None and ahead != self._crashed:
                await self._storage.coverage.save(ahead)
                self._crashed = ahead
            for number, shift in enumerate(self._shifts):
                if number == len(self._stored):
                    before = self._shifts[number - 1]  # a sweep may change it while the step is being stored
                    new = await self._storage.coverage.step(before, shift)
                    self._stored[-1:] = [before, new]
                    self._shifts[number] = self._shifts[number]._replace(number=new.number)
                elif shift != self._stored[number] and not number + 1 == len(self._stored) < len(self._shifts):
                    # One that a clock step has ended since is stored together with the next one. Otherwise a crash
                    # between the two would turn the step into a stop.
                    await self._storage.coverage.save(shift)
                    self._stored[number] = shift
        except STANDSTILL as error:
            self._world.log("shift.not_stored", level="debug", error=str(error))
        while len(self._shifts) > MOST and self._shifts[0] == self._stored[0] == self._shifts[0].whole:
            del self._shifts[0], self._stored[0]
            self._dropped += 1

    async def end(self) -> None:
        """End the shift if all of its checks are stored; else it ends as in a crash."""
        if self._is_complete:
            self._shifts[-1] = self._shifts[-1]._replace(until=self._shifts[-1].saved)
        if self._shifts:
            await self._store()

    async def record(self) -> tuple[Record, Millis]:
        """Return the shifts, and their time limit, set by the other nodes' last stores. All checks of this process
        count as stored while it lives. Raises StorageError.
        """
        stored = await self._storage.coverage.shifts()
        now = self.check()
        held = {shift.number for shift in self._shifts}
        others = [shift for shift in stored if shift.number not in held]
        if self._ahead is not None:
            others = [self._ahead if shift.number == self._ahead.number else shift for shift in others]
        alive = [shift for shift in others if shift.node and shift.until is None and shift.saved > now - DEAD]
        first = max((shift.number for shift in (*others, *self._shifts)), default=0) + 1
        own = [shift.whole for shift in self._shifts]
        own = [shift._replace(number=shift.number or first + place) for place, shift in enumerate(own)]
        own[-1:] = [shift._replace(saved=now) for shift in own[-1:]]
        shifts = sorted((*others, *own), key=lambda shift: shift.number)
        running = [shift.number for shift in (*alive, *own[-1:])]
        return record_of(shifts, now, running), min((shift.saved for shift in alive), default=now)


LEAST_STEP: Final = 5.0  # seconds of difference that count as a step; a steered clock drifts slower


class ClockSteps:
    """Steps of the wall clock, forward or back, or the time that the machine slept."""

    def __init__(self, wall: Callable[[], float]) -> None:
        self._wall = wall
        self._ahead = wall() - trio.current_time()

    def take_step(self) -> float:
        """Return the step in seconds; 0 for a drift."""
        before, self._ahead = self._ahead, self._wall() - trio.current_time()
        step = self._ahead - before
        return step if abs(step) > LEAST_STEP else 0.0


class ClockWatch:
    """One child of the tree. stepped: called after each step."""

    def __init__(self, world: World, stepped: Callable[[], None]) -> None:
        self._world, self._on_step = world, stepped

    async def run(self, child: Child) -> None:
        steps = ClockSteps(self._world.wall)
        while True:
            await trio.sleep(EVERY)
            if step := steps.take_step():
                self._world.log("clock.stepped", level="warning", seconds=round(step, 1))
                self._on_step()
