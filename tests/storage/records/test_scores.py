from __future__ import annotations

import trio
from hypothesis import given
from hypothesis import strategies as st

from storage.records.identity import day_of
from storage.records.source import DAYS, read, scored
from tests.actors.sources.harness import Origin, rss, watching
from tests.support.build import NOW

URL = "https://site.example/feed"


@given(st.lists(st.tuples(st.sampled_from((0, 0, 0, 1, 1, 2, 40)), st.sampled_from((1.0, 1.0, 0.7, 0.254, 0.0)))))
def test_each_of_the_last_90_days_keeps_the_worst_that_was_seen_on_it(steps: list[tuple[int, float]]) -> None:
    packed, known, day = b"", dict[int, float](), 20_000
    for later, score in steps:
        day += later
        packed = scored(packed, day, score)
        known[day] = min(known.get(day, 1.0), round(score, 2))
    assert read(packed) == {each: score for each, score in known.items() if each > day - DAYS}


def test_a_quarter_of_the_same_score_is_a_few_bytes_and_a_day_that_knows_worse_none() -> None:
    packed = b""
    for day in range(20_000, 20_000 + 2 * DAYS):
        packed = scored(packed, day, 0.98)
    assert len(packed) < 6 and len(read(packed)) == DAYS
    assert scored(packed, 20_000 + 2 * DAYS - 1, 1.0) is packed
    assert scored(packed, 3, 1.0) is packed, "the clock has stepped back"
    assert read(b"\x02whatever") == {}


async def test_an_outage_is_in_the_scores_of_its_days_and_outlives_a_restart(autojump_clock: object) -> None:
    origin = Origin()
    origin.bodies["/feed"] = rss("a")
    async with watching(origin) as (service, _):
        source = (await service.add(URL)).view.source.id
        for status in (None, 503, None):
            origin.status = status
            await trio.sleep(86_400)
        disk = service.disk
    stored = disk.sources()[source].hot.scores
    days = [score for _, score in sorted(read(stored).items())]
    assert min(read(stored)) == day_of(NOW) and days[0] == 1.0 and days[-1] == 1.0 and min(days) < 0.3
