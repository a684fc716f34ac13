from __future__ import annotations

import random

import pytest
import trio
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from actors.sources.schedule.cadence import CATCH_UP_RATE, MARGIN, startup_wait
from storage.records.identity import Millis
from storage.records.tiers import SourceType
from tests.actors.sources.harness import watching
from tests.actors.sources.test_uplink import MORE, Library
from tests.support.build import NOW
from tests.support.disks import keep
from tests.support.in_loop import Disk


@pytest.mark.parametrize("pages", [0.0, 0.5, 1.0], ids=["feeds", "both", "pages"])
def test_b6_fifty_thousand_overdue_sources_ask_for_no_more_than_usual_in_the_first_minute(pages: float) -> None:
    draw, count = random.Random(6), 50_000
    intervals = [draw.choice([120.0, 900.0, 2700.0]) for _ in range(count)]
    kinds = [draw.random() < pages for _ in range(count)]
    usual = sum(60 / interval for interval in intervals)
    requests = sum(
        1 + page
        for interval, page in zip(intervals, kinds, strict=True)
        if startup_wait(count, interval, draw.random(), page=page) < 60
    )
    assert 0.9 * usual <= requests <= 1.2 * usual


@given(st.integers(1, 200_000), st.floats(60, 2700), st.floats(0, 0.999), st.booleans())
def test_no_source_waits_long_and_a_few_hardly_at_all(late: int, interval: float, draw: float, page: bool) -> None:
    wait = startup_wait(late, interval, draw, page=page)
    assert 0 <= wait <= min(interval, late / CATCH_UP_RATE) * 2 / MARGIN


def overdue(library: Library, interval: float) -> Disk:
    """Make every source overdue by an hour, and every second one a page."""
    changed = []
    for number, watched in enumerate(library.disk.sources().values()):
        kind: SourceType = "html" if number % 2 else "feed"
        hot = replace(watched.hot, interval=interval, next_look_at=Millis(NOW - 3_600_000))
        changed.append(replace(watched, source=replace(watched.source, type=kind), hot=hot))
    keep(library.disk, changed)
    return library.disk


async def test_b6_requests_after_a_restart_with_everything_overdue_are_no_stampede(autojump_clock: object) -> None:
    count, interval = 4000, 300.0
    library = Library(count)
    usual = count * 60 / interval
    async with watching(disk=overdue(library, interval), **MORE) as (service, _):
        library.join(service.network)
        await trio.sleep(60)
        assert 0.8 * usual <= len(library.looks) <= 1.2 * usual, "requests for robots.txt among them"
