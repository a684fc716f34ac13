"""The effect of a check on a source's memory: validators, breaker, health and cadence change together.

The breaker uses the wall clock, because its state outlives the process. A clock that stepped back can leave a wait far
in the future; `cap_waits` caps each at its longest possible length.

The draft of an event from a feed's entry or a frame, and its preview.
"""

from __future__ import annotations

from typing import Final, Literal

from msgspec import Struct
from msgspec.structs import replace

from actors.content.bodies.frames import Frame
from actors.content.messages import Entry
from actors.content.values.kinds import values_of_entry
from actors.egress.failures import MOST_HOLD, PLAIN_HOLD, Blame, CheckFailed, NotRendered
from actors.hours import LONGEST_SHUT, open_from
from actors.messages.declaring import made_of
from actors.messages.requests import EXCERPT, DraftEvent
from actors.sources.health import score
from actors.sources.schedule import cadence, silence
from actors.sources.schedule.budgets import Price, cost_of
from actors.sources.schedule.cadence import Hints, Limits, Pace
from storage.records.event import NEW, Draft
from storage.records.identity import Millis, day_of
from storage.records.message import Message
from storage.records.source import BreakerState, Source, SourceRuntime, Validators, scored
from supervision import breaker
from supervision.breaker import Breaker, BreakerRule, Phase

RULE: Final = BreakerRule(threshold=3, base=60.0, ceiling=1800.0, probe=30.0)
_LONGEST_OPEN: Final = RULE.ceiling * 1.2  # longest time that a breaker is open, in seconds
_THROTTLES: Final = (429, 503)
LATE: Final = 1.5  # a late check, up to this factor of the planned wait, still means that the source was watched


class CheckResult(Struct, frozen=True):
    """A successful check. `hints` None: it said nothing new about the origin's pace (a 304). `times`: the source's own
    dates of its new entries; at the first check, of all entries. `remark`: for the health's reason; None keeps the
    previous one, as the body was not read. `rendered`: a browser has shown the page. `lent`: with another source's
    headers. `private`: with headers, or in an internal network.
    """

    at: Millis
    status: int
    validators: Validators
    changed: bool
    events: int = 0
    hints: Hints | None = None
    again_soon: bool = False
    times: tuple[Millis, ...] = ()
    remark: str | None = ""
    rendered: bool = False
    lent: bool = False
    private: bool = False


def succeeded(
    hot: SourceRuntime,
    result: CheckResult,
    limits: Limits,
    draw: float,
    price: Price = Price(),  # noqa: B008  # frozen
) -> SourceRuntime:
    """Return the memory after a success, with the next check's time. draw: in [0, 1), its jitter."""
    known = cadence.decode(hot.pace, hot.interval)
    hints = result.hints if result.hints is not None else known.hints
    rhythm = cadence.learn(known.rhythm, result.at, hot.last_look_at, result.times, result.changed)
    interval = cadence.interval_of(rhythm, result.at / 1000, price, limits, cost_of(rendered=result.rendered))
    due = cadence.due_after(result.at, interval, hints, limits, draw)
    silences = silence.after_watching(silence.decode(hot.pulse), _watched_seconds(hot, result.at), defect=False)
    if result.changed:
        silences = silence.after_change(silences)
    health, silences = score.after_success(hot.health, silences, result.remark)
    if result.again_soon:
        due = min(due, Millis(result.at + round(limits.floor * 1000)))
    at, unchanged = result.at, 0 if result.changed else hot.unchanged + 1
    last_event, since = at if result.events else hot.last_event_at, private_since(hot, at) if result.private else None
    scores, pace = scored(hot.scores, day_of(at), health.score), cadence.encode(Pace(rhythm, hints))
    return replace(
        hot,
        looks=hot.looks + 1,
        unchanged=unchanged,
        events=hot.events + result.events,
        last_look_at=at,
        last_success_at=at,
        last_event_at=last_event,
        next_look_at=due,
        not_before=None,
        rendered=result.rendered,
        lent=result.lent,
        private=result.private,
        private_since=since,
        last_status=result.status,
        last_error=None,
        validators=result.validators,
        breaker=BreakerState(),
        health=health,
        scores=scores,
        interval=interval,
        pace=pace,
        pulse=silence.encode(silences),
    )


