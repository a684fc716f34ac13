from __future__ import annotations

import random
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from types import SimpleNamespace
from typing import Any

import msgspec
import pytest
import trio

from actors.recorder import pruner as pruner_module
from actors.recorder.actor import Identifiers
from actors.recorder.pruner import MOST_BACK, Pruner, room_of_pictures
from actors.settings import Settings
from storage.errors import DiskFull, Duplicate
from storage.records.access import KeptCall, Password, Session
from storage.records.event import EVERYTHING, MATCHED, Filter, Heartbeat, Picture
from storage.records.identity import SERVICE, START, Millis, Seq
from storage.records.source import RESTS, Harvest
from storage.records.tiers import Kind
from storage.retention import LITTLE, STEP, FreeSpace
from tests.support.build import NOW, a_draft, a_harvest, a_source, a_source_id, a_state
from tests.support.disks import set_cursor
from tests.support.in_loop import Disk, InLoopStorage
from tests.support.pictures import PNG

DAY = 86_400_000


class Clock:
    def __init__(self) -> None:
        self.now = Millis(NOW)


async def a_log(clock: Clock, days: Sequence[int], disk: Disk, heavy: int = 0) -> InLoopStorage:
    """Return a log with one event of at least `heavy` bytes on each of these days."""
    storage = InLoopStorage(disk, disk.start("test"))
    with suppress(Duplicate):
        await storage.sources.add(a_source(), a_state(a_source_id()), storage.lease)
    mint = Identifiers(lambda: clock.now, random.Random(1).getrandbits)
    for day in days:
        clock.now = Millis(NOW + day * DAY)
        made = partial(stamp, heavy)
        await storage.log.append([a_harvest(a_source_id(), f"day {day}")], storage.lease, mint, made)
    set_cursor(disk, MATCHED, disk.head())
    return storage


def stamp(heavy: int, seq: Seq, event_id: str, source: str, draft: Any) -> bytes:
    return b'{"id":"%b","tags":[]}' % event_id.encode() + b" " * heavy


def a_pruner(storage: InLoopStorage, clock: Clock, found: Seq = START, **settings: Any) -> tuple[Pruner, list[str]]:
    logged: list[str] = []
    world: Any = SimpleNamespace(now=lambda: clock.now, log=lambda name, **fields: logged.append(name))
    return Pruner(world, Settings(**settings), storage, found), logged


async def test_events_older_than_the_setting_go_and_the_floor_rises(autojump_clock: object) -> None:
    clock = Clock()
    storage = await a_log(clock, range(10), Disk())
    pruner, _ = a_pruner(storage, clock, retention_days=4.5)
    assert await pruner.prune() == 5
    bounds = await storage.log.bounds()
    assert (await storage.log.count(), bounds.floor < bounds.oldest) == (5, True)
    assert bounds.floor > 0


async def test_a_log_within_its_bounds_is_left_alone(autojump_clock: object) -> None:
    clock = Clock()
    storage = await a_log(clock, range(3), Disk())
    pruner, _ = a_pruner(storage, clock)
    assert await pruner.prune() == 0


async def test_more_events_than_the_setting_go_oldest_first(autojump_clock: object) -> None:
    clock = Clock()
    storage = await a_log(clock, [0] * 1_005, Disk())
    pruner, _ = a_pruner(storage, clock, retention_events=1_000)
    assert await pruner.prune() == 5


