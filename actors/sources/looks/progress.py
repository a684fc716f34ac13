"""The effect of a look on a source's memory: validators, breaker, health and cadence move together here. Pure.

The breaker counts by the wall clock, because its state outlives the process; a clock that stepped back can therefore
leave a wait in the far future, and is met by `settle`, which lets no wait exceed what it could have been when it
began.
"""

from __future__ import annotations

from typing import Final, Literal

from msgspec import Struct
from msgspec.structs import replace

from actors.egress.failures import MOST_HOLD, PLAIN_HOLD, Blame, LookFailed, NotRendered
from actors.look_hours import LONGEST_SHUT, open_from
from actors.sources.health import score as health
from actors.sources.schedule import cadence
from actors.sources.schedule import silence as pulse
from actors.sources.schedule import stored as pace
from actors.sources.schedule.cadence import Hints, Limits
from actors.sources.schedule.look_price import Price, cost_of
from actors.sources.schedule.stored import Pace
from storage.records.health import BreakerState
from storage.records.identity import Millis, day_of
from storage.records.scores import scored
from storage.records.source import SourceRuntime, Validators
from supervision import breaker
from supervision.breaker import Breaker, BreakerRule, Phase

RULE: Final = BreakerRule(threshold=3, base=60.0, ceiling=1800.0, probe=30.0)
_OPEN: Final = RULE.ceiling * 1.2
"""Seconds for which a breaker is open at most."""
_THROTTLES: Final = (429, 503)
LATE: Final = 1.5
"""Times the planned wait, up to which a look that comes late still means that the source was watched."""