def private_since(hot: SourceRuntime, at: Millis) -> Millis:
    """Return since when a source is private whose check at this time was; 0: since its first check."""
    if hot.private_since is not None:
        return hot.private_since
    return Millis(0) if hot.private or hot.last_success_at is None else at


def failed(hot: SourceRuntime, failure: CheckFailed, now: Millis, limits: Limits, draw: float) -> SourceRuntime:
    """Return the memory after a failed check. draw: in [0, 1), spreads the retries."""
    hot = cap_waits(hot, now, limits)
    state, not_before = breaker_of(hot.breaker), hot.not_before
    match failure.blame:
        case Blame.REMOTE_TRANSIENT | Blame.CONTENT:
            state = breaker.failed(state, RULE, now / 1000, draw)
        case Blame.REMOTE_PERMANENT:
            state = breaker.failed(state, RULE, now / 1000, draw, at_once=True)
        case Blame.THROTTLED:
            hold = max(failure.hold if failure.retry_after else _growing_hold(hot), limits.floor)
            not_before = Millis(now + round(hold * 1000))
        case Blame.LOCAL:
            pass
    counted = failure.blame not in (Blame.THROTTLED, Blame.LOCAL)
    failures = hot.breaker.failures + 1 if counted else hot.breaker.failures
    retry = max(now + round(limits.floor * (1 + draw * 0.5) * 1000), not_before or 0)
    if failure.blame is Blame.LOCAL and isinstance(failure, NotRendered):
        retry = max(retry, now + round(hot.interval * (0.5 + draw / 2) * 1000))  # a page that crashes browsers waits
    if state.phase is not Phase.CLOSED:
        # Our own fault changes no breaker: its wait may be over, and an immediate retry would fail again.
        least = retry if failure.blame is Blame.LOCAL else 0
        retry = max(not_before or 0, round(state.until * 1000), least)
    silences = silence.decode(hot.pulse)
    if failure.blame is Blame.CONTENT:
        silences = silence.after_watching(silences, 0.0, defect=True)
    health, silences = score.after_failure(hot.health, silences, failure.blame, failures, now, failure.reason)
    if failure.blame is Blame.LOCAL and isinstance(failure, NotRendered):  # the reason explains the old score
        health = health.explained(Message(f"{failure.reason[:1].upper()}{failure.reason[1:]}."))
    scores, pulse = scored(hot.scores, day_of(now), health.score), silence.encode(silences)
    return replace(
        hot,
        breaker=breaker_state(state, failures),
        health=health,
        scores=scores,
        pulse=pulse,
        looks=hot.looks + 1,
        last_status=failure.status,
        last_error=failure.reason,
        last_look_at=now,
        next_look_at=Millis(retry),
        not_before=not_before,
    )


def _growing_hold(hot: SourceRuntime) -> float:
    """Return the seconds of quiet for a host that names none: doubled each time, or it would get more requests."""
    if hot.last_status not in _THROTTLES or hot.not_before is None or hot.last_look_at is None:
        return PLAIN_HOLD
    return min(RULE.ceiling, max(PLAIN_HOLD, 2 * (hot.not_before - hot.last_look_at) / 1000))


def host_unreachable(hot: SourceRuntime, now: Millis, reason: str) -> SourceRuntime:
    failures = max(hot.breaker.failures, RULE.threshold)
    silences = silence.decode(hot.pulse)
    health, silences = score.after_failure(hot.health, silences, Blame.REMOTE_TRANSIENT, failures, now, reason)
    scores = scored(hot.scores, day_of(now), health.score)
    return replace(hot, health=health, scores=scores, pulse=silence.encode(silences))


def _watched_seconds(hot: SourceRuntime, now: Millis) -> float:
    """Return the seconds since the last check that the source was watched and answered: 0 after a failed check, and at
    most about the planned wait: nothing watched after that.
    """
    last, due = hot.last_look_at, hot.next_look_at
    if last is None or due is None or last != hot.last_success_at:
        return 0.0
    return max(0.0, min(now - last, LATE * (due - last))) / 1000


