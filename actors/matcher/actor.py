"""The matcher: finds the destinations of every event of the log, in order, and knows its lag.

It wakes when the tail grows, and reads until it is level: from the tail if that goes back far enough, else from the
log, a page at a time. The durable cursor moves in one transaction with the rows it caused, so a crash at any point
repeats whole events, and the outbox takes a pair of destination and event once: nothing is lost or duplicated.

A change of alerts takes effect between the two events around its commit: the old alerts settle the earlier events,
durably, before the new ones are read and the change is acknowledged. A change also takes effect if its sender is gone:
the alerts have a revision, and rows found with an older one are not committed but found again.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, assert_never

import msgspec
import trio

from actors.matcher.audience import Audience
from actors.messages.workers import AlertsChanged, LogGrew, MatcherMessage
from actors.notices import destination_of
from actors.query import EventView, decode_event
from actors.world import World
from storage.errors import STANDSTILL, AlertsMoved, Corrupt, CursorMoved, DiskFull, Unavailable
from storage.ownership import MATCHER
from storage.records.alert import Alert
from storage.records.destination import Hit, Match, Met
from storage.records.event import EVERYTHING, MATCHED, Stored
from storage.records.identity import START, Millis, Seq, millis_of, seq_of
from storage.sql.storage import Storage
from storage.sql.transaction import next_turn
from storage.tail import Tail
from supervision import Child, Mailbox, MailboxFull, Reply

LEAST_SHOWN = 60.0
"""Minimum seconds of lag that is shown; less is a burst."""


@dataclass(frozen=True, slots=True)
class Lag:
    """Unmatched events, and the age of the oldest in seconds."""

    events: int = 0
    seconds: float = 0.0

    def says(self) -> str:
        """Return a sentence for people, "" while the lag is short."""
        if self.seconds < LEAST_SHOWN:
            return ""
        count = f"{self.events:,} event{'' if self.events == 1 else 's'}"
        return f"{count} not matched with alerts yet, the oldest of {self.seconds:,.0f} s ago: deliveries come later."


def lag_at(tail: Tail, at: Seq, backlog: int, oldest: Seq, now: Millis) -> Lag:
    """Return the lag of a matcher at this position. backlog, oldest: the unmatched events it counted in the log, and
    the first position, for events no longer in memory.
    """
    waiting = tail.since(at)
    if waiting is not None and not waiting:
        return Lag()
    first = waiting[0].stored.seq if waiting else max(at, oldest)
    age = (now - millis_of(first)) / 1000 if first > START else 0.0
    return Lag(len(waiting) if waiting else max(1, backlog), max(0.0, age))


PAGE = 200
PARKED = 5.0
"""Seconds between attempts while storage accepts no writes."""
REVISION_EVERY = 1.0
"""Seconds between checks for alerts that another node wrote."""
LAST, NEVER = Seq((1 << 63) - 1), Millis((1 << 63) - 1)
SAVE_WITHIN = 1.0
"""Seconds until the cursor is saved behind events without a match: a commit for each would cost more than reading them
again."""
MOST_EVENTS = 2_000
"""Events after which the cursor is saved even without matches, so that a restart need not read them again."""
MOST_ROWS = 500
"""Rows of outbox and alerts in one transaction; one event may exceed it."""


class Matcher:
    """One actor; only its cursor is durable. nudge: tells a destination's actor that it has new rows; never waits.
    refresh: updates the destinations' actors from storage, before a change is acknowledged. on_alerts_read: called with
    the alerts after each read, before a change is acknowledged; it must not wait. private_since: since when only alerts
    that name a source, or were made later, get its events. The mailbox belongs to the composition root. Of several
    nodes one matches, and the others stand by.
    """

    def __init__(
        self,
        *,
        storage: Storage,
        mailbox: Mailbox[MatcherMessage],
        nudge: Callable[[str], None],
        world: World,
        refresh: Callable[[], Awaitable[None]],
        on_alerts_read: Callable[[Sequence[Alert]], Awaitable[None]],
        private_since: Callable[[str], Awaitable[Millis | None]],
    ) -> None:
        self._world = world
        self._storage = storage
        self._ownership = storage.ownership
        self._mailbox = mailbox
        self._nudge = nudge
        self._refresh = refresh
        self._on_alerts_read = on_alerts_read
        self._private_since = private_since
        self._revision = -1
        self._at = self._oldest = START
        self._backlog = 0
        self._changes = 0

    def changes(self) -> int:
        return self._changes

    @property
    def at(self) -> Seq:
        return self._at

    async def run(self, child: Child) -> None:
        """Follow the log until cancelled, which is safe at any point: the next life resumes at the cursor."""
        self._child = child
        async with trio.open_nursery() as nursery:
            if self._ownership.shared:
                nursery.start_soon(self._watch_revision)
            while True:
                await self._ownership.during(MATCHER, self._stand_by, owned=False)
                await self._ownership.during(MATCHER, self._match_all)

    async def _match_all(self) -> None:
        async with trio.open_nursery() as nursery:
            nursery.start_soon(self._wake)
            child, alerts_moved = self._child, False
            while True:
                try:
                    if alerts_moved:
                        await self._change()
                        alerts_moved = False
                    await self._follow()
                except AlertsMoved as error:
                    # Stored just now, or by a sender that is gone: it takes effect from here.
                    self._world.log("matcher.alerts_moved", revision=error.revision, after=error.at)
                    alerts_moved = True
                except CursorMoved as error:
                    # An abandoned write arrived after the cursor was read. The stored cursor is right.
                    self._world.log("matcher.cursor_moved", error=str(error))
                except (Unavailable, Corrupt) as error:
                    self._world.log("matcher.parked", error=str(error))
                    child.ready()
                    await trio.sleep(PARKED)

    async def _watch_revision(self) -> None:
        """Request a new read of the alerts after another node wrote some, even if no event comes."""
        while True:
            await trio.sleep_until(next_turn(REVISION_EVERY))
            with suppress(*STANDSTILL, MailboxFull):  # the next turn finds the same
                if self._revision not in (-1, await self._storage.alerts.revision()):
                    self._mailbox.send_nowait(AlertsChanged(Reply()))

    async def _stand_by(self) -> None:
        while True:
            try:
                self._audience = Audience(self._log_refused)
                await self._switch()
                while True:
                    self._reset(await self._storage.outbox.cursor(MATCHED))
                    self._child.ready()
                    message = None
                    with trio.move_on_at(next_turn(REVISION_EVERY)):
                        message = await self._mailbox.receive()
                    if message is not None:
                        await self._handle(message, self._switch)
            except STANDSTILL as error:
                self._world.log("matcher.parked", error=str(error))
                self._child.ready()
                await trio.sleep(PARKED)

    async def _wake(self) -> None:
        tail = self._storage.tail
        head = tail.head
        while True:
            head = await tail.wait_past(head)
            with suppress(MailboxFull):  # full: it is about to read anyway
                self._mailbox.send_nowait(LogGrew())

    async def _follow(self) -> None:
        self._reset(await self._storage.outbox.cursor(MATCHED))
        self._audience = Audience(self._log_refused)
        await self._read_alerts()
        # An earlier life may have ended between its commit and its nudges.
        for destination in await self._storage.outbox.due(self._world.now()):
            self._nudge(destination)
        # The outbox is durable, and no start depends on the log: a backlog delays none.
        self._child.ready()
        await self._read_log()
        await self._save()
        while True:
            message = None
            with trio.move_on_at(self._save_at):
                message = await self._mailbox.receive()
            while message is not None:
                await self._handle(message, self._change)
                message = None
                with suppress(trio.WouldBlock):
                    message = self._mailbox.receive_nowait()
            await self._catch_up()
            if self._rows or self._hits or self._stories or trio.current_time() >= self._save_at:
                await self._save()

    async def _change(self) -> None:
        at = await self._storage.alerts.changed_at()
        if self._at > at:
            self._reset(self._saved)
        await self._read_log(at)
        await self._save(settled=True)
        await self._switch()

    async def _switch(self) -> None:
        await self._read_alerts()
        await self._refresh()

    def _reset(self, saved: Seq | None) -> None:
        """Reset all state except the durable cursor. `_at`: how far this life has matched. `_rows`: its matches.
        `_hits`: the matches of each alert. `_stories`: the event of each story. `_observations`: of the observer, until
        they are stored. `_save_at`: when a cursor that passed events without a match is saved at the latest.
        """
        self._saved = saved
        self._at = START if saved is None else saved
        self._since_save, self._save_at = 0, float("inf")
        self._rows: list[Match] = []
        self._hits: dict[str, Hit] = {}
        self._stories: dict[tuple[str, Seq], Seq] = {}
        self._observations: list[Any] = []

    async def _handle(self, message: MatcherMessage, change: Callable[[], Awaitable[None]]) -> None:
        match message:
            case LogGrew():
                pass  # it reads on after each message
            case AlertsChanged(reply):
                with reply:
                    self._changes += 1
                    await change()
                    reply.answer(None)
            case _:
                assert_never(message)

    async def _catch_up(self) -> None:
        while (recent := self._storage.tail.since(self._at)) is None or recent:
            if recent is not None:
                await self._match([each.stored for each in recent])
                continue
            before = self._at
            await self._read_log()
            if self._at == before:  # the log ends before the tail begins: some of it was lost
                return

    def lag(self) -> Lag:
        return lag_at(self._storage.tail, self._at, self._backlog, self._oldest, self._world.now())

    async def _read_log(self, end: Seq = LAST) -> None:
        self._backlog = 0
        while self._at < end:
            page = await self._storage.log.read(self._at, PAGE, EVERYTHING)
            if len(page.events) == PAGE and not self._backlog:
                log = self._storage.log  # counting costs no more than reading
                waiting = log.count() if self._at == START else log.count_between(self._at, LAST)
                self._backlog, self._oldest = await waiting, page.events[0].seq
            if page.floor > self._at and self._saved is not None:
                self._world.log("matcher.missed", level="error", after=self._at, to=page.floor)
            events = [event for event in page.events if event.seq <= end]
            if not events:
                return
            await self._match(events)
            self._backlog = max(0, self._backlog - len(events))

    async def _match(self, events: Sequence[Stored]) -> None:
        for event in events:
            view = self._decode(event)
            if view is not None:
                subject = destination_of(event)
                matching = self._audience.of(view, event)
                # Alerts that name the source have it anyway: among several nodes the answer is a read for each event.
                if view.alert_type is None and self._audience.including(event.source, NEVER, matching) != matching:
                    matching = self._audience.including(event.source, await self._private_since(event.source), matching)
                alerts = await self._without_repeats(matching, view.story, event.seq)
                for alert in alerts:
                    now, before = self._world.now(), self._hits.get(alert)
                    self._hits[alert] = Hit(alert, 1 if before is None else before.times + 1, now)
                    targets = self._audience.destinations(alert)
                    self._rows += [Match(id, event.seq, now) for id in targets if id != subject]
                self._observations += self._world.observer.matched(event, alerts)
            self._at, self._since_save = event.seq, self._since_save + 1
            self._save_at = min(self._save_at, trio.current_time() + SAVE_WITHIN)
            if len(self._rows) + len(self._hits) + len(self._stories) >= MOST_ROWS or self._since_save >= MOST_EVENTS:
                await self._save()
            else:
                await trio.lowlevel.checkpoint()

    async def _without_repeats(self, alerts: Sequence[str], story: str, seq: Seq) -> Sequence[str]:
        """Return the alerts that have not met an event's story, or may meet it again; old events have no story."""
        once_only = {alert for alert in alerts if self._audience.meets_once(alert)} if story else ()
        if not once_only:
            return alerts
        first = seq_of(story)
        if first != seq:
            seen = {alert for alert, of in self._stories if of == first}.union(await self._storage.outbox.met(first))
            alerts = [alert for alert in alerts if alert not in seen or alert not in once_only]
        self._stories |= {(alert, first): seq for alert in alerts if alert in once_only}
        return alerts

    def _decode(self, event: Stored) -> EventView | None:
        try:
            return decode_event(event.body)
        except (msgspec.MsgspecError, UnicodeDecodeError) as error:
            # One damaged body must not stop later events from being delivered.
            self._world.log("matcher.unreadable", seq=event.seq, error=str(error)[:200])
            return None

    async def _save(self, *, settled: bool = False) -> None:
        """Commit the rows and the cursor, then nudge the destinations. settled: the events so far belong to the old
        alerts, even if others are stored. Raises AlertsMoved otherwise.
        """
        if self._at == (START if self._saved is None else self._saved):
            return
        self._world.reach("matcher/before advance")
        await self._advance(None if settled else self._revision)
        self._world.reach("matcher/after advance")
        destinations = dict.fromkeys(row.destination for row in self._rows)
        self._world.metrics.matches.add(by=len(self._rows))
        self._world.observer.stored(self._observations)
        self._reset(self._at)
        for destination in destinations:
            self._nudge(destination)

    async def _advance(self, revision: int | None) -> None:
        """Commit; while the disk is full, retry, and let the service start without deliveries."""
        hits = tuple(self._hits.values())
        met = [Met(alert, story, seq) for (alert, story), seq in self._stories.items()]
        while True:
            try:
                work = self._saved, self._at, self._rows, self._storage.lease
                return await self._storage.outbox.advance(MATCHED, *work, hits=hits, met=met, revision=revision)
            except DiskFull as error:
                self._world.log("matcher.parked", error=str(error))
                self._child.ready()
                await trio.sleep(PARKED)

    async def _read_alerts(self) -> None:
        self._revision = await self._storage.alerts.revision()
        alerts = await self._storage.alerts.all()
        destinations = await self._storage.alerts.destinations()
        self._audience.replace(alerts, destinations)
        await self._on_alerts_read(alerts)
        self._world.log("matcher.alerts", level="debug", alerts=len(self._audience), after=self._at)

    def _log_refused(self, alert: str, error: str) -> None:
        self._world.log("matcher.query_refused", alert_id=alert, error=error)
