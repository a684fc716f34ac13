"""The cadence: the time of the next check, from the learned rate of changes and the origin's last word. Pure.

The goal is a small sum of the lateness of all changes plus the price of all checks. Let `r(t)` be the predicted rate of
changes, `a` the last check, `b` the next and `c` the one after it. Delaying `b` by a moment reports the changes since
`a` that much later, and those between `b` and `c` earlier. The best `b` balances both:

    changes expected from a to b  =  r(b) * (c - b).

For a steady rate this is the well-known `sqrt(2 * price / rate)`. For a varying rate it checks soon after a busy hour
or a burst, and not before one. The wait from `b` to `c` is taken as that of a steady rate `r(b)`. All sources share the
price, which holds their checks to a budget (`budgets`).

Hints of the origin (RFC 9111 max-age, RSS ttl, sy:updatePeriod, skipHours, skipDays) are lower bounds, but nothing
extends a wait beyond the ceiling: tens of minutes, never hours. Every wait has jitter, so that sources that were added
together drift apart.

Literature: Cho and Garcia-Molina 2003 (why not in proportion to the rate), Azar et al. 2018 and Busa-Fekete et al.
2025 (each source separately against one price).

The rate ahead is `base * hour * day + burst`. The base is a Gamma estimate with slow forgetting: changes seen over
seconds watched. Hour of day and weekend are observed shares, shrunk towards even; a burst counts once, since its
entries have a common cause. The burst term is a Hawkes process of two scales (Hawkes 1971): each change raises the
rate for a quarter of an hour and for two hours, by as much as changes of this source have followed each other beyond
what the mere rate explains.

Moments and spans are seconds; hours and days are UTC. The source's own times (a feed's entry dates) are used if they
are after the last check; otherwise a change is placed in the middle of that span.

The memory has some 220 bytes: a version, the rhythm's numbers in single and half precision, the hints in MessagePack.
An unreadable memory, or one of another version, is replaced by a fresh one that begins at the source's last interval;
relearning costs only some checks.

After an hour's stop every source is overdue. Each gets a time within its own interval, so that the first minute has no
more requests than any other. A small library is done sooner, at a modest pace. A page first costs a second request,
because its site's robots.txt is no longer cached, so its window is longer, which keeps both within `MARGIN` times the
usual.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Sequence
from datetime import UTC, datetime
from itertools import pairwise
from typing import Final

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from actors.sources.schedule.budgets import COURTESY, Price
from actors.sources.schedule.budgets import DAY as PRICED_DAY
from storage.records.destination import QuietHours
from storage.records.identity import Millis

HOUR: Final = 3600.0
DAY: Final = 86_400.0
PRIOR_EVENTS: Final = 0.1
PRIOR_SECONDS: Final = 420.0
"""Together: a new source is checked every 2 minutes, after a quiet hour every 6, after a quiet day every 30."""
MEMORY: Final = 14 * DAY  # the rate's time constant for forgetting
HABIT: Final = 28 * DAY  # the same for hours and days
EVEN_HOUR, EVEN_DAY = 0.7, 6.0  # pseudo-changes in each hour and each weekday that represent "no habit"
TOGETHER: Final = 1800.0  # changes closer than this may belong to one burst
QUICK, SLOW = 600.0, 5400.0
QUICK_SHARE: Final = 0.6  # the two scales of a burst, and the share of the quicker one
TRIALS_KEPT: Final = 0.98
DOUBT, BELIEF = 1.0, 0.3  # pseudo-trials for changes that follow a change, and the branching ratio assumed for them
MOST_BRANCHING: Final = 0.9
SATURDAY: Final = 5
YOUNGEST: Final = 120.0
WIDTH: Final = math.log(1.5)
AGES: Final = 15
"""Classes of the time since the last change, each half as long again: under 2 min, under 3, under
4.5, up to 6 hours."""
EDGES: Final = (*(YOUNGEST * 1.5**n for n in range(AGES - 1)), math.inf)
MOST_AWAITED: Final = 60_000.0
EVEN_AGE: Final = 6.0  # pseudo-changes at each age that represent "as predicted"
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
    trials: float = 0.0
    last: float = 0.0
    counts: tuple[float, ...] = _NO_AGES
    expected: tuple[float, ...] = _NO_AGES

    @property
    def rate(self) -> float:
        return self.events / self.seconds


class PredictedRate(Struct, frozen=True):
    """The rate from `since` on: two decaying bursts in changes a second, and a base: the rates at the middles of the
    hours, starting with the one before `since`, linear in between.
    """

    since: float
    base: tuple[float, ...]
    quick: float
    slow: float
    age: float = 0.0
    age_factors: tuple[float, ...] = ()


def observe(rhythm: Rhythm, now: float, gap: float, times: Sequence[float]) -> Rhythm:
    """Return the rhythm `gap` seconds later, with the changes at `times` (s, oldest first) in between."""
    forget = math.exp(-gap / MEMORY)
    expected = rhythm.expected
    if rhythm.last:
        expected = _with_expected(rhythm, now - gap, times[0] if times else now)
    events, seconds = max(rhythm.events * forget, PRIOR_EVENTS), rhythm.seconds * forget + gap
    quick, slow = rhythm.quick * math.exp(-gap / QUICK), rhythm.slow * math.exp(-gap / SLOW)
    after = replace(rhythm, events=events, seconds=seconds, quick=quick, slow=slow, expected=expected)
    return _with_changes(after, now, times) if times else after


def _with_expected(rhythm: Rhythm, start: float, end: float) -> tuple[float, ...]:
    """Return `expected` plus the changes predicted between two moments, each part at its age."""
    at, end = max(0.0, start - rhythm.last), end - rhythm.last
    if end <= at:
        return rhythm.expected
    expected = list(rhythm.expected)
    branching = branching_of(rhythm)
    base = rhythm.rate * (1 - branching)
    quick, slow = _burst(rhythm, branching)
    age, burst_start = age_of(at), max(start, rhythm.last) - rhythm.last
    while at < end:
        stop = min(end, EDGES[age])
        middle = (at + stop) / 2 - burst_start
        rate = base + quick * math.exp(-middle / QUICK) + slow * math.exp(-middle / SLOW)
        expected[age] = min(MOST_AWAITED, expected[age] + rate * max(0.0, stop - at))
        at, age = stop, age + 1
    return tuple(expected)


def age_of(seconds: float) -> int:
    """Return the class in `AGES` of a time since the last change.

    >>> [age_of(seconds) for seconds in (0, 119, 121, 181, 3600, 86400)]
    [0, 0, 1, 2, 9, 14]
    """
    return 0 if seconds <= YOUNGEST else min(AGES - 1, 1 + int(math.log(seconds / YOUNGEST) / WIDTH))


def _with_changes(rhythm: Rhythm, now: float, times: Sequence[float]) -> Rhythm:
    last, followed, trials, quick, slow = rhythm.last, rhythm.followed, rhythm.trials, rhythm.quick, rhythm.slow
    fade = math.exp(-max(0.0, now - last) / HABIT) if last else 1.0
    hours, days = [hour * fade for hour in rhythm.hours], [day * fade for day in rhythm.days]
    counts, expected = list(rhythm.counts), rhythm.expected
    for at in times:
        fresh = 1.0
        if last:
            since = max(0.0, at - last)
            fresh = min(1.0, since / TOGETHER)
            followed = followed * TRIALS_KEPT + (since < TOGETHER)
            trials = trials * TRIALS_KEPT + 1.0
            counts = [count * TRIALS_KEPT for count in counts]
            expected = tuple(count * TRIALS_KEPT for count in expected)
            counts[age_of(since)] += 1.0
        hours[int(at % DAY // HOUR)] += fresh
        days[weekday(at)] += fresh
        age = max(0.0, now - at)
        quick += math.exp(-age / QUICK)
        slow += math.exp(-age / SLOW)
        last = at
    events, seconds = rhythm.events + len(times), rhythm.seconds
    return Rhythm(
        events, seconds, tuple(hours), tuple(days), quick, slow, followed, trials, last, tuple(counts), expected
    )


def predict(rhythm: Rhythm, now: float) -> PredictedRate:
    branching = branching_of(rhythm)
    total = sum(rhythm.days)
    base = rhythm.rate * (1 - branching) * _weekday_factor(rhythm, now, total) / (EVEN_HOUR + total / 24)
    first = int((now - HOUR / 2) // HOUR)
    around = [rhythm.hours[(first + n) % 24] for n in range(-1, 4)]
    # Half of the evidence for an hour comes from its neighbours.
    levels = tuple(base * (EVEN_HOUR + around[n] / 2 + (around[n - 1] + around[n + 1]) / 4) for n in (1, 2, 3))
    quick, slow = _burst(rhythm, branching)
    ages = zip(rhythm.counts, rhythm.expected, strict=True)
    age_factors = tuple((EVEN_AGE + count) / (EVEN_AGE + expected) for count, expected in ages)
    return PredictedRate(now, levels, quick, slow, now - rhythm.last, age_factors)


def branching_of(rhythm: Rhythm) -> float:
    """Return how many changes each change triggers: the share that followed soon, less chance."""
    chance = 1 - math.exp(-rhythm.rate * TOGETHER)
    share = (rhythm.followed + DOUBT * (chance + BELIEF)) / (rhythm.trials + DOUBT)
    return min(MOST_BRANCHING, max(0.0, share - chance))


def _burst(rhythm: Rhythm, branching: float) -> tuple[float, float]:
    quick = branching * QUICK_SHARE / QUICK * rhythm.quick
    return quick, branching * (1 - QUICK_SHARE) / SLOW * rhythm.slow


def weekday(at: float) -> int:
    """Return the day of the week in UTC, 0 for Monday.

    >>> weekday(0.0), weekday(86_400.0 * 4)  # 1970-01-01 was a Thursday
    (3, 0)
    """
    return int(at // DAY + 3) % 7


def _weekday_factor(rhythm: Rhythm, at: float, total: float) -> float:
    """Return the rate of a working day or a weekend day, relative to the mean."""
    days = rhythm.days
    if weekday(at) >= SATURDAY:
        return (2 * EVEN_DAY + sum(days[SATURDAY:])) / (2 * EVEN_DAY + total * 2 / 7)
    return (5 * EVEN_DAY + sum(days[:SATURDAY])) / (5 * EVEN_DAY + total * 5 / 7)


START_INTERVAL: Final = 120.0  # seconds to the second check of a new source
JITTER: Final = 0.05
STRIDE: Final = 0.2  # the step, relative to the wait so far, for reading the rate ahead
LULL: Final = 0.01  # a burst below this share of the base is over


class Limits(Struct, frozen=True):
    """Seconds. `schedule`: the user's fixed interval. Checks outside of `hours` are only those that a user requests."""

    floor: float = 60.0
    ceiling: float = 2700.0
    schedule: float | None = None
    hours: QuietHours | None = None


