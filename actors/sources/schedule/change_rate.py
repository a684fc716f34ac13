"""The rate of a source's changes, learned from its past, and the predicted rate. Pure.

The rate ahead is `base * hour * day + burst`. The base is a Gamma estimate with slow forgetting: changes seen over
seconds watched. Hour of day and weekend are observed shares, shrunk towards even; a burst counts once, since its
entries have a common cause. The burst term is a Hawkes process of two scales (Hawkes 1971): each change raises the
rate for a quarter of an hour and for two hours, by as much as changes of this source have followed each other beyond
what the mere rate explains.

Moments and spans are seconds; hours and days are UTC. The source's own times (a feed's entry dates) are used if they
are after the last check; otherwise a change is placed in the middle of that span.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Final

from msgspec import Struct

HOUR: Final = 3600.0
DAY: Final = 86_400.0
PRIOR_EVENTS: Final = 0.1
PRIOR_SECONDS: Final = 420.0
"""Together: a new source is checked every 2 minutes, after a quiet hour every 6, after a quiet day every 30."""
MEMORY: Final = 14 * DAY
"""The rate's time constant for forgetting."""
HABIT: Final = 28 * DAY
"""The same for hours and days."""
EVEN_HOUR, EVEN_DAY = 0.7, 6.0
"""Pseudo-changes in each hour and each weekday that represent "no habit"."""
TOGETHER: Final = 1800.0
"""Changes closer than this may belong to one burst."""
QUICK, SLOW = 600.0, 5400.0
QUICK_SHARE: Final = 0.6
"""The two scales of a burst, and the share of the quicker one."""
TRIALS_KEPT: Final = 0.98
DOUBT, BELIEF = 1.0, 0.3
"""Pseudo-trials for changes that follow a change, and the branching ratio assumed for them."""
MOST_BRANCHING: Final = 0.9
SATURDAY: Final = 5
YOUNGEST: Final = 120.0
WIDTH: Final = math.log(1.5)
AGES: Final = 15
"""Classes of the time since the last change, each half as long again: under 2 min, under 3, under
4.5, up to 6 hours."""
EDGES: Final = (*(YOUNGEST * 1.5**n for n in range(AGES - 1)), math.inf)
MOST_AWAITED: Final = 60_000.0
EVEN_AGE: Final = 6.0
"""Pseudo-changes at each age that represent "as predicted"."""
_NO_HOURS: Final = (0.0,) * 24
_NO_DAYS: Final = (0.0,) * 7
_NO_AGES: Final = (0.0,) * AGES


class Rhythm(Struct, frozen=True):
    """The learned rhythm of one source. `last` is the time of the newest change, 0 without one."""

    events: float = PRIOR_EVENTS
    seconds: float = PRIOR_SECONDS
    hours: tuple[float, ...] = _NO_HOURS
    days: tuple[float, ...] = _NO_DAYS
    quick: float = 0.0
    slow: float = 0.0
    followed: float = 0.0
    judged: float = 0.0
    last: float = 0.0
    came: tuple[float, ...] = _NO_AGES
    awaited: tuple[float, ...] = _NO_AGES

    @property
    def rate(self) -> float:
        """Mean changes a second."""
        return self.events / self.seconds


class Ahead(Struct, frozen=True):
    """The predicted rate from `since` on: a base by the hour, and two decaying bursts, in changes a second.

    `base` holds the rates at the middles of the hours, starting with the one before `since`; it is linear in between.
    """

    since: float
    base: tuple[float, ...]
    quick: float
    slow: float
    age: float = 0.0
    turns: tuple[float, ...] = ()


def observed(rhythm: Rhythm, now: float, gap: float, times: Sequence[float]) -> Rhythm:
    """Return the rhythm after a check at `now`, `gap` after the previous, that saw changes at `times` (sorted)."""
    forget = math.exp(-gap / MEMORY)
    awaited = rhythm.awaited
    if rhythm.last:
        awaited = _with_wait(rhythm, now - gap, times[0] if times else now)
    after = Rhythm(
        max(rhythm.events * forget, PRIOR_EVENTS),
        rhythm.seconds * forget + gap,
        rhythm.hours,
        rhythm.days,
        rhythm.quick * math.exp(-gap / QUICK),
        rhythm.slow * math.exp(-gap / SLOW),
        rhythm.followed,
        rhythm.judged,
        rhythm.last,
        rhythm.came,
        awaited,
    )
    return _with_changes(after, now, times) if times else after


