from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from actors.egress.failures import Blame, CheckFailed, NotRendered
from actors.sources.checks.progress import CheckResult, cap_waits, failed, host_unreachable, is_urgent, succeeded
from actors.sources.schedule import cadence as pace
from actors.sources.schedule import silence as pulse
from actors.sources.schedule.cadence import Hints, Limits
from storage.records.identity import Millis
from storage.records.source import SourceRuntime, Validators

NOW = Millis(1_780_000_000_000)
MINUTE = 60_000


def a_failure(blame: Blame = Blame.REMOTE_TRANSIENT, **more: float) -> CheckFailed:
    return CheckFailed(blame, "timeout after 30 s", **more)  # type: ignore[arg-type]  # status or retry_after


def a_look(at: int = NOW, *, changed: bool = False, hints: Hints | None = None, soon: bool = False) -> CheckResult:
    return CheckResult(Millis(at), 200, Validators(etag='"1"'), changed, hints=hints, again_soon=soon)


def after_failures(
    count: int, blame: Blame = Blame.REMOTE_TRANSIENT, hot: SourceRuntime | None = None
) -> SourceRuntime:
    """Return a source after so many failed checks, each at its due time."""
    hot = hot or SourceRuntime()
    now = NOW
    for _ in range(count):
        hot = failed(hot, a_failure(blame), now, Limits(), 0.5)
        now = hot.next_look_at or now
    return hot


