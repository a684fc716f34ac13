"""The parts of a source's score, and the reason for the time of its next check, in sentences. Pure."""

from __future__ import annotations

from typing import Final

from actors.hours import open_from
from actors.inheriting import origins_of
from actors.messages.views import HealthPart, SourceExamination, SourceView
from actors.sources.health.score import FAILURES, Penalty, defective, reach, silent, span, stuck
from actors.sources.schedule import cadence as pace
from actors.sources.schedule import silence as pulse
from actors.sources.schedule.budgets import RENDERED
from actors.sources.schedule.cadence import Hints, Limits
from actors.sources.schedule.silence import FEWEST_GAPS, WATCHED_LEAST, Pulse
from storage.records import trail
from storage.records.health import Cause
from storage.records.identity import Millis
from storage.records.source import SourceRuntime
from storage.records.times import spoken
from storage.records.trail import Verdict

_ROUGHLY: Final = 1.2
"""A wait within this factor of the floor or the ceiling counts as that."""
_FEW: Final = 2.0
"""Changes needed before a rate is worth showing."""
_COSTLY: Final = f" A browser shows it: each look costs {RENDERED} plain ones, so there are fewer of them."
_ORDER: Final[tuple[Cause, ...]] = ("reach", "yield", "partial", "stuck")
_WELL: Final[dict[Cause, str]] = {
    "reach": "It answers.",
    "yield": "Its silence is within what is usual for it.",
    "partial": "All of its last answers could be read.",
    "stuck": "It has no permanent error.",
}


def examined(view: SourceView, limits: Limits, now: Millis) -> SourceExamination:
    """Return the explanation of a source's current state."""
    known = pace.decode(view.hot.pace, view.hot.interval)
    gap = 1 / known.rhythm.rate if known.rhythm.events >= _FEW else None
    return SourceExamination(view, parts(view.hot), next_look(view, limits, known.hints, gap, now), gap)


def parts(hot: SourceRuntime) -> tuple[HealthPart, ...]:
    """Return every part of the last check's score, whether it lowers the score or not."""
    at, beat, why = Millis(hot.last_look_at or 0), pulse.decode(hot.pulse), hot.last_error or ""
    found = {one.cause: one for one in (silent(beat), defective(beat, why), stuck(beat, at, why), _reach(hot, at, why))}
    return tuple(_part(found[cause], beat) for cause in _ORDER)


def _reach(hot: SourceRuntime, at: Millis, why: str) -> Penalty:
    health, failures = hot.health, hot.breaker.failures
    unread = any(row.verdict is Verdict.CONTENT for row in trail.read(hot.trail)[-1:])
    if health.down_since is None or failures < FAILURES or unread:
        return Penalty("reach", 1.0, "")
    down = (at - health.down_since) / 1000
    return Penalty("reach", reach(down), f"{failures} looks in a row have failed, for {span(down)}: {why}")


def _part(penalty: Penalty, beat: Pulse) -> HealthPart:
    if penalty.left < 1.0:
        return HealthPart(penalty.cause, penalty.left, penalty.reason)
    if penalty.cause == "yield" and (len(beat.gaps) < FEWEST_GAPS or beat.watched < WATCHED_LEAST):
        return HealthPart("yield", 1.0, "Too little is known of its usual pace to judge a silence.")
    return HealthPart(penalty.cause, 1.0, _WELL[penalty.cause])


def next_look(view: SourceView, limits: Limits, hints: Hints, gap: float | None, now: Millis) -> str:
    """Return the reason for the time of the next check. `gap`: mean seconds between changes, None if unknown."""
    source, hot = view.effective, view.hot
    if not source.enabled:
        return "It is paused: there is no next look."
    if not source.tier.polled:
        return _connection(view)
    if hot.last_look_at is None or hot.next_look_at is None:
        return "It has not been looked at yet: the first look comes as soon as its host's turn does."
    if view.queue_position:
        return f"{view.queue_position} looks wait for its host before its own: one host is asked once a second at most."
    if view.overdue:
        return f"A look was due on {spoken(hot.next_look_at)} and has not happened yet."
    if hot.breaker.failures or (hot.not_before or 0) > hot.last_look_at:
        return _after_trouble(hot)
    if source.hours is not None and _waits_for_hours(hot, limits):
        return f"It is looked at in these hours only: {source.hours}."
    if limits.schedule is not None:
        who = "You have" if not (tags := origins_of(source).get("schedule")) else f"Its tag {tags[0]} has"
        return f"{who} set a fixed interval of {span(limits.schedule)}, give or take 5 %."
    return _learned(hot, limits, hints, gap) + (_COSTLY if hot.rendered else "")


def _waits_for_hours(hot: SourceRuntime, limits: Limits) -> bool:
    """Return whether the next check is when the hours begin: a second earlier would be outside."""
    due = hot.next_look_at or 0
    return open_from(limits.hours, Millis(due - 1000)) >= due


def _connection(view: SourceView) -> str:
    if view.push is not None and view.push.connected_since is not None:
        return f"A connection is held since {spoken(view.push.connected_since)}: frames come by themselves."
    if view.hot.next_look_at is None:
        return "The connection is being made."
    return f"The connection is made again on {spoken(view.hot.next_look_at)}, later with each failure in a row."


def _after_trouble(hot: SourceRuntime) -> str:
    failures = hot.breaker.failures
    if (hot.not_before or 0) > (hot.last_look_at or 0):
        return f"Its server has asked for fewer looks: none before {spoken(Millis(hot.not_before or 0))}."
    if hot.breaker.state == "open":
        row = "The last look" if failures == 1 else f"The last {failures} looks"
        return f"{row} failed, so it rests: longer after each, 36 minutes at most. Then one look tries it again."
    return "The last look failed: it is tried again after about a minute."


def _learned(hot: SourceRuntime, limits: Limits, hints: Hints, gap: float | None) -> str:
    wait = ((hot.next_look_at or 0) - (hot.last_look_at or 0)) / 1000
    asked = max(hints.max_age, hints.ttl)
    if wait < hot.interval * 0.7 and wait <= limits.floor * _ROUGHLY:
        return "The last look left a doubt, and one more a minute later settles it."
    if asked > hot.interval:
        what = "its feed asks for it" if asked == hints.ttl else "its answers are good for that long (Cache-Control)"
        return f"A look every {span(min(asked, limits.ceiling))}: {what}."
    if (hints.skip_hours or hints.skip_days) and wait > hot.interval * _ROUGHLY:
        return "Its feed names hours or days at which it wants to be left alone, and now is one of them."
    pace_says = "" if gap is None else f" It changes about every {span(gap)} on average."
    if wait >= limits.ceiling / _ROUGHLY:
        return f"It changes so seldom that a look every {span(limits.ceiling)}, the longest wait, will do.{pace_says}"
    if gap is None:
        return f"Little is known of it yet. After {span(wait)} another look tells more."
    if wait <= limits.floor * _ROUGHLY:
        return f"News is likely now: it is looked at as often as politeness allows.{pace_says}"
    return f"It is looked at about every {span(wait)}: learned from the hours and days at which it changes.{pace_says}"
