"""Keeps the log within its bounds: deletes the oldest events in slices, between other commits.

It also deletes expired bins with their captures, pictures of pages, deleted sources after their rest, stored answers
of repeatable calls, and dashboard sessions. If much of the file is then free, it returns some space to the disk.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import replace
from typing import Final

import trio

from actors.settings import Settings
from actors.world import World
from storage.errors import STANDSTILL
from storage.records.access import KEPT_CALL_LIFE as LIFE
from storage.records.access import MOST_CALLS
from storage.records.event import MATCHED
from storage.records.identity import START, Millis, Seq, millis_of
from storage.records.source import RESTS
from storage.retention import SLICE, Keep, Trust, most_aged, next_return, next_slice, too_roomy
from storage.sql.storage import Storage
from supervision import Child

ROUND: Final = 600.0  # seconds between rounds
BINS_AT_ONCE: Final = 5  # each may hold 25 MiB of captures
CALLS_AT_ONCE: Final = 200  # stored answers deleted in one transaction, of some KB each
SESSIONS_AT_ONCE: Final = 200
ACTIVITY_AT_ONCE: Final = 200
SOURCES_AT_ONCE: Final = 100
RETRACTIONS_AT_ONCE: Final = 1_000
MOST_HEARTBEATS: Final = 1_000  # stored heartbeats; they come on top of the events that retention counts
PICTURES_AT_ONCE: Final = 50  # of some hundred KB each
DAYS_AT_ONCE: Final = 500  # days of single sources, of some hundred bytes each
PAUSE: Final = 0.05  # seconds between slices, so that harvests go first
BREATH: Final = 0.2  # seconds between steps of returning space
MOST_BACK: Final = 256 << 20  # bytes returned in one round, some minutes of work; then retention has its turn
_DAY_MS: Final = 86_400_000
LAST: Final = Seq((1 << 63) - 1)


def room_of_pictures(settings: Settings) -> int:
    """Return the bytes for pictures: at most a quarter of a bounded database, the rest is for events."""
    if not settings.retention_bytes:
        return settings.screenshot_bytes
    return min(settings.screenshot_bytes, settings.retention_bytes // 4)


class Pruner:
    """The actor that applies retention. `found`: the newest position when storage was opened."""

    def __init__(self, world: World, settings: Settings, storage: Storage, newest: Seq = START) -> None:
        self._world, self._storage = world, storage
        age = Millis(round(settings.retention_days * _DAY_MS))
        self._coverage_days = settings.coverage_days
        self._picture_age = Millis(round(settings.screenshot_days * _DAY_MS))
        self._picture_room = room_of_pictures(settings)
        self._is_returning = False  # space back, in rounds; it stops at a lower share of free space than it starts at
        self.clock_doubt = ""
        """Why the clock is doubted, as a sentence; empty while it is trusted."""
        self._trust = Trust(millis_of(newest) if newest else None, trio.current_time())
        self._keep = Keep(age, settings.retention_events, settings.retention_bytes or None)

    async def run(self, child: Child) -> None:
        while True:
            try:
                child.note("pruning")
                if deleted := await self.prune():
                    self._world.log("log.pruned", events=deleted)
                await self.sweep()
                child.note("giving room back")
                if returned := await self.give_back():
                    self._world.log("log.gave_back", bytes=returned)
            except STANDSTILL as error:
                # The pruner comes before the front end in the tree: a crash would restart that too, and fix nothing.
                self._world.log("log.round_failed", level="warning", error=str(error))
            child.note("resting")
            await trio.sleep(ROUND)

    async def sweep(self) -> int:
        """Delete what has expired or is beyond its bound; return how many. A full disk ends it early. Nothing expires
        while the clock is doubted.
        """
        if self._doubts_clock():
            return 0
        stored, log, now = self._storage, self._storage.log, self._world.now()
        floor, matched = (await log.bounds()).floor, await self._deletion_limit(LAST)
        day, aged = now // _DAY_MS - self._coverage_days, Millis(now - self._picture_age)
        sweeps: Mapping[str, tuple[int, Callable[[int], Awaitable[int]]]] = {
            "bins": (BINS_AT_ONCE, lambda most: stored.bins.sweep(now, most)),
            "sessions": (SESSIONS_AT_ONCE, lambda most: stored.people.sweep(now, most)),
            "activity": (ACTIVITY_AT_ONCE, lambda most: stored.accounts.sweep(now, most)),
            "days": (DAYS_AT_ONCE, lambda most: stored.coverage.forget(day, most)),
            "heartbeats": (SLICE, lambda most: log.forget_heartbeats(matched, MOST_HEARTBEATS, most, stored.lease)),
            "pictures": (PICTURES_AT_ONCE, lambda most: stored.pictures.prune(aged, floor, self._picture_room, most)),
            "sources": (SOURCES_AT_ONCE, lambda most: stored.sources.forget_deleted(Millis(now - RESTS), most)),
            "retractions": (RETRACTIONS_AT_ONCE, lambda most: stored.publications.forget_retractions(floor, most)),
            "calls": (CALLS_AT_ONCE, lambda most: stored.calls.sweep(Millis(now - LIFE), MOST_CALLS, most)),
        }
        return sum([await self._run_sweep(what, sweep, at_once) for what, (at_once, sweep) in sweeps.items()])

    async def _run_sweep(self, what: str, sweep: Callable[[int], Awaitable[int]], at_once: int) -> int:
        swept = 0
        while True:
            try:
                deleted = await sweep(at_once)
            except STANDSTILL as error:
                self._world.log(f"{what}.sweep_failed", error=str(error))
                return swept
            swept += deleted
            if deleted < at_once:
                return swept
            await trio.sleep(PAUSE)

    async def prune(self) -> int:
        """Delete until the log is within its bounds; return how many events. A full disk ends the round early. Nothing
        goes by age while the clock is doubted; otherwise at most a part of the log does.
        """
        log, deleted, aged = self._storage.log, 0, 0
        keep = replace(self._keep, age=None) if self._doubts_clock() else self._keep
        count = await log.count()
        most = most_aged(keep, count, ROUND)
        while True:
            weight = (await log.room()).used if keep.weight else 0
            part = next_slice(keep, await log.bounds(), count, self._world.now(), weight)
            if part is None or (part.aged and aged >= most):
                return deleted
            before = await self._deletion_limit(part.before)
            try:
                removed = await log.retain(before, part.limit, self._storage.lease)
            except STANDSTILL as error:
                self._world.log("log.prune_failed", error=str(error))
                return deleted
            if not removed:
                if before < part.before:
                    self._world.log("log.prune_waits", level="warning", matched=before)
                return deleted
            count, deleted, aged = count - removed, deleted + removed, aged + removed * part.aged
            await trio.sleep(PAUSE)

    def _doubts_clock(self) -> bool:
        ahead = self._trust.ahead(self._world.now(), trio.current_time())
        self.clock_doubt = ""
        if ahead:
            self.clock_doubt = (
                f"The clock is {ahead / 3_600_000:.1f} hours ahead of the newest event and of the time that passed: "
                "nothing is deleted by age until it has gone on like that for an hour. Put it right if it is wrong."
            )
            self._world.log("log.clock_doubted", level="error", says=self.clock_doubt)
        return ahead > 0

    async def _deletion_limit(self, before: Seq) -> Seq:
        """Return the deletion limit: events that are not yet matched stay, or alerts would miss them silently."""
        at = await self._storage.outbox.cursor(MATCHED)
        return min(before, Seq(START if at is None else at + 1))

    async def give_back(self) -> int:
        """Return free space to the disk, at most MOST_BACK bytes; return how many. A full disk ends it early."""
        log, returned = self._storage.log, 0
        room = await log.room()
        self._is_returning = self._is_returning or too_roomy(room)
        while self._is_returning and returned < MOST_BACK:
            step = next_return(room)
            try:
                released = await log.give_back(step, self._storage.lease) if step else 0
            except STANDSTILL as error:
                self._world.log("log.give_back_failed", error=str(error))
                return returned
            if not released:
                self._is_returning = False
                break
            returned += released
            await trio.sleep(BREATH)
            room = await log.room()
        return returned
