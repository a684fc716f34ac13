from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from actors.egress.failures import Blame
from actors.source.health import after_failure, after_success, flag_of
from storage.records.health import Health
from storage.records.identity import Millis

HOUR = 3_600_000


def failing(hours: float, blame: Blame = Blame.REMOTE_TRANSIENT, failures: int = 5) -> Health:
    """A source whose first failure was so many hours before this one."""
    first = after_failure(Health(), blame, 1, Millis(HOUR), "timeout")
    return after_failure(first, blame, failures, Millis(round(HOUR + hours * HOUR)), "timeout")


@pytest.mark.parametrize(
    ("hours", "score", "flag"),
    [(1, 0.78, "ok"), (6, 0.48, "degraded"), (24, 0.22, "rotten"), (72, 0.0, "rotten"), (500, 0.0, "rotten")],
)
def test_reach_falls_with_the_time_of_nothing_but_failures(hours: float, score: float, flag: str) -> None:
    health = failing(hours)
    assert (round(health.score, 2), health.flag) == (score, flag)
    assert "5 looks in a row" in health.reason and "timeout" in health.reason


def test_two_failures_cost_nothing() -> None:
    assert failing(3, failures=2).score == 1.0


@given(st.integers(0, 1000))
def test_h1_a_source_that_answers_keeps_one(looks: int) -> None:
    health = Health()
    for _ in range(looks):
        health = after_success(health)
    assert (health.score, health.flag) == (1.0, "ok")


@pytest.mark.parametrize("blame", [Blame.LOCAL, Blame.THROTTLED])
def test_our_own_troubles_and_throttling_are_not_held_against_a_source(blame: Blame) -> None:
    assert failing(100, blame) == Health()


def test_a_trouble_that_will_not_mend_by_itself_pulls_the_score_down_after_a_day() -> None:
    assert failing(23, Blame.REMOTE_PERMANENT).score < 0.3
    assert failing(25, Blame.REMOTE_PERMANENT).flag == "rotten"


def test_one_success_restores_the_health() -> None:
    health = after_success(failing(30))
    assert (health.score, health.flag, health.down_since) == (1.0, "ok", None)


@given(st.floats(0, 1), st.sampled_from(["ok", "degraded", "rotten"]))
def test_a_flag_never_says_better_than_its_score_allows(score: float, before: str) -> None:
    flag = flag_of(score, before)  # type: ignore[arg-type]  # drawn from the literal's values
    assert flag != "ok" or score >= 0.7
    assert flag == "rotten" or score >= 0.3
