"""Keeps the log within its bounds: deletes the oldest events, a slice at a time, between the commits of others.

Bins that have expired go the same way, with what they captured, and so do pictures of pages, deleted sources that have
rested, kept answers of repeatable calls and the dashboard's sessions. When much of the storage's room is free
afterwards, some of it goes back to the disk.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import Final

import trio

from actors.settings import Settings
from actors.world import World
from storage.errors import STANDSTILL
from storage.interface import Storage
from storage.records.cursor import MATCHED
from storage.records.identity import START, Millis, Seq, millis_of
from storage.records.kept_call import LIFE, MOST
from storage.records.source import RESTS
from storage.retention import SLICE, Keep, Trust, most_aged, next_return, next_slice, too_roomy
from supervision import Child

ROUND: Final = 600.0
"""Seconds between two looks at whether anything is to be deleted."""
BINS_AT_ONCE: Final = 5
"""Each may hold 25 MiB of captures."""
CALLS_AT_ONCE: Final = 200
"""Kept answers that go in one transaction, of some KB each."""
SESSIONS_AT_ONCE: Final = 200
SOURCES_AT_ONCE: Final = 100
RETRACTIONS_AT_ONCE: Final = 1_000
MOST_HEARTBEATS: Final = 1_000
"""Heartbeats that are kept: they come on top of the events that retention counts, and push none of them out."""
PICTURES_AT_ONCE: Final = 50
"""Of some hundred KB each."""
DAYS_AT_ONCE: Final = 500
"""Days of single sources, of some hundred bytes each."""
PAUSE: Final = 0.05
"""Seconds between two slices, so that harvests go first."""
BREATH: Final = 0.2
"""Seconds between two steps of giving room back, which nobody waits for."""
MOST_BACK: Final = 256 << 20
"""Bytes that go back in one round, in some minutes: then retention has its turn again."""
_DAY_MS: Final = 86_400_000
LAST: Final = Seq((1 << 63) - 1)


def room_of_pictures(settings: Settings) -> int:
    """Return how many bytes pictures may take: no more than a quarter of a bounded database, which is for events."""
    if not settings.retention_bytes:
        return settings.screenshot_bytes
    return min(settings.screenshot_bytes, settings.retention_bytes // 4)


class Pruner:
    """The actor that applies retention. `found`: the newest position when the data were opened."""

    def __init__(self, world: World, settings: Settings, storage: Storage, found: Seq = START) -> None:
        self._world = world
        self._storage = storage
        age = Millis(round(settings.retention_days * _DAY_MS))
        self._coverage_days = settings.coverage_days
        self._picture_age = Millis(round(settings.screenshot_days * _DAY_MS))
        self._picture_room = room_of_pictures(settings)
        self._giving = False  # room back, over as many rounds as it takes: it ends with less free than what begins it
        self.doubt = ""
        """Why the clock is not believed, as a sentence; empty while it is."""
        self._trust = Trust(millis_of(found) if found else None, trio.current_time())
        self._keep = Keep(age, settings.retention_events, settings.retention_bytes or None)

    async def run(self, child: Child) -> None:
        """Prune, rest, and again, until cancelled."""
        while True:
            try:
                await self._round(child)
            except STANDSTILL as error:
                # It stands before the front end in the tree: a crash would restart that, and mend nothing.
                self._world.log("log.round_failed", level="warning", error=str(error))
            child.note("resting")
            await trio.sleep(ROUND)

    async def _round(self, child: Child) -> None:
        child.note("pruning")
        deleted = await self.prune()
        if deleted:
            self._world.log("log.pruned", events=deleted)
        await self.sweep()
        child.note("giving room back")
        given = await self.give_back()
        if given:
            self._world.log("log.gave_back", bytes=given)

    async def sweep(self) -> int:
        """Delete bins, deleted sources, sessions, pictures, days of looks and kept answers that have expired,
        heartbeats beyond their bound, and retractions of what is gone; return how many went. A full disk ends it early.

        Nothing has expired by a clock that is not believed.
        """
        if self._doubts():
            return 0
        bins, calls, now = self._storage.bins, self._storage.calls, self._world.now()
        swept = await self._swept("bins", lambda: bins.sweep(now, BINS_AT_ONCE), BINS_AT_ONCE)
        old = Millis(now - LIFE)
        swept += await self._swept(
            "sessions", lambda: self._storage.people.sweep(now, SESSIONS_AT_ONCE), SESSIONS_AT_ONCE
        )
        day = now // _DAY_MS - self._coverage_days
        swept += await self._swept("days", lambda: self._storage.coverage.forget(day, DAYS_AT_ONCE), DAYS_AT_ONCE)
        swept += await self._swept("heartbeats", self._forget_heartbeats, SLICE)
        floor = (await self._storage.log.bounds()).floor
        aged, pictures, room = Millis(now - self._picture_age), self._storage.pictures, self._picture_room
        swept += await self._swept(
            "pictures", lambda: pictures.prune(aged, floor, room, PICTURES_AT_ONCE), PICTURES_AT_ONCE
        )
        rested, sources = Millis(now - RESTS), self._storage.sources
        swept += await self._swept("sources", lambda: sources.forget_deleted(rested, SOURCES_AT_ONCE), SOURCES_AT_ONCE)
        swept += await self._swept(
            "retractions",
            lambda: self._storage.publications.forget_retractions(floor, RETRACTIONS_AT_ONCE),
            RETRACTIONS_AT_ONCE,
        )
        return swept + await self._swept("calls", lambda: calls.sweep(old, MOST, CALLS_AT_ONCE), CALLS_AT_ONCE)

    async def _forget_heartbeats(self) -> int:
        before = await self._matched(LAST)
        return await self._storage.log.forget_heartbeats(before, MOST_HEARTBEATS, SLICE, self._storage.lease)

    async def _swept(self, what: str, sweep: Callable[[], Awaitable[int]], at_once: int) -> int:
        swept = 0
        while True:
            try:
                gone = await sweep()
            except STANDSTILL as error:
                self._world.log(f"{what}.sweep_failed", error=str(error))
                return swept
            swept += gone
            if gone < at_once:
                return swept
            await trio.sleep(PAUSE)

    async def prune(self) -> int:
        """Delete until the log is within its bounds; return how many events went. A full disk ends the round early.

        By a clock that is not believed nothing goes, and by one that is, no more than a part of the log.
        """
        log, deleted, aged = self._storage.log, 0, 0
        keep = replace(self._keep, age=None) if self._doubts() else self._keep
        count = await log.count()
        most = most_aged(keep, count, ROUND)
        while True:
            weight = (await log.room()).used if keep.weight else 0
            part = next_slice(keep, await log.bounds(), count, self._world.now(), weight)
            if part is None or (part.aged and aged >= most):
                return deleted
            before = await self._matched(part.before)
            try:
                gone = await log.retain(before, part.limit, self._storage.lease)
            except STANDSTILL as error:
                self._world.log("log.prune_failed", error=str(error))
                return deleted
            if not gone:
                if before < part.before:
                    self._world.log("log.prune_waits", level="warning", matched=before)
                return deleted
            count, deleted, aged = count - gone, deleted + gone, aged + gone * part.aged
            await trio.sleep(PAUSE)

    def _doubts(self) -> bool:
        """Return whether the wall clock is not to be believed; then tell, loudly: it is ahead, or was wrong before."""
        ahead = self._trust.ahead(self._world.now(), trio.current_time())
        self.doubt = ""
        if ahead:
            self.doubt = (
                f"The clock is {ahead / 3_600_000:.1f} hours ahead of the newest event and of the time that passed: "
                "nothing is deleted by age until it has gone on like that for an hour. Put it right if it is wrong."
            )
            self._world.log("log.clock_doubted", level="error", says=self.doubt)
        return ahead > 0

    async def _matched(self, before: Seq) -> Seq:
        """Return up to where may be deleted: what nobody has matched yet stays, or it would be lost without a word."""
        at = await self._storage.outbox.cursor(MATCHED)
        return min(before, Seq(START if at is None else at + 1))

    async def give_back(self) -> int:
        """Give room back to the disk while too much of the file is free; return how many bytes went, MOST_BACK at most.

        A full disk ends it early: this needs some room itself.
        """
        log, given = self._storage.log, 0
        room = await log.room()
        self._giving = self._giving or too_roomy(room)
        while self._giving and given < MOST_BACK:
            step = next_return(room)
            if not step:
                self._giving = False
                break
            try:
                gone = await log.give_back(step, self._storage.lease)
            except STANDSTILL as error:
                self._world.log("log.give_back_failed", error=str(error))
                return given
            if not gone:
                self._giving = False
                break
            given += gone
            await trio.sleep(BREATH)
            room = await log.room()
        return given