def cap_waits(hot: SourceRuntime, now: Millis, limits: Limits) -> SourceRuntime:
    """Return the memory with capped waits, the next check within its hours, and no trouble that starts in the future:
    the clock may have been ahead when a time was recorded.
    """
    shut = LONGEST_SHUT if limits.hours is not None else 0.0
    longest = now + round(1000 * max(limits.ceiling, MOST_HOLD, _LONGEST_OPEN, (limits.schedule or 0) * 1.2, shut))
    if (hot.next_look_at or 0) > longest:
        hot = replace(hot, next_look_at=now, not_before=None)
    due = Millis(max(hot.next_look_at or 0, now))
    if (opens_at := open_from(limits.hours, due)) > due:
        hot = replace(hot, next_look_at=opens_at)
    if (hot.not_before or 0) > now + round(1000 * MOST_HOLD):
        hot = replace(hot, not_before=None)
    if (hot.breaker.retry_at or 0) > now + round(1000 * _LONGEST_OPEN):
        hot = replace(hot, breaker=replace(hot.breaker, retry_at=now))
    if (hot.health.down_since or 0) > now:
        hot = replace(hot, health=replace(hot.health, down_since=now))
    return hot


def rescheduled(hot: SourceRuntime, now: Millis, limits: Limits, draw: float) -> SourceRuntime:
    """Return the memory of a source with new settings: its next check comes within an interval, spread by `draw` and
    never later than planned; failing or resting sources keep their wait.
    """
    if hot.breaker.failures or hot.breaker.state != "closed":
        return hot
    wait = draw * min(limits.schedule or limits.ceiling, limits.ceiling)
    earliest = max(now, hot.not_before or 0, (hot.last_look_at or 0) + round(1000 * limits.floor))
    due = Millis(max(now + round(1000 * wait), earliest))
    return hot if hot.next_look_at is None or hot.next_look_at <= due else replace(hot, next_look_at=due)


def newer(known: SourceRuntime, stored: SourceRuntime) -> SourceRuntime:
    """Return the state with more checks. A push source counts frames, so its connections are compared by time."""
    known_at, stored_at = known.last_look_at or 0, stored.last_look_at or 0
    return known if (known.looks, known_at) > (stored.looks, stored_at) else stored


def is_urgent(before: SourceRuntime, after: SourceRuntime) -> bool:
    """Return whether a change must be in the next commit: breaker, flag, a run's begin or end, a new hold."""
    is_down, was_down = after.health.down_since is not None, before.health.down_since is not None
    held = after.not_before is not None and after.not_before != before.not_before
    state_changed = before.breaker.state != after.breaker.state or before.health.flag != after.health.flag
    return held or state_changed or is_down != was_down


def breaker_of(state: BreakerState) -> Breaker:
    if state.state == "closed":
        return Breaker(failures=min(state.failures, RULE.threshold - 1))
    # A check is the probe of the source's breaker: when it returns, the breaker was half-open while it ran.
    return Breaker(phase=Phase.HALF_OPEN, openings=state.opened, until=(state.retry_at or 0) / 1000)


def breaker_state(state: Breaker, failures: int) -> BreakerState:
    """Return a breaker's stored state; consecutive `failures` are still counted while it is open, for the health."""
    if state.phase is Phase.CLOSED:
        return BreakerState(failures=failures)
    phase: Literal["open", "half-open"] = "open" if state.phase is Phase.OPEN else "half-open"
    return BreakerState(phase, failures, state.openings, Millis(round(state.until * 1000)))


def draft_of(source: Source, piece: Entry | Frame, change: str, at: Millis) -> Draft:
    return made_of(
        Draft,
        piece,
        source_type=source.type,
        source_url=source.url,
        url=piece.url or source.watch_url,
        tags=tuple(dict.fromkeys((*source.tags, change, *piece.tags))),
        fetched_at=at,
        practice=source.practice is not None,
        changes=values_of_entry(piece.title, piece.content),
    )


def draft_event(piece: Entry | Frame, url: str, identity: str, told: bool = True) -> DraftEvent:
    content, tags, at = piece.content[:EXCERPT], (NEW, *piece.tags), piece.published_at
    return DraftEvent(piece.title, piece.url or url, piece.author, content, at, tags, identity, told)