def test_b1_three_failures_in_a_row_open_the_breaker_and_each_probe_that_fails_doubles_the_wait() -> None:
    assert after_failures(2).breaker.state == "closed"
    waits = []
    for count in range(3, 12):
        hot = after_failures(count)
        assert hot.breaker.state == "open" and hot.last_look_at is not None and hot.next_look_at is not None
        waits.append((hot.next_look_at - hot.last_look_at) // MINUTE)
    assert waits == [1, 2, 4, 8, 16, 30, 30, 30, 30]


@given(st.integers(3, 40), st.floats(0, 0.999))
def test_b1_a_recovered_origin_is_checked_within_36_minutes(count: int, draw: float) -> None:
    hot = failed(after_failures(count - 1), a_failure(), NOW, Limits(), draw)
    assert hot.next_look_at is not None and hot.next_look_at - NOW <= 36 * MINUTE


def test_a_host_that_throttles_without_saying_for_how_long_is_left_alone_twice_as_long_each_time() -> None:
    hot, waits = SourceRuntime(), []
    for _ in range(7):
        now = hot.next_look_at or NOW
        hot = failed(hot, a_failure(Blame.THROTTLED, status=429), now, Limits(), 0.0)
        assert hot.next_look_at is not None
        waits.append((hot.next_look_at - now) // MINUTE)
    assert waits == [1, 2, 4, 8, 16, 30, 30]
    told = failed(hot, a_failure(Blame.THROTTLED, status=429, retry_after=120), NOW, Limits(), 0.0)
    assert told.next_look_at == NOW + 2 * MINUTE, "what the host says counts"
    assert succeeded(hot, a_look(), Limits(), 0.5).not_before is None


def test_b1_one_success_closes_the_breaker_and_clears_the_count() -> None:
    hot = succeeded(after_failures(7), a_look(), Limits(), 0.5)
    assert (hot.breaker.state, hot.breaker.failures, hot.last_error) == ("closed", 0, None)


def test_a_permanent_failure_opens_the_breaker_at_once() -> None:
    assert after_failures(1, Blame.REMOTE_PERMANENT).breaker.state == "open"


@pytest.mark.parametrize("blame", [Blame.LOCAL, Blame.THROTTLED])
def test_our_own_troubles_and_throttling_never_open_the_breaker(blame: Blame) -> None:
    hot = after_failures(50, blame)
    assert (hot.breaker.state, hot.health.score) == ("closed", 1.0)


@pytest.mark.parametrize(("asked", "held"), [(None, 60), (5.0, 60), (600.0, 600), (86_400.0, 3600)])
def test_b4_a_servers_retry_after_is_honoured_up_to_an_hour(asked: float | None, held: int) -> None:
    failure = CheckFailed(Blame.THROTTLED, "429", status=429, retry_after=asked)
    hot = failed(SourceRuntime(), failure, NOW, Limits(), 0.0)
    assert hot.not_before == NOW + held * 1000
    assert hot.next_look_at == hot.not_before


def test_a_304_keeps_the_hints_that_the_last_body_gave() -> None:
    hot = succeeded(SourceRuntime(), a_look(hints=Hints(ttl=1200.0)), Limits(), 0.5)
    again = succeeded(hot, a_look(), Limits(), 0.5)
    assert pace.decode(again.pace).hints == Hints(ttl=1200.0)
    assert again.next_look_at == NOW + 1_200_000


def test_a_doubt_is_checked_again_at_the_floor() -> None:
    hot = succeeded(replace(SourceRuntime(), interval=2000.0), a_look(soon=True), Limits(), 0.5)
    assert hot.next_look_at == NOW + 60_000


def test_a_wait_that_a_clock_step_has_made_absurd_is_dropped() -> None:
    hot = replace(SourceRuntime(), next_look_at=Millis(NOW + 5 * 3_600_000))
    assert cap_waits(hot, NOW, Limits()).next_look_at == NOW
    near = replace(SourceRuntime(), next_look_at=Millis(NOW + 1000))
    assert cap_waits(near, NOW, Limits()) is near


def test_r12_a_trouble_noted_by_a_fast_clock_is_moved_back_to_now() -> None:
    later = Millis(NOW + 30 * 86_400_000)
    hot = after_failures(4, hot=failed(SourceRuntime(), a_failure(Blame.THROTTLED, status=429), later, Limits(), 0.5))
    hot = replace(hot, breaker=replace(hot.breaker, retry_at=later), health=replace(hot.health, down_since=later))
    hot = cap_waits(hot, NOW, Limits())
    assert (hot.breaker.retry_at, hot.health.down_since, hot.not_before) == (NOW, NOW, None)


@pytest.mark.parametrize("blame", [Blame.REMOTE_TRANSIENT, Blame.LOCAL, Blame.THROTTLED, Blame.REMOTE_PERMANENT])
def test_r12_a_failure_is_waited_for_as_long_as_ever_though_the_one_before_was_by_a_clock_ahead(blame: Blame) -> None:
    later = Millis(NOW + 30 * 86_400_000)
    for before in (Blame.THROTTLED, Blame.REMOTE_PERMANENT):
        hot = failed(SourceRuntime(), a_failure(before, status=429), later, Limits(), 0.5)
        hot = failed(hot, a_failure(blame, status=429), NOW, Limits(), 0.5)
        assert hot.next_look_at is not None and hot.next_look_at <= NOW + 3_600_000


def test_a_scheduled_check_with_its_sway_is_not_made_early_by_a_restart() -> None:
    week = 7 * 86_400
    hot = SourceRuntime(next_look_at=Millis(NOW + round(week * 1000 * 1.1)))
    assert cap_waits(hot, NOW, Limits(schedule=week)) is hot


def test_a_memory_of_another_version_is_a_fresh_one() -> None:
    hot = succeeded(replace(SourceRuntime(), pace=b"\xc1rubbish", pulse=b"\xc1rubbish"), a_look(), Limits(), 0.5)
    assert pace.decode(hot.pace).hints == Hints() and pulse.decode(hot.pulse).gaps == ()


def test_the_state_of_a_long_watched_source_is_small() -> None:
    hot, now = SourceRuntime(), int(NOW)
    for look in range(400):
        now += 10 * MINUTE
        hot = succeeded(hot, a_look(now, changed=look % 3 == 0), Limits(), 0.5)
    assert len(hot.pace) <= 400 and len(hot.pulse) <= 320


def test_changes_shorten_the_interval_and_their_absence_stretches_it() -> None:
    hot, now, waits = succeeded(SourceRuntime(), a_look(), Limits(), 0.5), int(NOW), []
    for changed in (*[False] * 60, True):
        now += round(hot.interval * 1000)
        hot = succeeded(hot, a_look(now, changed=changed), Limits(), 0.5)
        waits.append(hot.interval)
    assert waits[:-1] == sorted(waits[:-1]) and waits[-2] > 1200 > 2 * waits[-1]


def test_silence_counts_only_while_the_source_was_watched_and_answered() -> None:
    hot = succeeded(SourceRuntime(), a_look(), Limits(), 0.5)
    hot = replace(hot, next_look_at=Millis(NOW + 10 * MINUTE))
    seen = succeeded(hot, a_look(NOW + 10 * MINUTE), Limits(), 0.5)
    assert pulse.decode(seen.pulse).age == 600.0
    stopped = succeeded(hot, a_look(NOW + 5000 * MINUTE), Limits(), 0.5)
    assert pulse.decode(stopped.pulse).age == 900.0, (
        "the program did not run: no more than half as long again as planned"
    )
    down = failed(hot, a_failure(), Millis(NOW + 10 * MINUTE), Limits(), 0.5)
    back = succeeded(down, a_look(NOW + 20 * MINUTE), Limits(), 0.5)
    assert pulse.decode(back.pulse).age == 0.0


def test_a_source_that_stops_yielding_is_reported_by_its_health() -> None:
    hot, now = SourceRuntime(), int(NOW)
    for look in range(24 * 20 + 30):
        now += 60 * MINUTE
        hot = replace(hot, next_look_at=Millis(now))
        hot = succeeded(hot, a_look(now, changed=look < 24 * 20), Limits(), 0.5)
    assert hot.health.flag == "rotten" and hot.health.reason.startswith("Silent for 30 h")
    assert is_urgent(SourceRuntime(), hot)


def test_a_source_on_a_dead_host_is_reported_as_not_answering() -> None:
    hot = host_unreachable(SourceRuntime(), NOW, "the host is resting")
    later = host_unreachable(hot, Millis(NOW + 24 * 60 * MINUTE), "the host is resting")
    assert later.health.cause == "reach" and later.health.score < 0.3 and later.looks == 0


def test_only_state_that_must_not_be_lost_is_urgent() -> None:
    quiet = succeeded(SourceRuntime(), a_look(), Limits(), 0.5)
    assert not is_urgent(SourceRuntime(), quiet)
    assert is_urgent(SourceRuntime(), after_failures(3))
    assert is_urgent(after_failures(3), succeeded(after_failures(3), a_look(), Limits(), 0.5))
    assert is_urgent(SourceRuntime(), after_failures(1, Blame.THROTTLED))


def test_r12_an_order_to_wait_that_is_longer_than_any_that_is_honoured_is_forgotten() -> None:
    soon = Millis(NOW + 60_000)
    hot = replace(SourceRuntime(), next_look_at=soon, not_before=Millis(NOW + 30 * 86_400_000))
    assert cap_waits(hot, NOW, Limits()) == replace(hot, not_before=None)
    near = replace(hot, not_before=soon)
    assert cap_waits(near, NOW, Limits()) is near


def test_a_rendered_source_is_checked_a_tenth_as_often_and_marked_so() -> None:
    busy = SourceRuntime(interval=100.0)
    plain = succeeded(busy, a_look(), Limits(), 0.5)
    shown = succeeded(busy, replace(a_look(), rendered=True), Limits(), 0.5)
    assert 7 < shown.interval / plain.interval < 13
    assert (plain.rendered, shown.rendered) == (False, True)


@given(st.floats(0, 0.999), st.floats(60, 2700))
def test_a_page_that_a_browser_died_of_is_tried_at_its_own_pace_and_never_in_hours(
    draw: float, interval: float
) -> None:
    hot = replace(SourceRuntime(), interval=interval)
    after = failed(hot, NotRendered(Blame.LOCAL, "the browser died"), NOW, Limits(), draw)
    assert after.next_look_at is not None
    assert max(60.0, interval / 2) - 0.001 <= (after.next_look_at - NOW) / 1000 <= 2700
    assert (after.breaker, after.health.score) == (hot.breaker, 1.0)


@given(st.floats(0, 0.999))
def test_our_own_fault_at_the_end_of_a_rest_is_no_reason_to_try_at_once(draw: float) -> None:
    rested = after_failures(4)
    after = failed(rested, a_failure(Blame.LOCAL), Millis((rested.next_look_at or 0) + 1), Limits(), draw)
    assert (after.next_look_at or 0) - (rested.next_look_at or 0) >= MINUTE
