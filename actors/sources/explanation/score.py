"""The parts of a source's score, and the reason for the time of its next check, in sentences. Pure."""

from __future__ import annotations

from typing import Final

from actors.hours import open_from
from actors.inheriting import origins_of
from actors.messages.views import HealthPart, SourceExamination, SourceView
from actors.sources.health.score import FAILURES, Penalty, defective, in_a_row, reach, silent, span, stuck
from actors.sources.schedule import cadence, silence
from actors.sources.schedule.budgets import RENDERED
from actors.sources.schedule.cadence import Hints, Limits
from actors.sources.schedule.silence import FEWEST_GAPS, WATCHED_LEAST, Pulse
from storage.records import trail
from storage.records.identity import Millis
from storage.records.message import Message, joined, message
from storage.records.source import SourceRuntime
from storage.records.states import Cause
from storage.records.trail import Verdict

_ROUGHLY: Final = 1.2
"""A wait within this factor of the floor or the ceiling counts as that."""
_FEW: Final = 2.0
"""Changes needed before a rate is worth showing."""
_COSTLY: Final = message(
    "A browser renders it: each check costs as much as %(count)s plain ones, so there are fewer.", count=RENDERED
)
_ORDER: Final[tuple[Cause, ...]] = ("reach", "yield", "partial", "stuck")
_WELL: Final[dict[Cause, Message]] = {
    "reach": message("It answers."),
    "yield": message("Its silence is normal for it."),
    "partial": message("All of its last answers could be read."),
    "stuck": message("It has no permanent error."),
}
_UNKNOWN: Final = message("Too little is known of its usual pace to judge a silence.")


def examined(view: SourceView, limits: Limits, now: Millis) -> SourceExamination:
    """Return the explanation of a source's current state."""
    known = cadence.decode(view.hot.pace, view.hot.interval)
    gap = 1 / known.rhythm.rate if known.rhythm.events >= _FEW else None
    return SourceExamination(view, parts(view.hot), next_look(view, limits, known.hints, gap, now), gap)


def parts(hot: SourceRuntime) -> tuple[HealthPart, ...]:
    """Return every part of the last check's score, whether it lowers the score or not."""
    at, beat, why = Millis(hot.last_look_at or 0), silence.decode(hot.pulse), hot.last_error or ""
    found = {one.cause: one for one in (silent(beat), defective(beat, why), stuck(beat, at, why), _reach(hot, at, why))}
    return tuple(_part(found[cause], beat) for cause in _ORDER)


def _reach(hot: SourceRuntime, at: Millis, why: str) -> Penalty:
    health, failures = hot.health, hot.breaker.failures
    unread = any(row.verdict is Verdict.CONTENT for row in trail.read(hot.trail)[-1:])
    if health.down_since is None or failures < FAILURES or unread:
        return Penalty("reach", 1.0, _WELL["reach"])
    down = (at - health.down_since) / 1000
    return Penalty("reach", reach(down), in_a_row(failures, down, why))


def _part(penalty: Penalty, beat: Pulse) -> HealthPart:
    if penalty.left < 1.0:
        return HealthPart(penalty.cause, penalty.left, penalty.reason)
    if penalty.cause == "yield" and (len(beat.gaps) < FEWEST_GAPS or beat.watched < WATCHED_LEAST):
        return HealthPart("yield", 1.0, _UNKNOWN)
    return HealthPart(penalty.cause, 1.0, _WELL[penalty.cause])


def next_look(view: SourceView, limits: Limits, hints: Hints, gap: float | None, now: Millis) -> Message:
    """Return the reason for the time of the next check. `gap`: mean seconds between changes, None if unknown."""
    source, hot = view.effective, view.hot
    if not source.enabled:
        return message("It is paused: there is no next check.")
    if not source.tier.polled:
        return _connection(view)
    if hot.last_look_at is None or hot.next_look_at is None:
        return message("It has not been checked yet; the first check waits for its host's turn.")
    if view.queue_position:
        return message(
            "%(count)s checks of the same host come first: one host gets at most one request a second.",
            count=view.queue_position,
        )
    if view.overdue:
        return message("A check was due on %(at)s and is late.", at=hot.next_look_at)
    if hot.breaker.failures or (hot.not_before or 0) > hot.last_look_at:
        return _after_trouble(hot)
    if source.hours is not None and _waits_for_hours(hot, limits):
        return message("It is checked only in these hours: %(hours)s.", hours=source.hours)
    if limits.schedule is not None:
        every = span(limits.schedule)
        if tags := origins_of(source).get("schedule"):
            says = "Its tag %(tag)s has set a fixed interval of %(span)s, give or take 5 %%."
            return message(says, tag=tags[0], span=every)
        return message("You have set a fixed interval of %(span)s, give or take 5 %%.", span=every)
    return joined([_learned(hot, limits, hints, gap), _COSTLY if hot.rendered else None])


def _waits_for_hours(hot: SourceRuntime, limits: Limits) -> bool:
    """Return whether the next check is when the hours begin: a second earlier would be outside."""
    due = hot.next_look_at or 0
    return open_from(limits.hours, Millis(due - 1000)) >= due


def _connection(view: SourceView) -> Message:
    if view.push is not None and view.push.connected_since is not None:
        since = view.push.connected_since
        return message("Connected since %(at)s: frames arrive by themselves.", at=since)
    if view.hot.next_look_at is None:
        return message("Connecting.")
    says = "It reconnects on %(at)s, later with each failure in a row."
    return message(says, at=view.hot.next_look_at)


def _after_trouble(hot: SourceRuntime) -> Message:
    failures = hot.breaker.failures
    if (hot.not_before or 0) > (hot.last_look_at or 0):
        return message("Its server asked for fewer requests: no check before %(at)s.", at=hot.not_before or 0)
    if hot.breaker.state == "open":
        one = "The last check failed, so it pauses: longer after each failure, at most 36 min. Then one check retries."
        many = (
            "The last %(count)s checks failed, so it pauses: longer after each failure, at most 36 min. Then one "
            "check retries."
        )
        return message(one) if failures == 1 else message(many, count=failures)
    return message("The last check failed; it is retried after about a minute.")


def _learned(hot: SourceRuntime, limits: Limits, hints: Hints, gap: float | None) -> Message:
    wait = ((hot.next_look_at or 0) - (hot.last_look_at or 0)) / 1000
    asked = max(hints.max_age, hints.ttl)
    if wait < hot.interval * 0.7 and wait <= limits.floor * _ROUGHLY:
        return message("The last check was uncertain; another one a minute later decides.")
    if asked > hot.interval:
        every = span(min(asked, limits.ceiling))
        if asked == hints.ttl:
            return message("A check every %(span)s, as its feed asks.", span=every)
        return message("A check every %(span)s: its answers are valid for that long (Cache-Control).", span=every)
    if (hints.skip_hours or hints.skip_days) and wait > hot.interval * _ROUGHLY:
        return message("Its feed names hours or days without checks, and it is such a time now.")
    changes = None if gap is None else message("It changes about every %(span)s on average.", span=span(gap))
    if wait >= limits.ceiling / _ROUGHLY:
        says = "It changes so rarely that a check every %(span)s, the longest interval, is enough."
        return joined([message(says, span=span(limits.ceiling)), changes])
    if gap is None:
        return message("Its pace is not known yet. The next check is after %(span)s.", span=span(wait))
    if wait <= limits.floor * _ROUGHLY:
        return joined([message("A change is likely now: it is checked as often as politeness allows."), changes])
    says = "It is checked about every %(span)s, learned from the hours and days of its changes."
    return joined([message(says, span=span(wait)), changes])
