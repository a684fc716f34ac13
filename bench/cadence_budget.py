"""A test that the controller keeps all sources' checks within the budget: all traces at once, on one clock.

Each trace is shifted by whole days, which keeps its hours, and repeats at its end.
"""

from __future__ import annotations

import heapq
import random
from bisect import bisect_right
from collections.abc import Sequence

from actors.settings import Settings
from actors.sources.schedule.budgets import Price, adjusted_price, first_guess
from bench.cadence_policies import Product
from bench.cadence_traces import CEILING, DAY, MEAN, Trace
from bench.topic import size

TICK = 60.0
DAYS = size(8, 2)
SETTLING = 1.0
"""Initial days that do not count."""
WEEK = 7 * DAY


def controlled(traces: Sequence[Trace]) -> dict[str, float]:
    """Return the relative deviation of daily checks from the budget: over all days, and on the worst day."""
    target = len(traces) / MEAN
    price = Price(first_guess(len(traces), target, CEILING), Settings().cadence_evenness)
    watchers = [Product(price) for _ in traces]
    rng = random.Random(1)
    queue = [(rng.random() * MEAN, number) for number in range(len(traces))]
    heapq.heapify(queue)
    last = [0.0] * len(traces)
    waits = [MEAN] * len(traces)
    looks = [0] * DAYS
    tick = 0.0
    while queue[0][0] < DAYS * DAY:
        now, number = heapq.heappop(queue)
        while tick + TICK <= now:
            tick += TICK
            price = Price(adjusted_price(price.value, sum(1 / wait for wait in waits), target, TICK), price.exponent)
        watcher, trace = watchers[number], traces[number]
        watcher.price = price
        wait = watcher.wait(_moment(trace, now), _found(trace, last[number], now), now - last[number], rng.random())
        looks[int(now // DAY)] += 1
        last[number], waits[number] = now, wait
        heapq.heappush(queue, (now + wait, number))
    counted = [count / (target * DAY) - 1 for count in looks[int(SETTLING) :]]
    return {"in all": abs(sum(counted) / len(counted)), "worst day": max(abs(miss) for miss in counted)}


def _moment(trace: Trace, now: float) -> float:
    """Return a trace's time for `now` seconds after the start of the run."""
    return trace.start // WEEK * WEEK + now


def _found(trace: Trace, since: float, now: float) -> list[float]:
    """Return the times of a trace's changes in an interval, repeating the trace as needed."""
    length = max(DAY, (trace.end - trace.start) // DAY * DAY)
    start, found = trace.start // WEEK * WEEK, []
    lap = int(since // length)
    while lap * length <= now:
        shift = lap * length + start - trace.start // DAY * DAY
        low = bisect_right(trace.events, start + since - shift)
        high = bisect_right(trace.events, start + now - shift)
        found += [at + shift for at in trace.events[low:high]]
        lap += 1
    return found if trace.dated or not found else [start + (since + now) / 2]
