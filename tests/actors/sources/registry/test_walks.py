"""The cost of a walk over all sources, in calls. bench/table.py measures the times."""

from __future__ import annotations

import sys
from collections.abc import Awaitable, Callable
from types import FrameType
from typing import Any

import pytest
import trio

from actors.messages.views import SourceSelection
from actors.sources.index import SourceIndex
from actors.sources.ports import LiveSource
from storage.records.identity import Millis
from storage.records.source import SourceRuntime
from tests.actors.sources.harness import watching
from tests.support.build import NOW, a_source

COUNT = 300


async def calls(walk: Callable[[], Awaitable[Any]]) -> int:
    """Return the number of Python calls in a walk."""
    count = 0

    def note(frame: FrameType, event: str, arg: object) -> None:
        nonlocal count
        count += event == "call"

    sys.setprofile(note)
    try:
        await walk()
    finally:
        sys.setprofile(None)
    return count


@pytest.mark.parametrize(
    ("walk", "most"), [(SourceIndex.planned_rate, 1), (SourceIndex.overdue_round, 0), (SourceIndex.unsaved, 2)]
)
async def test_a_walk_over_all_sources_calls_next_to_nothing_for_each(
    walk: Callable[[SourceIndex], Awaitable[Any]], most: int, autojump_clock: Any
) -> None:
    async with watching() as (run, _):
        table = run.registry.table
        hot = SourceRuntime(last_look_at=Millis(NOW), next_look_at=Millis(NOW + 1_800_000))
        for number in range(COUNT):
            table.put(LiveSource(a_source(number), hot))
        await trio.sleep(1)
        assert await table.planned_rate() == pytest.approx(COUNT / 1800)
        assert await calls(lambda: walk(table)) < COUNT * most + 200


async def test_a_source_that_is_deleted_between_two_slices_is_left_out(autojump_clock: Any) -> None:
    """The order of the two tasks is random, so the test repeats them."""
    async with watching() as (run, _), trio.open_nursery() as nursery:
        table, found = run.registry.table, list[int]()

        async def find() -> None:
            page = await table.find(None, 10, SourceSelection(kinds=("feed",)))
            found.append(len(page.views))

        for number in range(30):
            table.put(live := LiveSource(a_source(number), SourceRuntime()))
            await table.stop(live)
            nursery.start_soon(find)
            await trio.lowlevel.checkpoint()
            table.drop(live.source.id)
            await trio.sleep(1)
        assert len(found) == 30
