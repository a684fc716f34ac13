from __future__ import annotations

from collections.abc import Iterable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from actors.delivery.status import (
    PATIENCE,
    DestinationStatus,
    after,
    next_notice,
    status_of,
    with_due_notice,
    with_status,
)
from actors.destination_kinds.contract import Answer
from storage.records.destination import Notice
from storage.records.identity import START, Millis
from tests.actors.matcher.rig import a_destination

HOUR = 3_600_000
FAILING: Notice = "destination_failing"
DISABLED: Notice = "destination_disabled"
GOOD, BAD, GONE, OURS = Answer(200, 1), Answer(500, 1, "x"), Answer(410, 1, "x"), Answer(None, 1, "x", ours=True)


def lived(answers: Iterable[tuple[Answer, int]], notice_after: int = 3600) -> tuple[DestinationStatus, list[str]]:
    status, told = DestinationStatus(), []
    for answer, at in answers:
        status, notice = after(status, answer, Millis(at))
        told += [notice] if notice else []
        status, notice = with_due_notice(status, Millis(at), notice_after)
        told += [notice] if notice else []
    return status, told


def test_d7_the_fifth_failure_in_a_row_makes_a_destination_failing_and_one_success_active() -> None:
    assert lived([(BAD, n) for n in range(4)])[0].state == "active"
    assert lived([(BAD, n) for n in range(5)])[0].state == "failing"
    assert lived([*[(BAD, n) for n in range(5)], (GOOD, 6)])[0] == DestinationStatus()


def test_d6_after_five_days_of_nothing_but_failures_it_is_disabled_and_people_hear_of_it_on_the_way() -> None:
    status, told = lived((BAD, n * HOUR) for n in range(130))
    assert status.state == "disabled"
    assert told == [FAILING, FAILING, DISABLED]
    assert lived((BAD, n * HOUR) for n in range(120))[0].state == "failing"


@given(st.lists(st.integers(1, 100 * HOUR), max_size=40))
def test_d6_one_success_within_the_time_keeps_a_destination_alive(gaps: list[int]) -> None:
    at, answers = 0, []
    for gap in gaps:
        answers += [(BAD, at), (BAD, at + gap), (GOOD, at + gap)]
        at += gap + HOUR
    assert DISABLED not in lived(answers)[1]


def test_d5_gone_disables_at_once() -> None:
    status, told = lived([(GONE, 5)])
    assert (status.state, told) == ("disabled", [DISABLED])


def test_a_local_failure_counts_against_no_destination() -> None:
    assert lived((OURS, n * HOUR) for n in range(500)) == (DestinationStatus(), [])


def test_disabled_stays_disabled_after_any_late_answer() -> None:
    assert lived([(GONE, 1), (GOOD, 2), (BAD, 10 * PATIENCE)])[0].state == "disabled"


@pytest.mark.parametrize(
    ("notice_after", "hours"),
    [(0, [0, 60]), (3600, [1, 60]), (59 * 3600, [59, 60]), (60 * 3600, [60]), (604_800, [60])],
)
def test_d6_a_failing_destination_is_reported_after_its_alerts_time_and_half_way(
    notice_after: int, hours: list[int]
) -> None:
    status, told = DestinationStatus("failing", Millis(0), 5), []
    while (due := next_notice(status, notice_after)) is not None:
        if due > 0:  # before the start there is no earlier moment
            assert with_due_notice(status, Millis(due - 1), notice_after) == (status, None)
        status, notice = with_due_notice(status, due, notice_after)
        assert notice == FAILING
        told.append(due)
    assert told == [hour * HOUR for hour in hours]


def test_a_destination_overdue_twice_is_reported_once() -> None:
    status, notice = with_due_notice(DestinationStatus("failing", Millis(0), 5), Millis(70 * HOUR), 3600)
    assert (status.notices, notice) == (2, FAILING)
    assert with_due_notice(status, Millis(80 * HOUR), 3600) == (status, None)


def test_a_failing_destination_stays_failing_after_a_restart_and_is_not_reported_again() -> None:
    status, _ = lived((BAD, n * HOUR) for n in range(70))
    record = with_status(a_destination(), status, FAILING, START)
    assert record.owes == FAILING
    again = status_of(record)
    assert (again.state, again.since, again.notices) == ("failing", 0, 2)
    assert with_status(record, again, None, START).owes == FAILING
    assert with_status(record, DestinationStatus(), None, START) == a_destination(), "well again, it owes nothing"


def test_r12_failures_that_began_on_a_fast_clock_are_reported_and_end_in_time() -> None:
    ahead = 30 * 24 * HOUR
    status, told = lived([*[(BAD, ahead + n) for n in range(5)], *[(BAD, n * HOUR) for n in range(130)]])
    assert status.state == "disabled"
    assert told == [FAILING, FAILING, DISABLED]
    late = DestinationStatus("failing", Millis(ahead), 5)
    assert with_due_notice(late, Millis(HOUR), 3600)[0].since == HOUR
