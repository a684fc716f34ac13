from __future__ import annotations

from collections.abc import Iterable

from hypothesis import given
from hypothesis import strategies as st

from actors.delivery.schedule import Answer
from actors.delivery.status import PATIENCE, News, Standing, after, standing_of, with_standing
from storage.records.identity import Millis
from tests.matcher.rig import a_destination

HOUR = 3_600_000
GOOD, BAD, GONE, OURS = Answer(200, 1), Answer(500, 1, "x"), Answer(410, 1, "x"), Answer(None, 1, "x", ours=True)


def lived(answers: Iterable[tuple[Answer, int]]) -> tuple[Standing, list[News]]:
    standing, told = Standing(), []
    for answer, at in answers:
        standing, news = after(standing, answer, Millis(at))
        told += [news] if news else []
    return standing, told


def test_d7_the_fifth_failure_in_a_row_makes_a_destination_failing_and_one_success_active() -> None:
    assert lived([(BAD, n) for n in range(4)])[0].state == "active"
    assert lived([(BAD, n) for n in range(5)])[0].state == "failing"
    assert lived([*[(BAD, n) for n in range(5)], (GOOD, 6)])[0] == Standing()


def test_d6_after_five_days_of_nothing_but_failures_it_is_disabled_and_people_hear_of_it_half_way() -> None:
    standing, told = lived((BAD, n * HOUR) for n in range(130))
    assert standing.state == "disabled"
    assert told == [News.FAILING, News.DISABLED]
    assert lived((BAD, n * HOUR) for n in range(120))[0].state == "failing"


@given(st.lists(st.integers(1, 100 * HOUR), max_size=40))
def test_d6_one_success_within_the_time_keeps_a_destination_alive(gaps: list[int]) -> None:
    at, answers = 0, []
    for gap in gaps:
        answers += [(BAD, at), (BAD, at + gap), (GOOD, at + gap)]
        at += gap + HOUR
    assert News.DISABLED not in lived(answers)[1]


def test_d5_gone_disables_at_once() -> None:
    standing, told = lived([(GONE, 5)])
    assert (standing.state, told) == ("disabled", [News.DISABLED])


def test_what_fails_on_this_machine_counts_against_nobody() -> None:
    assert lived((OURS, n * HOUR) for n in range(500)) == (Standing(), [])


def test_disabled_stays_disabled_whatever_still_arrives() -> None:
    assert lived([(GONE, 1), (GOOD, 2), (BAD, 10 * PATIENCE)])[0].state == "disabled"


def test_a_failing_destination_goes_on_failing_over_a_restart() -> None:
    standing, _ = lived((BAD, n * HOUR) for n in range(70))
    record = with_standing(a_destination(), standing)
    again = standing_of(record, Millis(70 * HOUR))
    assert (again.state, again.since, again.told) == ("failing", 0, True)
    assert with_standing(record, Standing()) == a_destination()
