"""What a library of 100,000 sources holds the loop for: its start, the walks over all of them, and a page of the list.

The limit beside the walks is a bare loop over as many objects. All is time of the processor, in a process of its own.
The longest step of the start is a set of Trio's that grows, which is not ours to slice.
"""

from __future__ import annotations

import json
import math
import random
import subprocess
import sys
import time
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import trio
from msgspec.structs import replace

from actors.sources.index import SourceIndex
from actors.sources.ports import Ports
from actors.sources.ranking import REMEMBERED, Ranking
from bench.sources import a_source, some_ports
from storage.records.health import Health
from storage.records.identity import SourceId
from storage.records.source import WatchedSource
from supervision import DynamicSupervisor

COUNT = 100_000
PAGE = 500


def rows() -> list[dict[str, Any]]:
    """Return the measured rows: figure, goal, limit, ours, ratio, met."""
    root = Path(__file__).parent.parent
    done = subprocess.run(
        [sys.executable, "-m", "bench.table"], cwd=root, capture_output=True, text=True, check=True, timeout=300
    )
    found = json.loads(done.stdout)
    return [
        _row(f"longest step of the loop while {COUNT:,} sources are loaded and started, ms", found["load_step"], 50),
        _row(f"longest step of the loop in a walk over {COUNT:,} sources, ms", found["walk_step"], 10),
        _row(f"the three walks over {COUNT:,} sources together, ms", found["walks"], 500, found["bare"]),
        _row(f"a page of {PAGE} of {COUNT:,} sources, {REMEMBERED:,} moves later, ms", found["page"], 10),
        _row(f"a change of score among {COUNT:,} sources, us", found["move_us"], 20),
    ]


def _row(figure: str, ours: float, goal: float, limit: float | None = None) -> dict[str, Any]:
    return {
        "figure": figure,
        "goal": f"<= {goal:g}",
        "limit": "-" if limit is None else f"{limit:.1f} (a bare loop)",
        "ours": f"{ours:.1f}",
        "ratio": ours / (limit or goal),
        "met": ours <= goal,
    }


class _Steps(trio.abc.Instrument):
    """The longest step of any task, in milliseconds of the processor, whoever else shares it."""

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
    object.__setattr__(ports, "storage", SimpleNamespace(sources=stored))
    supervisor = DynamicSupervisor("sources", chance=random.Random(1))
    async with trio.open_nursery() as nursery:
        nursery.start_soon(supervisor.run)
        await trio.sleep(0.01)
        table = SourceIndex(ports, supervisor)
        load_step = await _longest(table.load)
        assert len(table) == COUNT
        await trio.sleep(0.1)
        walk_step = max([await _longest(walk) for walk in (table.planned, table.round, table.unsaved)])
        began = time.thread_time()
        for walk in (table.planned, table.round, table.unsaved):
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


if __name__ == "__main__":
    if sys.argv[1:] == ["show"]:
        for row in rows():
            print(row)
    else:
        print(json.dumps(trio.run(_measure)))
