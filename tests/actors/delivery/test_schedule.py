from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from actors.delivery.schedule import ATTEMPTS, LONGEST_RETRY_AFTER, WAITS, outcome, verdict, wait
from actors.destination_kinds.contract import Answer
from storage.records.destination import Delivery
from storage.records.identity import Millis, Seq

ATTEMPT = st.integers(1, ATTEMPTS - 1)
DRAW = st.floats(0, 1, exclude_max=True)


def test_d4_the_schedule_has_ten_attempts_over_three_days() -> None:
    assert ATTEMPTS == 10
    hours = [wait / 3600 for wait in WAITS]
    assert hours == [5 / 3600, 5 / 60, 0.5, 2, 5, 10, 14, 20, 24]  # as in docs/deliveries.md


@given(ATTEMPT, DRAW)
def test_d4_each_wait_has_a_jitter_of_a_fifth(attempt: int, draw: float) -> None:
    base = WAITS[attempt - 1]
    assert 0.8 * base <= wait(Answer(500, 1), attempt, draw) <= 1.2 * base


@given(ATTEMPT, DRAW)
def test_d4_after_a_timeout_or_a_429_the_receiver_gets_a_minute(attempt: int, draw: float) -> None:
    assert wait(Answer(None, 15_000, "x", timeout=True), attempt, draw) >= 60
    assert wait(Answer(429, 1), attempt, draw) >= 60
    assert wait(Answer(429, 1), 1, draw) == 60


@given(ATTEMPT, DRAW, st.floats(0, 1e9))
def test_retry_after_lengthens_a_wait_by_an_hour_at_most(attempt: int, draw: float, asked: float) -> None:
    plain = wait(Answer(503, 1), attempt, draw)
    assert wait(Answer(503, 1, retry_after=asked), attempt, draw) == max(plain, min(asked, LONGEST_RETRY_AFTER))


@pytest.mark.parametrize(
    ("status", "attempt", "result"),
    [
        (200, 1, "sent"),
        (299, 10, "sent"),
        (300, 1, "retry"),
        (302, 1, "retry"),
        (400, 1, "retry"),
        (404, 9, "retry"),
        (410, 1, "given_up"),
        (500, 10, "given_up"),
        (None, 1, "retry"),
        (None, 10, "given_up"),
    ],
)
def test_d5_success_is_2xx_only_and_gone_is_final(status: int | None, attempt: int, result: str) -> None:
    assert verdict(Answer(status, 1), attempt) == result


def test_d13_an_outcome_has_a_reason_and_the_time_of_the_retry() -> None:
    delivery = Delivery("hook", Seq(7), "id", 2, Millis(0), b"{}")
    found = outcome(delivery, Answer(503, 12, "HTTP 503 busy"), Millis(1000), 0.5)
    assert (found.result, found.status, found.latency_ms, found.error) == ("retry", 503, 12, "HTTP 503 busy")
    assert found.retry_at == 1000 + 300_000
    assert outcome(delivery, Answer(204, 1), Millis(1000), 0.5).retry_at is None
