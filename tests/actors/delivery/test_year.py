"""D10 over a year: digests of every mode hold each event exactly once, across both changes of the clocks."""

from __future__ import annotations

import json
import random
from collections import Counter
from datetime import datetime, timedelta
from itertools import pairwise
from zoneinfo import ZoneInfo

import pytest
import trio
from trio.testing import MockClock

from actors.delivery.schedule import GRACE
from storage.records.destination import DeliveryMode
from storage.records.identity import Millis, parse_rfc3339
from tests.actors.delivery.rig import Rig, answers
from tests.actors.delivery.test_digest import HOUR
from tests.support.build import NOW

YEAR = 365 * 24 * 3600.0


@pytest.mark.parametrize(
    ("mode", "zone", "every"),
    [
        ("daily", "Europe/Stockholm", 4 * 3600.0),
        ("daily", "Australia/Lord_Howe", 4 * 3600.0),
        ("hourly", "Europe/Stockholm", 12 * 3600.0),
    ],
)
async def test_d10_in_a_year_with_both_changes_of_the_clocks_each_event_is_in_one_digest_of_its_window(
    autojump_clock: MockClock, mode: DeliveryMode, zone: str, every: float
) -> None:
    chance = random.Random(f"{mode} {zone}")
    rig, due = Rig(), dict[str, Millis]()
    await rig.prepare("hook", delivery_mode=mode, digest_hour=2, digest_timezone=zone)
    rig.receivers["hook.example"] = answers(500, 200)
    async with rig.running():
        while trio.current_time() < YEAR:
            await trio.sleep(chance.expovariate(1 / every))
            titles = [f"{len(due) + number}" for number in range(chance.choice((1, 1, 2, 5)))]
            due |= dict.fromkeys(titles, rig.world.now())
            await rig.match("hook", *titles)
        await trio.sleep(50 * 3600)
    digests = {arrival.headers["webhook-id"]: json.loads(arrival.body) for arrival in rig.arrivals}
    told = Counter(event["title"] for digest in digests.values() for event in digest["events"])
    assert told == Counter(due.keys()), "each event exactly once"
    spans: list[tuple[int, int]] = []
    for digest in digests.values():
        start, end = parse_rfc3339(digest["window_start"]), parse_rfc3339(digest["window_end"])
        assert digest["count"] == len(digest["events"]) > 0
        assert all(start <= due[event["title"]] < end for event in digest["events"])
        spans.append((start, end))
    assert all(before[1] <= after[0] for before, after in pairwise(spans)), "in order, and none overlaps another"
    on_time = [arrival.at * 1000 + NOW - end for arrival, (_, end) in zip(rig.arrivals[2:], spans[1:], strict=False)]
    bad = [late for late in on_time if not GRACE - 1 <= late < GRACE + 1000]
    assert not bad, (len(bad), len(on_time), bad[:5])
    if mode == "daily":
        two_o_clock(zone, [end for _, end in spans])


def two_o_clock(zone: str, ends: list[int]) -> None:
    """Check that each window ends at two o'clock local time; once a year two o'clock may be missing."""
    local = [datetime.fromtimestamp(end / 1000, ZoneInfo(zone)) for end in ends]
    odd = [at for at in local if (at.hour, at.minute) != (2, 0)]
    assert len(odd) <= 1
    assert all(timedelta() < at - at.replace(hour=2, minute=0) <= timedelta(hours=1) for at in odd)
    lengths = {after - before for before, after in pairwise(ends)}
    assert lengths & {23 * HOUR, 25 * HOUR, 23.5 * HOUR, 24.5 * HOUR}