class Hints(Struct, frozen=True):
    """The origin's hints on its own pace: seconds, hours 0 to 23 and weekdays 0 (Monday) to 6, both UTC."""

    max_age: float = 0.0
    ttl: float = 0.0
    skip_hours: tuple[int, ...] = ()
    skip_days: tuple[int, ...] = ()


def interval_of(rhythm: Rhythm, now: float, price: Price, limits: Limits, cost: float = 1.0) -> float:
    """Return the seconds from a check at `now` to the next, between floor and ceiling. cost: in plain checks."""
    if limits.schedule is not None:
        return limits.schedule
    worth = price.weigh(rhythm.rate * PRICED_DAY) * cost
    return balance(predict(rhythm, now), worth, limits.floor, limits.ceiling)


def balance(rates: PredictedRate, worth: float, floor: float, ceiling: float) -> float:
    """Return the seconds after which the expected changes outweigh those of the following wait."""
    start = rates.since / HOUR - 0.5
    start -= math.floor(start)
    base, quick, slow = rates.base, rates.quick, rates.slow
    age, age_factors = rates.age, rates.age_factors
    bursts = quick + slow > LULL * base[1]
    wait, step, expected, outweighs = 0.0, floor, 0.0, -1.0
    while wait < ceiling:
        # Use the rate in the middle of a step for all of it.
        middle = wait + step / 2
        place = start + middle / HOUR
        hour = int(place)
        rate = base[hour] + (base[hour + 1] - base[hour]) * (place - hour)
        if bursts:
            rate += quick * math.exp(-middle / QUICK) + slow * math.exp(-middle / SLOW)
        if age_factors:
            rate *= age_factors[age_of(age + middle)]
        expected += rate * step
        wait += step
        before = outweighs
        outweighs = expected - rate * min(ceiling, max(floor, math.sqrt(2 * worth / rate)))
        if outweighs >= 0:
            # Interpolate: where a straight line from the previous step crosses zero.
            return wait if wait <= floor else wait - step * outweighs / (outweighs - before)
        step = min(STRIDE * wait, ceiling - wait)
    return ceiling


