"""The time that 100,000 sources block the loop: at start, in walks over all of them, and for a page of the list.

The longest step of the start is one of Trio's sets that grows, which we cannot slice.
"""

from __future__ import annotations

import math
import random
import time
from collections.abc import Awaitable, Callable, Iterator, Sequence
from types import SimpleNamespace
from typing import Any

import trio
from msgspec.structs import replace

from actors.sources.index import SourceIndex
from actors.sources.ports import Ports
from actors.sources.ranking import REMEMBERED, Ranking
from bench.sources import a_source, some_ports
from bench.topic import Figure, Row, Topic, size
from storage.ownership import Ownership
from storage.records.identity import SourceId
from storage.records.source import Health, WatchedSource
from supervision import DynamicSupervisor

COUNT = size(100_000, 5_000)
PAGE = 500
TOPIC = Topic(
    "A library of 100,000 sources",
    "Processor time; the limit beside the walks is a bare loop over as many objects.",
    ("actors/sources", "supervision"),
    {
        "load": Figure("longest step of the loop while they are loaded and started", "ms", "<= 50 ms"),
        "step": Figure("longest step of the loop in a walk over all", "ms", "<= 10 ms"),
        "walks": Figure("the three walks over all together", "ms", "<= 500 ms"),
        "page": Figure("a page of 500, 4,096 moves later", "ms", "<= 10 ms"),
        "move": Figure("a change of score", "us", "<= 20 us"),
    },
)


def rows() -> Iterator[Row]:
    found = trio.run(_measure)
    yield Row("load", found["load_step"])
    yield Row("step", found["walk_step"])
    yield Row("walks", found["walks"], found["bare"])
    yield Row("page", found["page"])
    yield Row("move", found["move_us"])


class _Steps(trio.abc.Instrument):
    """The longest step of any task, in processor milliseconds."""

    def __init__(self) -> None:
        self.longest = 0.0
        self._began = math.inf

    def before_task_step(self, task: trio.lowlevel.Task) -> None:
        self._began = time.thread_time()

    def after_task_step(self, task: trio.lowlevel.Task) -> None:
        self.longest = max(self.longest, 1000 * (time.thread_time() - self._began))


async def _longest(work: Callable[[], Awaitable[Any]]) -> float:
    steps = _Steps()
    await trio.lowlevel.checkpoint()
    trio.lowlevel.add_instrument(steps)
    await work()
    await trio.lowlevel.checkpoint()
    trio.lowlevel.remove_instrument(steps)
    return steps.longest


class _Stored:
    """A library in memory, in pages."""

    def __init__(self, ports: Ports) -> None:
        self._all = [WatchedSource(*a_source(ports.world, number), b"") for number in range(COUNT)]

    async def page(self, after: SourceId | None, limit: int) -> Sequence[WatchedSource]:
        await trio.lowlevel.checkpoint()
        start = 0 if after is None else 1 + int(after[-12:], 16) % (1 << 40)
        return self._all[start : start + limit]


async def _measure() -> dict[str, float]:
    ports = some_ports()
    stored = _Stored(ports)
    object.__setattr__(ports, "storage", SimpleNamespace(sources=stored, ownership=Ownership()))
    supervisor = DynamicSupervisor("sources", chance=random.Random(1))
    async with trio.open_nursery() as nursery:
        nursery.start_soon(supervisor.run)
        await trio.sleep(0.01)
        table = SourceIndex(ports, supervisor)
        load_step = await _longest(table.load)
        assert len(table) == COUNT
        await trio.sleep(0.1)
        walk_step = max([await _longest(walk) for walk in (table.planned_rate, table.overdue_round, table.unsaved)])
        began = time.thread_time()
        for walk in (table.planned_rate, table.overdue_round, table.unsaved):
            await walk()
        walks = 1000 * (time.thread_time() - began)
        nursery.cancel_scope.cancel()
    began = time.thread_time()
    for _ in range(3):
        sum(1 for watched in stored._all if watched.source.enabled)
    bare = 1000 * (time.thread_time() - began)
    return {"load_step": load_step, "walk_step": walk_step, "walks": walks, "bare": bare, **_ranked(stored._all)}


def _ranked(everyone: Sequence[WatchedSource]) -> dict[str, float]:
    ranking, chance = Ranking(), random.Random(2)
    for watched in everyone:
        ranking.put(watched.source.id, watched.hot.health)
    _, place = ranking.page(None, PAGE)
    began = time.thread_time()
    for watched in chance.sample(everyone, REMEMBERED):
        ranking.put(watched.source.id, replace(Health(), score=chance.random()))
    moved = time.thread_time() - began
    began = time.thread_time()
    assert len(ranking.page(place, PAGE)[0]) == PAGE
    return {"move_us": 1e6 * moved / REMEMBERED, "page": 1000 * (time.thread_time() - began)}