class LookResult(Struct, frozen=True):
    """A look that worked. `hints` None: the look said nothing new about the origin's pace (a 304).

    `times` are when its news came, by the source's own word; at the first look, when all that is there came.
    `remark` is for the health's reason; None when the body was not read: what was said before still holds.
    `rendered`: a browser has shown what was read. `lent`: the headers were another source's.
    `private`: it was made with headers, or led into an opened network.
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
    looked: LookResult,
    limits: Limits,
    draw: float,
    price: Price = Price(),  # noqa: B008  # frozen
) -> SourceRuntime:
    """Return the memory after a look that worked."""
    known = pace.decode(hot.pace, hot.interval)
    hints = looked.hints if looked.hints is not None else known.hints
    rhythm = pace.learned(known.rhythm, looked.at, hot.last_look_at, looked.times, looked.changed)
    interval = cadence.interval_of(rhythm, looked.at / 1000, price, limits, cost_of(rendered=looked.rendered))
    due = cadence.due_after(looked.at, interval, hints, limits, draw)
    beat = pulse.passed(pulse.decode(hot.pulse), _watched(hot, looked.at), defect=False)
    if looked.changed:
        beat = pulse.yielded(beat)
    judged, beat = health.after_look(hot.health, beat, looked.remark)
    if looked.again_soon:
        due = min(due, Millis(looked.at + round(limits.floor * 1000)))
    return replace(
        hot,
        validators=looked.validators,
        breaker=BreakerState(),
        health=judged,
        scores=scored(hot.scores, day_of(looked.at), judged.score),
        interval=interval,
        looks=hot.looks + 1,
        unchanged=0 if looked.changed else hot.unchanged + 1,
        events=hot.events + looked.events,
        last_look_at=looked.at,
        last_success_at=looked.at,
        last_event_at=looked.at if looked.events else hot.last_event_at,
        next_look_at=due,
        not_before=None,
        last_status=looked.status,
        last_error=None,
        pace=pace.encode(Pace(rhythm, hints)),
        pulse=pulse.encode(beat),
        rendered=looked.rendered,
        lent=looked.lent,
        private=looked.private,
        private_since=private_since(hot, looked.at) if looked.private else None,
    )


def private_since(hot: SourceRuntime, at: Millis) -> Millis:
    """Return since when a source is private whose check at this time was; 0: since its first check."""
    if hot.private_since is not None:
        return hot.private_since
    return Millis(0) if hot.private or hot.last_success_at is None else at


def failed(hot: SourceRuntime, failure: LookFailed, now: Millis, limits: Limits, draw: float) -> SourceRuntime:
    """Return the memory after a look that failed."""
    hot = settle(hot, now, limits)
    state = load(hot.breaker)
    failures = state.failures
    not_before = hot.not_before
    match failure.blame:
        case Blame.REMOTE_TRANSIENT | Blame.CONTENT:
            state = breaker.failed(state, RULE, now / 1000, draw)
        case Blame.REMOTE_PERMANENT:
            state = breaker.failed(state, RULE, now / 1000, draw, at_once=True)
        case Blame.THROTTLED:
            hold = max(failure.hold if failure.retry_after else _longer(hot), limits.floor)
            not_before = Millis(now + round(hold * 1000))
        case Blame.LOCAL:
            pass
    counted = failure.blame not in (Blame.THROTTLED, Blame.LOCAL)
    failures = hot.breaker.failures + 1 if counted else hot.breaker.failures
    retry = max(now + round(limits.floor * (1 + draw * 0.5) * 1000), not_before or 0)
    if failure.blame is Blame.LOCAL and isinstance(failure, NotRendered):
        retry = max(retry, now + round(hot.interval * (0.5 + draw / 2) * 1000))  # a page that kills browsers waits, too
    if state.phase is not Phase.CLOSED:
        # Our own fault moves no breaker: the rest may be over, and to try again at once would meet the same.
        least = retry if failure.blame is Blame.LOCAL else 0
        retry = max(not_before or 0, round(state.until * 1000), least)
    beat = pulse.decode(hot.pulse)
    if failure.blame is Blame.CONTENT:
        beat = pulse.passed(beat, 0.0, defect=True)
    judged, beat = health.after_failure(hot.health, beat, failure.blame, failures, now, failure.reason)
    if failure.blame is Blame.LOCAL and isinstance(failure, NotRendered):  # the score stays, and it says why it is old
        judged = replace(judged, reason=f"{failure.reason[:1].upper()}{failure.reason[1:]}.")
    return replace(
        hot,
        breaker=store(state, failures),
        health=judged,
        scores=scored(hot.scores, day_of(now), judged.score),
        looks=hot.looks + 1,
        last_look_at=now,
        next_look_at=Millis(retry),
        not_before=not_before,
        last_status=failure.status,
        last_error=failure.reason,
        pulse=pulse.encode(beat),
    )


def _longer(hot: SourceRuntime) -> float:
    """Return the seconds of quiet for a host that does not say how many: twice as many each time, up to a breaker's.

    At a steady minute, whoever asks us to slow down would be asked more often than in good times.
    """
    if hot.last_status not in _THROTTLES or hot.not_before is None or hot.last_look_at is None:
        return PLAIN_HOLD
    return min(RULE.ceiling, max(PLAIN_HOLD, 2 * (hot.not_before - hot.last_look_at) / 1000))


def unreached(hot: SourceRuntime, now: Millis, why: str) -> SourceRuntime:
    """Return the memory when no look was made because its whole host is down: the source does not answer either."""
    failures = max(hot.breaker.failures, RULE.threshold)
    beat = pulse.decode(hot.pulse)
    judged, beat = health.after_failure(hot.health, beat, Blame.REMOTE_TRANSIENT, failures, now, why)
    scores = scored(hot.scores, day_of(now), judged.score)
    return replace(hot, health=judged, scores=scores, pulse=pulse.encode(beat))


def _watched(hot: SourceRuntime, now: Millis) -> float:
    """Return the seconds since the last look for which the source was watched and answered.

    0 after a look that failed, and no more than was planned: beyond that, nobody was looking.
    """
    last, due = hot.last_look_at, hot.next_look_at
    if last is None or due is None or last != hot.last_success_at:
        return 0.0
    return max(0.0, min(now - last, LATE * (due - last))) / 1000


def settle(hot: SourceRuntime, now: Millis, limits: Limits) -> SourceRuntime:
    """Return the memory with no wait longer than it may be, a next look within its hours, and no trouble that has yet
    to begin.

    After a restart, before a wait and after a failure: the clock may have been ahead when a moment was noted.
    """
    shut = LONGEST_SHUT if limits.hours is not None else 0.0
    longest = now + round(1000 * max(limits.ceiling, MOST_HOLD, _OPEN, (limits.schedule or 0) * 1.2, shut))
    if (hot.next_look_at or 0) > longest:
        hot = replace(hot, next_look_at=now, not_before=None)
    due = Millis(max(hot.next_look_at or 0, now))
    if (opens := open_from(limits.hours, due)) > due:
        hot = replace(hot, next_look_at=opens)
    if (hot.not_before or 0) > now + round(1000 * MOST_HOLD):
        hot = replace(hot, not_before=None)
    if (hot.breaker.retry_at or 0) > now + round(1000 * _OPEN):
        hot = replace(hot, breaker=replace(hot.breaker, retry_at=now))
    if (hot.health.down_since or 0) > now:
        hot = replace(hot, health=replace(hot.health, down_since=now))
    return hot


def hurried(hot: SourceRuntime, now: Millis, limits: Limits, draw: float) -> SourceRuntime:
    """Return the memory of a source that is looked at by other settings from now on: its next look comes within an
    interval, at a moment that `draw` chooses, so that many which are changed at once are no stampede.

    It never comes later than planned, and what fails or rests waits as it did.
    """
    if hot.breaker.failures or hot.breaker.state != "closed":
        return hot
    wait = draw * min(limits.schedule or limits.ceiling, limits.ceiling)
    earliest = max(now, hot.not_before or 0, (hot.last_look_at or 0) + round(1000 * limits.floor))
    due = Millis(max(now + round(1000 * wait), earliest))
    return hot if hot.next_look_at is None or hot.next_look_at <= due else replace(hot, next_look_at=due)


def urgent(before: SourceRuntime, after: SourceRuntime) -> bool:
    """Return whether a change must be saved with the next commit: breaker, flag, a run's begin or end, a hold of more
    than a minute.
    """
    fails, failed = after.health.down_since is not None, before.health.down_since is not None
    held = after.not_before is not None and after.not_before != before.not_before
    moved = before.breaker.state != after.breaker.state or before.health.flag != after.health.flag
    return held or moved or fails != failed


def load(state: BreakerState) -> Breaker:
    """Return the breaker of a stored state."""
    if state.state == "closed":
        return Breaker(failures=min(state.failures, RULE.threshold - 1))
    # A look is the probe of its own breaker: when one comes back, the breaker was half-open while it ran.
    return Breaker(phase=Phase.HALF_OPEN, openings=state.opened, until=(state.retry_at or 0) / 1000)


def store(state: Breaker, failures: int) -> BreakerState:
    """Return what is stored of a breaker; `failures` in a row go on counting while it is open, for the health."""
    if state.phase is Phase.CLOSED:
        return BreakerState(failures=failures)
    word: Literal["open", "half-open"] = "open" if state.phase is Phase.OPEN else "half-open"
    return BreakerState(word, failures, state.openings, Millis(round(state.until * 1000)))