def due_after(now: Millis, interval: float, hints: Hints, limits: Limits, draw: float) -> Millis:
    """Return when the next check is due. `draw` is in [0, 1) and becomes the jitter."""
    jitter = 1 + JITTER * (2 * draw - 1)
    if limits.schedule is not None:
        return Millis(now + round(limits.schedule * jitter * 1000))
    wait = min(limits.ceiling, max(interval, hints.max_age, hints.ttl)) * jitter
    # Jitter folds back at either end: chance must break neither politeness nor promise.
    wait = wait if wait >= limits.floor else 2 * limits.floor - wait
    wait = wait if wait <= limits.ceiling else 2 * limits.ceiling - wait
    due = Millis(now + round(wait * 1000))
    if _is_skipped(due, hints):
        # Check even skipped hours once per ceiling: many feeds have a forgotten skipHours.
        due = Millis(now + round(limits.ceiling * (1 - JITTER * draw) * 1000))
    return due


def _is_skipped(at: Millis, hints: Hints) -> bool:
    if not hints.skip_hours and not hints.skip_days:
        return False
    moment = datetime.fromtimestamp(at / 1000, UTC)
    return moment.hour in hints.skip_hours or moment.weekday() in hints.skip_days


VERSION: Final = 2
_NUMBERS: Final = struct.Struct("<Bd6f24e7e15e15e")
_LONGEST_GAP: Final = 7 * 86_400.0
"""Longest credible gap in seconds, so that a jump of the clock does not make a source a quiet one."""
_HISTORY: Final = 28 * 86_400.0
_MOST_HISTORY: Final = 64  # age and number of entry dates that are believed at a first check


