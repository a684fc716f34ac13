"""Policies for checks: the product's own code, and those it is compared with.

All get the same information. The first parameter of each, its knob, scales all its waits.
"""

from __future__ import annotations

import math
from bisect import bisect
from collections import deque
from collections.abc import Sequence

from actors.sources.schedule import cadence
from actors.sources.schedule import cadence as pace
from actors.sources.schedule.budgets import Price
from actors.sources.schedule.cadence import Hints, Limits, Pace
from bench.cadence_traces import CEILING, DAY, FLOOR, Maker, Trace
from storage.records.identity import Millis

LIMITS = Limits(FLOOR, CEILING)
JITTER = 0.05


def jittered(wait: float, draw: float) -> float:
    return min(CEILING, max(FLOOR, wait)) * (1 + JITTER * (2 * draw - 1))


class Product:
    """A source as in the product: its memory in bytes, decoded, updated and encoded at each check."""

    def __init__(self, price: Price) -> None:
        self.price = price
        self.memory = b""
        self.before: Millis | None = None

    def wait(self, now: float, found: Sequence[float], gap: float, draw: float) -> float:
        at = Millis(round(now * 1000))
        times = [Millis(round(moment * 1000)) for moment in found]
        known = pace.decode(self.memory)
        before = at if self.before is None else self.before
        rhythm = pace.learn(known.rhythm, at, before, times, bool(times))
        interval = cadence.interval_of(rhythm, now, self.price, LIMITS)
        self.memory, self.before = pace.encode(Pace(rhythm, known.hints)), at
        return (cadence.due_after(at, interval, Hints(), LIMITS, draw) - at) / 1000


def product(exponent: float) -> Maker:
    return lambda knob, _trace: Product(Price(knob, exponent))


class Fixed:
    """The same interval for all."""

    def __init__(self, knob: float, trace: Trace) -> None:
        self.knob = knob

    def wait(self, now: float, found: Sequence[float], gap: float, draw: float) -> float:
        return jittered(self.knob, draw)


class Aimd:
    """A change halves the interval, no change stretches it."""

    def __init__(self, knob: float, trace: Trace) -> None:
        self.knob, self.interval = knob, 600.0

    def wait(self, now: float, found: Sequence[float], gap: float, draw: float) -> float:
        self.interval = max(FLOOR, self.interval / 2) if found else min(CEILING, self.interval * (1 + self.knob))
        return jittered(self.interval, draw)


class Frequency:
    """In proportion to the mean time between the entries of the last seven days."""

    def __init__(self, knob: float, trace: Trace) -> None:
        self.knob, self.start = knob, trace.start
        self.recent: deque[float] = deque()

    def wait(self, now: float, found: Sequence[float], gap: float, draw: float) -> float:
        self.recent += found
        while self.recent and self.recent[0] < now - 7 * DAY:
            self.recent.popleft()
        span = min(7 * DAY, max(DAY / 4, now - self.start))
        return jittered(self.knob * span / len(self.recent) if self.recent else CEILING, draw)


class Root:
    """The knob over the square root of a learned rate: the optimum for steady rates."""

    def __init__(self, knob: float, trace: Trace) -> None:
        self.knob, self.events, self.seconds = knob, 0.5, DAY / 4

    def wait(self, now: float, found: Sequence[float], gap: float, draw: float) -> float:
        forget = math.exp(-gap / (5 * DAY))
        self.events = self.events * forget + len(found)
        self.seconds = self.seconds * forget + gap
        return jittered(self.knob / math.sqrt((self.events + 0.02) / (self.seconds + 600)), draw)


class Oracle:
    """Like Root, with each trace's true mean rate, known from the start."""

    def __init__(self, knob: float, trace: Trace) -> None:
        self.interval = knob / math.sqrt(max(1, len(trace.events)) / (trace.end - trace.start))

    def wait(self, now: float, found: Sequence[float], gap: float, draw: float) -> float:
        return jittered(self.interval, draw)


class Foresight:
    """A bound: knows the changes within half an hour of any moment, and checks when they make it worthwhile."""

    def __init__(self, knob: float, trace: Trace) -> None:
        self.knob, self.events = knob, trace.events
        self.base = len(trace.events) / (trace.end - trace.start)

    def wait(self, now: float, found: Sequence[float], gap: float, draw: float) -> float:
        wait, weighed = 0.0, 0.0
        while wait < CEILING and weighed < self.knob:
            step = 60.0 if wait < 600 else 150.0
            near = bisect(self.events, now + wait + 1800) - bisect(self.events, now + wait - 1800)
            weighed += (0.9 * near / 3600 + 0.1 * self.base) * step * (wait + step / 2)
            wait += step
        return jittered(wait, draw)
