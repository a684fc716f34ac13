from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace

from actors.egress.failures import Blame
from actors.messages.views import PushView, SourceView
from actors.sources.explanation import examine, health_parts, next_check_reason
from actors.sources.health.score import after_failure
from actors.sources.schedule import cadence as pace
from actors.sources.schedule import silence as pulse
from actors.sources.schedule.cadence import Hints, Limits, Pace, Rhythm
from storage.records.identity import Millis
from storage.records.source import BreakerState, SourceRuntime
from tests.actors.sources.checks.test_progress import MINUTE, NOW, after_failures
from tests.support.build import a_source

LIMITS = Limits()


def a_view(**hot: Any) -> SourceView:
    """Return a source that was just checked and has its next check in 10 minutes."""
    known = {"last_look_at": NOW, "next_look_at": Millis(NOW + 10 * MINUTE), "interval": 600.0, **hot}
    return SourceView(a_source(), SourceRuntime(**known))


def says(view: SourceView, *, hints: Hints = Hints(), gap: float | None = 7200.0, limits: Limits = LIMITS) -> str:  # noqa: B008
    return str(next_check_reason(view, limits, hints, gap, NOW))


def test_a_new_source_loses_nothing_and_each_part_says_so() -> None:
    found = health_parts(SourceRuntime())
    assert [part.cause for part in found] == ["reach", "yield", "partial", "stuck"]
    assert {part.left for part in found} == {1.0} and str(found[0].says) == "It answers."
    assert str(found[1].says) == "Too little is known of its usual pace to judge a silence."


def test_the_parts_of_a_failing_source_multiply_to_its_score() -> None:
    hot = after_failures(8)
    found = health_parts(hot)
    whole = min(part.left for part in found if part.cause != "partial")
    assert round(whole * found[2].left, 4) == hot.health.score < 1.0
    assert found[0].says == hot.health.said and "8 checks in a row have failed" in hot.health.reason


def test_unreadable_content_costs_health_under_its_own_name() -> None:
    hot, beat = SourceRuntime(last_look_at=NOW), pulse.SilenceState()
    health = hot.health
    for number in range(1, 5):
        beat = pulse.after_watching(beat, 0.0, defect=True)
        health, beat = after_failure(health, beat, Blame.CONTENT, number, NOW, "too large")
    found = health_parts(replace(hot, pulse=pulse.encode(beat), health=health, last_error="too large"))
    assert found[2].left == health.score < 1.0
    assert str(found[2].says) == "4 of the last 20 answers could not be read: too large"
    assert found[0].left == 1.0


@pytest.mark.parametrize(
    ("view", "words"),
    [
        (SourceView(a_source(enabled=False), SourceRuntime()), "paused"),
        (SourceView(a_source(), SourceRuntime()), "not been checked yet"),
        (
            SourceView(a_source(type="push"), SourceRuntime(), push=PushView(connected_since=NOW)),
            "Connected since",
        ),
        (SourceView(a_source(type="push"), SourceRuntime(next_look_at=NOW)), "reconnects on 28 May 2026 20:26 UTC"),
        (replace(a_view(), queue_position=4), "4 checks of the same host"),
        (replace(a_view(), overdue=True), "is late"),
        (a_view(breaker=BreakerState("open", 4, 2)), "The last 4 checks failed, so it pauses"),
        (a_view(breaker=BreakerState("closed", 1)), "retried after about a minute"),
        (a_view(not_before=Millis(NOW + MINUTE)), "Its server asked for fewer requests: no check before"),
        (
            a_view(),
            "learned from the hours and days of its changes. It changes about every 2 h on average.",
        ),
        (a_view(next_look_at=Millis(NOW + MINUTE)), "was uncertain"),
        (a_view(next_look_at=Millis(NOW + MINUTE), interval=60.0), "as often as politeness allows"),
        (a_view(next_look_at=Millis(NOW + 44 * MINUTE), interval=2700.0), "45 min, the longest interval"),
    ],
)
def test_the_next_check_has_its_reason(view: SourceView, words: str) -> None:
    assert words in says(view)


def test_requests_of_the_user_and_the_origin_are_explained() -> None:
    assert "fixed interval of 10 min" in says(a_view(), limits=Limits(schedule=600.0))
    assert "Cache-Control" in says(a_view(), hints=Hints(max_age=1800.0))
    assert "as its feed asks" in says(a_view(), hints=Hints(max_age=1200.0, ttl=1800.0))
    skipped = a_view(next_look_at=Millis(NOW + 43 * MINUTE))
    assert "hours or days without checks" in says(skipped, hints=Hints(skip_hours=(20, 21)))
    assert says(a_view(), gap=None) == "Its pace is not known yet. The next check is after 10 min."


def test_the_mean_gap_is_reported_once_two_changes_are_known() -> None:
    for events, gap in ((1.0, None), (4.0, 900.0)):
        rhythm = Rhythm(events=events, seconds=3600.0)
        view = a_view(pace=pace.encode(Pace(rhythm)))
        assert examine(view, LIMITS, NOW).gap == gap


def test_a_failure_by_throttling_costs_nothing() -> None:
    hot = after_failures(3, Blame.THROTTLED)
    assert {part.left for part in health_parts(hot)} == {1.0}
