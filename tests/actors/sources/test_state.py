from __future__ import annotations

import pytest
from msgspec.structs import replace

from actors.egress.failures import Blame, CheckFailed
from actors.sources.checks import progress
from actors.sources.checks.progress import CheckResult
from actors.sources.ranking import StateCounts
from actors.sources.schedule.cadence import Limits
from storage.records.checks import Verdict, add_row, check_row
from storage.records.identity import Millis
from storage.records.source import SourceRuntime, SourceStateName, Validators, state_of
from tests.support.build import NOW, a_source

WORKED = "worked"


def after(*looks: Blame | str) -> SourceRuntime:
    """Return the memory after checks that worked, or failed with a blame."""
    hot, now = SourceRuntime(), NOW
    for came in looks:
        if isinstance(came, Blame):
            failure = CheckFailed(came, f"{came.name} at {now}", status=404)
            hot, verdict = progress.failed(hot, failure, now, Limits(), 0.5), Verdict[came.name]
        else:
            worked = CheckResult(now, 200, Validators(), changed=False)
            hot, verdict = progress.succeeded(hot, worked, Limits(), 0.5), Verdict.UNCHANGED
        hot = replace(hot, trail=add_row(hot.trail, check_row(now, verdict, 200)))
        now = Millis(hot.next_look_at or now)
    return hot


@pytest.mark.parametrize(
    ("looks", "state"),
    [
        ((), "new"),
        ((WORKED,), "ok"),
        ((WORKED, Blame.REMOTE_PERMANENT), "failing"),  # a 404 opens the breaker at once, but is no rest
        ((WORKED, *[Blame.REMOTE_PERMANENT] * 9), "failing"),
        ((WORKED, Blame.REMOTE_PERMANENT, Blame.LOCAL), "failing"),
        ((WORKED, Blame.REMOTE_TRANSIENT), "failing"),
        ((Blame.CONTENT,), "failing"),
        ((WORKED, *[Blame.REMOTE_TRANSIENT] * 3), "resting"),
        ((*[Blame.REMOTE_TRANSIENT] * 3, Blame.LOCAL), "resting"),
        ((*[Blame.REMOTE_TRANSIENT] * 9, WORKED), "ok"),
        ((WORKED, Blame.THROTTLED), "throttled"),
        ((WORKED, Blame.THROTTLED, Blame.LOCAL), "throttled"),
        ((WORKED, Blame.THROTTLED, WORKED), "ok"),
        ((Blame.REMOTE_TRANSIENT, Blame.THROTTLED), "failing"),
        ((WORKED, Blame.LOCAL), "ok"),
    ],
)
def test_the_state_is_that_of_the_last_check_and_the_breaker(
    looks: tuple[Blame | str, ...], state: SourceStateName
) -> None:
    assert state_of(a_source(), after(*looks), overdue=False) == state


def test_a_404_is_failing_at_once_and_the_score_keeps_its_patience() -> None:
    hot = after(WORKED, Blame.REMOTE_PERMANENT)
    assert state_of(a_source(), hot, overdue=False) == "failing"
    assert (hot.health.score, hot.health.flag) == (1.0, "ok")


def test_a_host_that_is_down_fails_its_sources_without_a_check() -> None:
    hot = progress.host_unreachable(after(WORKED), NOW, "the host does not answer")
    assert state_of(a_source(), hot, overdue=False) == "failing"


def test_a_pause_hides_all_else_and_a_failure_hides_that_it_is_overdue() -> None:
    assert state_of(a_source(enabled=False), after(Blame.REMOTE_PERMANENT), overdue=True) == "paused"
    assert state_of(a_source(), after(Blame.REMOTE_PERMANENT), overdue=True) == "failing"
    assert state_of(a_source(), after(WORKED), overdue=True) == "overdue"
    assert state_of(a_source(), SourceRuntime(), overdue=True) == "overdue"


def test_counts_follow_each_change_and_overdue_ones_are_taken_from_those_that_are_well() -> None:
    counts = StateCounts()
    for number in range(1, 5):
        counts.put(a_source(number), after(WORKED))
    counts.put(a_source(1), after(WORKED, Blame.REMOTE_PERMANENT))
    counts.put(a_source(2, enabled=False), after(WORKED))
    found = counts.read(overdue=1)
    assert {state: count for state, count in found.items() if count} == {
        "failing": 1,
        "overdue": 1,
        "ok": 1,
        "paused": 1,
    }
    counts.drop(a_source(1).id)
    counts.drop(a_source(1).id)
    assert sum(counts.read(overdue=9).values()) == 3 and counts.read(overdue=9)["overdue"] == 2
