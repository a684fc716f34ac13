from __future__ import annotations

import random
from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any

import pytest

from actors.pruner import Pruner
from actors.recorder.identifiers import Identifiers
from actors.settings import Settings
from storage.memory import Disk, MemoryStorage
from storage.records.identity import Millis, Seq
from storage.records.kept_call import KeptCall
from tests.support.build import NOW, a_harvest, a_source, a_source_id, a_state

DAY = 86_400_000


class Clock:
    def __init__(self) -> None:
        self.now = Millis(NOW)


async def a_log(clock: Clock, days: Sequence[int], disk: Disk) -> MemoryStorage:
    """A log with one event of each of these days."""
    storage = MemoryStorage(disk, disk.start("test"))
    await storage.sources.add(a_source(), a_state(a_source_id()), storage.lease)
    mint = Identifiers(lambda: clock.now, random.Random(1).getrandbits)
    for day in days:
        clock.now = Millis(NOW + day * DAY)
        await storage.log.append([a_harvest(a_source_id(), f"day {day}")], storage.lease, mint, stamp)
    return storage


def stamp(seq: Seq, event_id: str, source: str, draft: Any) -> bytes:
    return b'{"id":"%b","tags":[]}' % event_id.encode()


def a_pruner(storage: MemoryStorage, clock: Clock, **settings: Any) -> tuple[Pruner, list[str]]:
    logged: list[str] = []
    world: Any = SimpleNamespace(now=lambda: clock.now, log=lambda name, **fields: logged.append(name))
    return Pruner(world, Settings(**settings), storage), logged


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


async def test_events_go_until_the_storage_weighs_what_the_setting_says(
    autojump_clock: object, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("storage.retention.LEAST", 2)
    monkeypatch.setattr("storage.retention.SLICE", 1)
    clock = Clock()
    storage = await a_log(clock, range(10), Disk())
    each = await storage.log.weight() // 10
    pruner, _ = a_pruner(storage, clock, retention_bytes=each * 6)
    assert await pruner.prune() == 4
    pruner, _ = a_pruner(storage, clock, retention_bytes=1)
    assert await pruner.prune() == 4
    assert await storage.log.count() == 2


async def test_a_full_disk_ends_the_round_and_is_told(autojump_clock: object) -> None:
    clock, disk = Clock(), Disk()
    storage = await a_log(clock, range(10), disk)
    pruner, logged = a_pruner(storage, clock, retention_days=1)
    disk.full = True
    assert await pruner.prune() == 0
    assert logged == ["log.prune_failed"]


async def test_kept_answers_go_after_a_day(autojump_clock: object) -> None:
    clock = Clock()
    storage = await a_log(clock, [], Disk())
    pruner, _ = a_pruner(storage, clock)
    for number in range(3):
        await storage.calls.begin(KeptCall(f"key {number}", "asked", Millis(NOW + number), "id"), Millis(0))
    clock.now = Millis(NOW + DAY + 2)
    assert await pruner.sweep() == 2
    assert list(storage._disk.calls) == ["key 2"]