async def test_events_are_pruned_down_to_the_size_setting(
    autojump_clock: object, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("storage.retention.LEAST", 2)
    monkeypatch.setattr("storage.retention.SLICE", 1)
    clock, disk = Clock(), Disk()
    empty = (await (await a_log(clock, [], disk)).log.room()).used
    storage = await a_log(clock, range(10), disk, heavy=100_000)
    each = ((await storage.log.room()).used - empty) // 10
    pruner, _ = a_pruner(storage, clock, retention_bytes=empty + each * 6)
    assert await pruner.prune() == 4
    pruner, _ = a_pruner(storage, clock, retention_bytes=1)
    assert await pruner.prune() == 4
    assert await storage.log.count() == 2


async def test_r9_unmatched_events_are_not_pruned_and_that_is_reported(autojump_clock: object) -> None:
    clock, disk = Clock(), Disk()
    storage = await a_log(clock, range(10), disk)
    set_cursor(disk, MATCHED, (await storage.log.read(START, 3, EVERYTHING)).events[-1].seq)
    pruner, logged = a_pruner(storage, clock, retention_days=4.5)
    assert (await pruner.prune(), logged) == (3, ["log.prune_waits"])
    set_cursor(disk, MATCHED, disk.head())
    assert await pruner.prune() == 2


async def test_heartbeats_push_no_event_out_and_are_limited_in_number(
    autojump_clock: object, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock, disk = Clock(), Disk()
    storage = await a_log(clock, [0] * 1_000, disk)
    mint = Identifiers(lambda: clock.now, random.Random(2).getrandbits)
    beat = Heartbeat(1, 60, "", None, None, "", 0, "", 0, 0, 0)
    for _ in range(8):
        draft = a_draft("Heartbeat", alert_type="heartbeat", heartbeat=beat)
        await storage.log.append([Harvest(SERVICE, (draft,), None)], storage.lease, mint, partial(stamp, 0))
    set_cursor(disk, MATCHED, disk.head())
    monkeypatch.setattr(pruner_module, "MOST_HEARTBEATS", 3)
    pruner, _ = a_pruner(storage, clock, retention_events=1_000)
    assert await pruner.prune() == 0
    assert await pruner.sweep() == 5
    left = await storage.log.read(START, 500, Filter(kinds=(Kind.HEARTBEAT,)))
    assert (await storage.log.count(), len(left.events)) == (1_000, 3)


async def test_a_full_disk_ends_the_round_and_is_reported(autojump_clock: object) -> None:
    clock, disk = Clock(), Disk()
    storage = await a_log(clock, range(10), disk)
    pruner, logged = a_pruner(storage, clock, retention_days=1)
    disk.full = True
    assert await pruner.prune() == 0
    assert logged == ["log.prune_failed"]


class Roomy:
    """A log with so much free space; it refuses a step above STEP or the free space."""

    def __init__(self, room: FreeSpace, *, full: bool = False) -> None:
        self.now, self.full = room, full

    async def room(self) -> FreeSpace:
        return self.now

    async def give_back(self, limit: int, lease: object) -> int:
        assert 0 < limit <= min(STEP, self.now.free)
        if self.full:
            raise DiskFull("full")
        self.now = FreeSpace(self.now.whole - limit, self.now.free - limit)
        return limit


@pytest.mark.parametrize("free", [LITTLE, LITTLE + 1, 20 * LITTLE, 60 * LITTLE])
async def test_room_goes_back_when_a_quarter_is_free_and_an_eighth_stays(free: int, autojump_clock: object) -> None:
    log = Roomy(FreeSpace(80 * LITTLE, free))
    storage: Any = SimpleNamespace(log=log, lease=None)
    pruner, _ = a_pruner(storage, Clock())
    began = 4 * free > 80 * LITTLE
    for _ in range(12):
        assert await pruner.give_back() <= MOST_BACK
    assert log.now.used == 80 * LITTLE - free
    assert (8 * log.now.free <= log.now.whole) if began else (log.now.free == free)
    assert await pruner.give_back() == 0


async def test_after_a_giving_back_new_room_stays_until_a_quarter_is_free_again(autojump_clock: object) -> None:
    log = Roomy(FreeSpace(80 * LITTLE, 60 * LITTLE))
    storage: Any = SimpleNamespace(log=log, lease=None)
    pruner, _ = a_pruner(storage, Clock())
    while await pruner.give_back():
        pass
    log.now = FreeSpace(80 * LITTLE, 15 * LITTLE)
    assert await pruner.give_back() == 0
    log.now = FreeSpace(80 * LITTLE, 25 * LITTLE)
    assert await pruner.give_back() > 0


async def test_a_full_disk_ends_the_giving_back(autojump_clock: object) -> None:
    storage: Any = SimpleNamespace(log=Roomy(FreeSpace(80 * LITTLE, 60 * LITTLE), full=True), lease=None)
    pruner, logged = a_pruner(storage, Clock())
    assert await pruner.give_back() == 0
    assert logged == ["log.give_back_failed"]


async def test_stored_answers_are_deleted_after_a_day(autojump_clock: object) -> None:
    clock = Clock()
    storage = await a_log(clock, [], Disk())
    pruner, _ = a_pruner(storage, clock)
    for number in range(3):
        await storage.calls.begin(KeptCall(f"key {number}", "asked", Millis(NOW + number), "id"), Millis(0))
    clock.now = Millis(NOW + DAY + 2)
    assert await pruner.sweep() == 2
    assert [key for (key,) in storage.disk.connection.execute("SELECT key FROM call")] == ["key 2"]


async def test_a_deleted_source_is_forgotten_when_it_has_rested(autojump_clock: object) -> None:
    clock = Clock()
    storage = await a_log(clock, [], Disk())
    await storage.sources.update(msgspec.structs.replace(a_source(), deleted_at=NOW), storage.lease, before=None)
    pruner, _ = a_pruner(storage, clock)
    clock.now = Millis(NOW + RESTS)
    assert await pruner.sweep() == 0
    clock.now = Millis(NOW + RESTS + 1)
    assert await pruner.sweep() == 1
    assert await storage.sources.get(a_source_id(), deleted=True) is None


async def test_pictures_go_when_they_are_old_and_when_they_take_too_much_room(autojump_clock: object) -> None:
    clock = Clock()
    storage = await a_log(clock, [], Disk())
    mint = Identifiers(lambda: clock.now, random.Random(1).getrandbits)
    for number in (1, 2):
        source = a_source(number + 1, url=f"https://{number}.test/")
        picture = Picture("image/png", PNG, Millis(NOW + number))
        born = Harvest(source.id, (), a_state(source.id), born=source, picture=picture)
        await storage.log.append([born], storage.lease, mint, partial(stamp, 0))
    pruner, _ = a_pruner(storage, clock, screenshot_days=1)
    clock.now = Millis(NOW + DAY + 2)
    assert await pruner.sweep() == 1
    tight, _ = a_pruner(storage, clock, screenshot_days=90, screenshot_bytes=10)
    assert await tight.sweep() == 1


@pytest.mark.parametrize(("bound", "pictures", "room"), [(0, 1 << 30, 1 << 30), (4_000, 5_000, 1_000), (4_000, 7, 7)])
def test_pictures_take_a_quarter_of_a_bounded_database_at_most(bound: int, pictures: int, room: int) -> None:
    assert room_of_pictures(Settings(retention_bytes=bound, screenshot_bytes=pictures)) == room


async def test_r7_a_clock_that_is_ahead_at_the_start_deletes_nothing_and_says_so(autojump_clock: object) -> None:
    clock = Clock()
    disk = Disk()
    storage = await a_log(clock, range(50), disk)
    clock.now = Millis(clock.now + 100 * DAY)
    pruner, logged = a_pruner(storage, clock, disk.head())
    assert (await pruner.prune(), await pruner.sweep(), await storage.log.count()) == (0, 0, 50)
    assert "log.clock_doubted" in logged and pruner.clock_doubt.startswith("The clock is 2400.0 hours ahead")
    await trio.sleep(1800)
    clock.now = Millis(clock.now - 100 * DAY + 1_800_000)
    assert (await pruner.prune(), await storage.log.count()) == (0, 50)
    assert pruner.clock_doubt == ""


async def test_r7_the_bounds_in_events_hold_under_any_clock(autojump_clock: object) -> None:
    clock = Clock()
    disk = Disk()
    storage = await a_log(clock, range(5), disk)
    clock.now = Millis(clock.now + 1000 * DAY)
    pruner, _ = a_pruner(storage, clock, disk.head())
    pruner._keep = replace(pruner._keep, events=3)
    assert (await pruner.prune(), await storage.log.count()) == (2, 3)


async def test_r7_events_that_aged_during_a_stop_go_after_an_hour(autojump_clock: object) -> None:
    clock = Clock()
    disk = Disk()
    storage = await a_log(clock, range(5), disk)
    clock.now = Millis(clock.now + 100 * DAY)
    pruner, _ = a_pruner(storage, clock, disk.head())
    assert await pruner.prune() == 0
    await trio.sleep(3600)
    clock.now = Millis(clock.now + 3_600_000)
    assert await pruner.prune() == 5


async def test_stored_answers_are_deleted_in_parts_so_that_no_write_waits_long(autojump_clock: object) -> None:
    clock = Clock()
    storage = await a_log(clock, [], Disk())
    pruner, _ = a_pruner(storage, clock)
    for number in range(450):
        await storage.calls.begin(KeptCall(f"key {number}", "asked", Millis(NOW), "id"), Millis(0))
    clock.now = Millis(NOW + 2 * DAY)
    real, parts = storage.calls.sweep, list[int]()

    async def sweep(*given: Any) -> int:
        parts.append(await real(*given))
        return parts[-1]

    storage.calls.sweep = sweep  # type: ignore[method-assign]
    assert await pruner.sweep() == 450
    assert parts == [200, 200, 50]


async def test_a_session_unused_for_a_week_is_deleted(autojump_clock: object) -> None:
    clock = Clock()
    storage = await a_log(clock, [], Disk())
    pruner, _ = a_pruner(storage, clock)
    sessions = [
        Session(name, f"sha of {name}", Millis(at), Millis(at), "Browser 1.0", "192.0.2.1")
        for name, at in (("old", NOW), ("new", NOW + 7 * DAY))
    ]
    await storage.people.settle(Password("hash", NOW), sessions[0])
    await storage.people.sign_in(sessions[1], Password("hash", NOW))
    clock.now = Millis(NOW + 7 * DAY)
    assert await pruner.sweep() == 1
    assert [session.id for session in await storage.people.sessions()] == ["new"]


async def test_a_full_disk_ends_a_sweep_until_the_next_round(autojump_clock: object) -> None:
    clock = Clock()
    disk = Disk()
    storage = await a_log(clock, [], disk)
    pruner, logged = a_pruner(storage, clock)
    await storage.calls.begin(KeptCall("key", "asked", Millis(NOW), "id"), Millis(0))
    clock.now = Millis(NOW + 2 * DAY)
    disk.full = True
    assert await pruner.sweep() == 0
    assert "calls.sweep_failed" in logged
    disk.full = False
    assert await pruner.sweep() == 1


@pytest.mark.parametrize(("at", "before"), [(None, 1), (41, 42), (98, 99), (99, 99), (200, 99)])
async def test_r9_deletion_stops_at_the_last_matched_event(at: int | None, before: int) -> None:
    disk = Disk()
    storage = InLoopStorage(disk, disk.start("test"))
    if at is not None:
        set_cursor(disk, MATCHED, Seq(at))
    pruner, _ = a_pruner(storage, Clock())
    assert await pruner._deletion_limit(Seq(99)) == (before if at is not None else START)


async def test_r12_no_more_than_a_part_of_the_log_goes_by_age_in_one_round(
    monkeypatch: pytest.MonkeyPatch, autojump_clock: object
) -> None:
    monkeypatch.setattr("actors.recorder.pruner.most_aged", lambda *_: 4)
    monkeypatch.setattr("storage.retention.SLICE", 2)
    clock, disk = Clock(), Disk()
    storage = await a_log(clock, range(12), disk)
    pruner, _ = a_pruner(storage, clock, retention_days=1)
    assert [await pruner.prune() for _ in range(4)] == [4, 4, 2, 0]
