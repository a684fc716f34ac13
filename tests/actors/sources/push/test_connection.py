from __future__ import annotations

from msgspec.structs import replace

from actors.egress.failures import Blame, CheckFailed
from actors.sources.push.connection import (
    Minute,
    Session,
    after_close,
    after_connect,
    after_failure,
    after_minute,
    delay,
    scheduled,
)
from actors.sources.schedule.cadence import Limits
from storage.records.checks import read_rows
from storage.records.identity import Millis
from storage.records.source import BreakerState, SourceRuntime
from tests.support.build import NOW

LIMITS = Limits(60.0, 2700.0, None)
GONE = CheckFailed(Blame.REMOTE_PERMANENT, "answered 404 Not Found", status=404)
NOTHING = Session(0, 0, 0, 0.5)


def later(minutes: float) -> Millis:
    return Millis(NOW + round(minutes * 60_000))


def after_minutes(hot: SourceRuntime, count: int, frames: int = 0, start: int = 0) -> SourceRuntime:
    for number in range(start, start + count):
        hot = after_minute(hot, Minute(60.0, frames, 0), later(number))
    return hot


def test_a_handshake_alone_proves_nothing() -> None:
    hot = SourceRuntime()
    for number in range(4):
        hot = after_connect(hot, later(number), 30)
        hot = after_failure(hot, CheckFailed(Blame.REMOTE_TRANSIENT, "dropped"), NOTHING, later(number), LIMITS, 0.5)
    hot = after_connect(hot, later(60), 30)
    assert (hot.breaker.failures, hot.last_status, hot.health.score < 1.0) == (4, 101, True)
    proved = after_minute(hot, Minute(60.0, 0, 0), later(61))
    assert (proved.breaker, proved.health.score) == (BreakerState(), 1.0)


def test_a_source_that_always_was_quiet_keeps_its_score() -> None:
    assert after_minutes(SourceRuntime(), 30 * 1440).health.score == 1.0


def test_a_source_that_falls_silent_is_judged_by_the_frames_it_used_to_send() -> None:
    hot = SourceRuntime()
    for hour in range(15 * 24):
        hot = after_minutes(hot, 59, start=60 * hour)
        hot = after_minutes(hot, 1, frames=3, start=60 * hour + 59)
    assert hot.health.score == 1.0
    hot = after_minutes(hot, 12 * 60, start=15 * 1440)
    assert hot.health.flag != "ok"
    assert hot.health.reason.startswith("Silent for 12 h")
    hot = after_minutes(hot, 2, frames=1, start=16 * 1440)
    assert (hot.health.score, hot.health.flag) == (1.0, "ok")


def test_a_burst_of_a_second_or_of_a_minute_counts_once_in_the_health() -> None:
    once, often = (after_minute(SourceRuntime(), Minute(60.0, frames, 0), later(1)) for frames in (1, 100_000))
    assert once == often


def test_minutes_with_unreadable_frames_count_as_defects() -> None:
    hot = SourceRuntime()
    for number in range(20):
        hot = after_minute(hot, Minute(60.0, 5, 5), later(number))
    assert (hot.health.score, hot.health.cause) == (0.5, "partial")


def test_the_trail_has_connections_with_their_frames() -> None:
    hot = after_connect(SourceRuntime(), later(0), 30)
    hot = after_close(hot, Session(9, 2, 1_234, 3.5), later(1))
    hot = after_close(after_connect(hot, later(2), 30), Session(9, 0, 50, 70.0), later(3))
    hot = after_failure(hot, GONE, NOTHING, later(4), LIMITS, 0.5)
    assert [(row.status, row.verdict.name, row.size, row.ms) for row in read_rows(hot.trail)] == [
        (101, "UNCHANGED", 0, 30),
        (101, "CHANGED", 1_234, 3_500),
        (101, "UNCHANGED", 0, 30),
        (101, "NOTHING_TO_TELL", 50, 0xFFFF),
        (404, "REMOTE_PERMANENT", 0, 500),
    ]


def test_permanent_failures_wait_by_the_breaker_others_five_minutes_at_most() -> None:
    hot = SourceRuntime()
    for number in range(12):
        hot = after_failure(hot, GONE, NOTHING, later(number), LIMITS, 0.5)
    assert delay(hot, 12, Blame.REMOTE_PERMANENT, later(11), 1.0) > 1_500
    assert delay(hot, 12, Blame.REMOTE_TRANSIENT, later(11), 1.0) == 300


def test_a_wait_requested_by_the_server_is_obeyed() -> None:
    busy = CheckFailed(Blame.THROTTLED, "answered 429", status=429, retry_after=900.0)
    hot = after_failure(SourceRuntime(), busy, NOTHING, NOW, LIMITS, 0.5)
    assert delay(hot, 1, Blame.THROTTLED, NOW, 0.0) == 900


def test_the_breaker_shows_when_it_really_is_tried_again() -> None:
    hot = scheduled(replace(SourceRuntime(), breaker=BreakerState("open", 4, 1, later(30))), later(5))
    assert (hot.next_look_at, hot.breaker.retry_at) == (later(5), later(5))
    assert scheduled(SourceRuntime(), later(5)).breaker == BreakerState()


def test_b5_the_delay_is_full_jitter_from_a_second_to_five_minutes() -> None:
    delays = [delay(SourceRuntime(), streak, None, NOW, draw / 100) for streak in range(20) for draw in range(101)]
    assert (min(delays), max(delays)) == (1.0, 300.0)
    assert delay(SourceRuntime(), 0, None, NOW, 1.0) == 2.0
    assert [delay(SourceRuntime(), streak, None, NOW, 0.5) for streak in (1, 3, 7, 8, 100)] == [
        2.5,
        8.5,
        128.5,
        150.5,
        150.5,
    ]