def _with_wait(rhythm: Rhythm, start: float, end: float) -> tuple[float, ...]:
    """Return `awaited` plus the changes predicted between two moments, each part at its age."""
    at, end = max(0.0, start - rhythm.last), end - rhythm.last
    if end <= at:
        return rhythm.awaited
    awaited = list(rhythm.awaited)
    branching = branching_of(rhythm)
    base = rhythm.rate * (1 - branching)
    quick, slow = _burst(rhythm, branching)
    age, began = age_of(at), max(start, rhythm.last) - rhythm.last
    while at < end:
        stop = min(end, EDGES[age])
        middle = (at + stop) / 2 - began
        rate = base + quick * math.exp(-middle / QUICK) + slow * math.exp(-middle / SLOW)
        awaited[age] = min(MOST_AWAITED, awaited[age] + rate * max(0.0, stop - at))
        at, age = stop, age + 1
    return tuple(awaited)


def age_of(seconds: float) -> int:
    """Return the class in `AGES` of a time since the last change.

    >>> [age_of(seconds) for seconds in (0, 119, 121, 181, 3600, 86400)]
    [0, 0, 1, 2, 9, 14]
    """
    return 0 if seconds <= YOUNGEST else min(AGES - 1, 1 + int(math.log(seconds / YOUNGEST) / WIDTH))


def _with_changes(rhythm: Rhythm, now: float, times: Sequence[float]) -> Rhythm:
    last, followed, judged, quick, slow = rhythm.last, rhythm.followed, rhythm.judged, rhythm.quick, rhythm.slow
    fade = math.exp(-max(0.0, now - last) / HABIT) if last else 1.0
    hours, days = [hour * fade for hour in rhythm.hours], [day * fade for day in rhythm.days]
    came, awaited = list(rhythm.came), rhythm.awaited
    for at in times:
        fresh = 1.0
        if last:
            since = max(0.0, at - last)
            fresh = min(1.0, since / TOGETHER)
            followed = followed * TRIALS_KEPT + (since < TOGETHER)
            judged = judged * TRIALS_KEPT + 1.0
            came = [count * TRIALS_KEPT for count in came]
            awaited = tuple(count * TRIALS_KEPT for count in awaited)
            came[age_of(since)] += 1.0
        hours[int(at % DAY // HOUR)] += fresh
        days[weekday(at)] += fresh
        age = max(0.0, now - at)
        quick += math.exp(-age / QUICK)
        slow += math.exp(-age / SLOW)
        last = at
    return Rhythm(
        rhythm.events + len(times),
        rhythm.seconds,
        tuple(hours),
        tuple(days),
        quick,
        slow,
        followed,
        judged,
        last,
        tuple(came),
        awaited,
    )


def ahead(rhythm: Rhythm, now: float) -> Ahead:
    """Return the predicted rate for the hour after `now`."""
    branching = branching_of(rhythm)
    seen = sum(rhythm.days)
    even = EVEN_HOUR + seen / 24
    base = rhythm.rate * (1 - branching) * _day(rhythm, now, seen) / even
    hours = rhythm.hours
    first = int((now - HOUR / 2) // HOUR) % 24
    # Half of the evidence for an hour comes from its neighbours.
    before, one, two, three, after = (hours[(first + n) % 24] for n in (-1, 0, 1, 2, 3))
    levels = (
        base * (EVEN_HOUR + one / 2 + (before + two) / 4),
        base * (EVEN_HOUR + two / 2 + (one + three) / 4),
        base * (EVEN_HOUR + three / 2 + (two + after) / 4),
    )
    quick, slow = _burst(rhythm, branching)
    turns = tuple((EVEN_AGE + came) / (EVEN_AGE + due) for came, due in zip(rhythm.came, rhythm.awaited, strict=True))
    return Ahead(now, levels, quick, slow, now - rhythm.last, turns)


def branching_of(rhythm: Rhythm) -> float:
    """Return how many changes each change triggers: the share that followed soon, less chance."""
    chance = 1 - math.exp(-rhythm.rate * TOGETHER)
    share = (rhythm.followed + DOUBT * (chance + BELIEF)) / (rhythm.judged + DOUBT)
    return min(MOST_BRANCHING, max(0.0, share - chance))


def _burst(rhythm: Rhythm, branching: float) -> tuple[float, float]:
    """Return the current rates of the two scales of a burst."""
    quick = branching * QUICK_SHARE / QUICK * rhythm.quick
    return quick, branching * (1 - QUICK_SHARE) / SLOW * rhythm.slow


def weekday(at: float) -> int:
    """Return the day of the week in UTC, 0 for Monday.

    >>> weekday(0.0), weekday(86_400.0 * 4)  # 1970-01-01 was a Thursday
    (3, 0)
    """
    return int(at // DAY + 3) % 7


def _day(rhythm: Rhythm, at: float, seen: float) -> float:
    """Return the rate of a working day or a weekend day, relative to the mean."""
    days = rhythm.days
    if weekday(at) >= SATURDAY:
        return (2 * EVEN_DAY + sum(days[SATURDAY:])) / (2 * EVEN_DAY + seen * 2 / 7)
    return (5 * EVEN_DAY + sum(days[:SATURDAY])) / (5 * EVEN_DAY + seen * 5 / 7)