class Pace(Struct, frozen=True):
    """When a source changes, as learned, and its own hints."""

    rhythm: Rhythm = Rhythm()
    hints: Hints = Hints()


def decode(memory: bytes, interval: float = START_INTERVAL) -> Pace:
    """Return the memory from the bytes of `encode`; for any other bytes a fresh one with about this interval."""
    if len(memory) < _NUMBERS.size or memory[0] != VERSION:
        return Pace(fresh_rhythm(interval))
    _, last, events, seconds, quick, slow, followed, trials, *_ = numbers = _NUMBERS.unpack_from(memory)
    hours, days, counts, expected = numbers[8:32], numbers[32:39], numbers[39:54], numbers[54:]
    rhythm = Rhythm(events, seconds, hours, days, quick, slow, followed, trials, last, counts, expected)
    try:
        return Pace(rhythm, msgspec.msgpack.decode(memory[_NUMBERS.size :], type=Hints))
    except (msgspec.DecodeError, UnicodeDecodeError):
        return Pace(rhythm)


def encode(pace: Pace) -> bytes:
    rhythm = pace.rhythm
    scales = (rhythm.last, rhythm.events, rhythm.seconds, rhythm.quick, rhythm.slow, rhythm.followed, rhythm.trials)
    numbers = _NUMBERS.pack(VERSION, *scales, *rhythm.hours, *rhythm.days, *rhythm.counts, *rhythm.expected)
    return numbers + msgspec.msgpack.encode(pace.hints)


def learn(rhythm: Rhythm, now: Millis, before: Millis | None, times: Sequence[Millis], changed: bool) -> Rhythm:
    """Return the rhythm after a check at `now`; the previous one was at `before`, None without one. `times`: the
    source's own dates of its changes, used between the two checks; a change without one is placed in the middle. At the
    first check they are the history.
    """
    moment = now / 1000
    if before is None:
        history = [at for at in sorted(at / 1000 for at in times) if moment - _HISTORY <= at <= moment][-_MOST_HISTORY:]
        for last, at in pairwise(history):
            rhythm = observe(rhythm, at, at - last, (at,))
        return observe(rhythm, moment, moment - history[-1], ()) if len(history) > 1 else rhythm
    gap = max(0.0, min(_LONGEST_GAP, (now - before) / 1000))
    start = moment - gap
    if not changed:
        return observe(rhythm, moment, gap, ())
    moments = sorted(at / 1000 for at in times if start <= at / 1000 <= moment) or [moment - gap / 2]
    return observe(rhythm, moment, gap, moments)


def fresh_rhythm(interval: float) -> Rhythm:
    return Rhythm(seconds=PRIOR_EVENTS * (1 - BELIEF) / (2 * COURTESY / (interval * interval)))


CATCH_UP_RATE: Final = 10.0  # overdue checks a second after a start; more only if that is the sources' own pace
MARGIN: Final = 1.15


def startup_wait(late: int, interval: float, draw: float, *, page: bool) -> float:
    """Return the seconds that one of `late` overdue sources waits. interval: seconds. `draw` is in [0, 1).

    >>> [round(startup_wait(late, 900.0, 0.5, page=page)) for late, page in ((9999, False), (9999, True), (2, False))]
    [450, 783, 0]
    """
    return draw * min(late / CATCH_UP_RATE, interval) * (2 / MARGIN if page else 1.0)
