from __future__ import annotations

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from api.dashboard.sources.display import SORTS, TICKS, WIDTH, counted, strip, ticks, timeline
from storage.records.checks import Row, Verdict, add_row, check_row, read_rows
from storage.records.identity import Millis
from tests.support.build import NOW

verdicts = st.sampled_from(list(Verdict))


def rows_of(found: list[Verdict], step: int = 60_000) -> list[Row]:
    memory = b""
    for number, verdict in enumerate(found):
        memory = add_row(memory, check_row(Millis(NOW + number * step), verdict, 200))
    return read_rows(memory)


@given(st.lists(verdicts, max_size=80))
def test_the_ticks_are_the_newest_checks_in_order(found: list[Verdict]) -> None:
    shown = ticks(rows_of(found))
    assert [tick.sort for tick in shown] == [SORTS[verdict] for verdict in found[-TICKS:]]
    assert all(before.at <= after.at for before, after in pairwise(shown))
    assert sum(path.count("M") for _, path in strip(rows_of(found)).paths) == len(shown)


def test_the_sentence_matches_the_ticks() -> None:
    assert counted([]) == "No check yet"
    assert counted(ticks(rows_of([Verdict.CHANGED]))) == "The last check: 1 with an event"
    mixed = [Verdict.UNCHANGED, Verdict.CONTENT, Verdict.LOCAL, Verdict.CHANGED]
    assert counted(ticks(rows_of(mixed))) == "The last 4 checks: 1 unchanged, 1 with an event, 1 failed, 1 waited"


def test_an_unreported_change_has_its_own_mark() -> None:
    found = [Verdict.UNCHANGED, Verdict.NOTHING_TO_TELL, Verdict.CHANGED]
    assert counted(ticks(rows_of(found))) == "The last 3 checks: 1 unchanged, 1 changed, not reported, 1 with an event"
    assert len({path.partition("v")[2] for _, path in strip(rows_of(found)).paths}) == 3


@given(
    st.lists(verdicts, min_size=1, max_size=40), st.integers(-(10**6), 10**8), st.none() | st.integers(-(10**6), 10**8)
)
def test_every_mark_is_placed_by_its_time(found: list[Verdict], now: int, due: int | None) -> None:
    line = timeline(rows_of(found), Millis(NOW + now), None if due is None else Millis(NOW + due))
    assert line is not None
    places = [mark.x for mark in line.marks]
    assert places == sorted(places)
    assert all(0 <= x <= WIDTH for x in (*places, line.now, line.following or 0))
    assert timeline([], NOW, None) is None
