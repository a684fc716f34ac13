from __future__ import annotations

import random

from hypothesis import given
from hypothesis import strategies as st

from actors.sources.ranking import REMEMBERED, Place, Ranking, order_of
from storage.records.identity import SourceId
from storage.records.source import Flag, Health

healths = st.builds(Health, st.integers(0, 20).map(lambda n: n / 20), st.sampled_from(["ok", "degraded", "rotten"]))
names = st.sampled_from([SourceId(f"s{number}") for number in range(30)])


def a_ranking(count: int) -> Ranking:
    ranking = Ranking()
    for number in range(count):
        ranking.put(SourceId(f"s{number:06}"), Health())
    return ranking


def everything(ranking: Ranking, limit: int = 7) -> list[SourceId]:
    found, place = ranking.page(None, limit)
    while place is not None:
        page, place = ranking.page(place, limit)
        assert page
        found += page
    return found


def bad(score: float, flag: Flag = "rotten") -> Health:
    return Health(score, flag)


def test_worst_first_by_flag_then_score_then_id() -> None:
    ranking = a_ranking(4)
    ranking.put(SourceId("s000003"), bad(0.6, "degraded"))
    ranking.put(SourceId("s000002"), bad(0.1))
    ranking.put(SourceId("s000001"), bad(0.9, "ok"))
    assert everything(ranking, 2) == ["s000002", "s000003", "s000001", "s000000"]


@given(st.lists(st.tuples(names, healths | st.none()), max_size=120), st.integers(1, 9))
def test_it_is_always_the_sorted_order(steps: list[tuple[SourceId, Health | None]], limit: int) -> None:
    ranking, known = Ranking(), dict[SourceId, Health]()
    for source, health in steps:
        if health is None:
            ranking.drop(source)
            known.pop(source, None)
        else:
            ranking.put(source, health)
            known[source] = health
    assert everything(ranking, limit) == [order[2] for order in sorted(order_of(*item) for item in known.items())]


@given(
    st.lists(st.lists(st.tuples(names, healths | st.none()), max_size=8), max_size=20),
    st.dictionaries(names, healths, min_size=1),
    st.integers(1, 5),
)
def test_paging_while_scores_change_lists_each_remaining_source_once_in_the_first_order(
    changes: list[list[tuple[SourceId, Health | None]]], start: dict[SourceId, Health], limit: int
) -> None:
    ranking = Ranking()
    for source, health in start.items():
        ranking.put(source, health)
    dropped = set[SourceId]()
    seen, place = ranking.page(None, limit)
    while place is not None:
        for source, new in changes.pop() if changes else []:
            if source in start and source not in dropped:
                if new is None:
                    ranking.drop(source)
                    dropped.add(source)
                else:
                    ranking.put(source, new)
        page, place = ranking.page(place, limit)
        seen += page
    expected = [order[2] for order in sorted(order_of(*item) for item in start.items())]
    assert len(seen) == len(set(seen))
    assert [source for source in seen if source not in dropped] == [s for s in expected if s not in dropped]


def test_a_source_that_gets_worse_behind_the_reader_is_not_missed_nor_one_that_gets_better_seen_twice() -> None:
    ranking = a_ranking(10)
    ranking.put(SourceId("s000009"), bad(0.1))
    seen, place = ranking.page(None, 3)
    assert seen == ["s000009", "s000000", "s000001"]
    ranking.put(SourceId("s000009"), Health())
    ranking.put(SourceId("s000005"), bad(0.0))
    rest, _ = ranking.page(place, 100)
    assert rest == [f"s{number:06}" for number in range(2, 9)]
    assert ranking.page(None, 1)[0] == ["s000005"]


def test_a_place_of_an_order_that_is_no_longer_known_goes_on_in_the_present_one() -> None:
    ranking = a_ranking(10)
    place: Place = (0, 1.0, "s000004", 12345)
    assert ranking.page(place, 2)[0] == ["s000005", "s000006"]
    _, place_then = ranking.page(None, 5)
    for number in range(REMEMBERED + 1):
        ranking.put(SourceId("s000000"), bad(number % 2 / 10))
    assert ranking.page(place_then, 2)[0] == ["s000005", "s000006"]


def test_thousands_of_changes_lose_and_repeat_no_source() -> None:
    rng, count = random.Random(3), 20_000
    ranking = a_ranking(count)
    for _ in range(5000):
        ranking.put(SourceId(f"s{rng.randrange(count):06}"), bad(rng.random()))
    assert len(set(everything(ranking, 500))) == len(everything(ranking, 500)) == len(ranking) == count
