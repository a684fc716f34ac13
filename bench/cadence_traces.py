"""Recorded times of changes, and what a way of choosing looks would have made of them.

A look finds all changes since the look before it; the delay of a change is the look's time less its own. A source
with dates of its own (a feed) tells them; a page tells only that it has changed. The first fifth of each trace is for
learning: looked at and paid for, not scored. Each source starts at a random phase, several times over (`SEEDS`),
because a single run's mean swings by a tenth.
"""

from __future__ import annotations

import csv
import gzip
import json
import math
import random
import zlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from statistics import fmean
from typing import Protocol

from bench.topic import size

DAY = 86_400.0
FLOOR, CEILING = 60.0, 2700.0
MEAN = 1200.0
"""Seconds between two looks at a source on average: the budget all policies share."""
WARM = 0.2
SEEDS = size(3, 1)
CLOSE = size(0.004, 1.0)
"""How near the number of looks must come to the budget, as a part of it."""


@dataclass(frozen=True)
class Trace:
    """Moments of change between two moments, in epoch seconds."""

    name: str
    family: str
    dated: bool
    start: float
    end: float
    events: tuple[float, ...]

    @property
    def warm(self) -> float:
        return self.start + WARM * (self.end - self.start)


class Policy(Protocol):
    """Watches one source: is told what a look found, says how long to wait for the next. Clamped by who calls it."""

    def wait(self, now: float, found: Sequence[float], gap: float, draw: float) -> float: ...


Maker = Callable[[float, Trace], Policy]
"""Makes the policy of one trace from the one number by which its looks are brought to the budget."""


@dataclass(frozen=True)
class Outcome:
    """Looks in all; minutes of delay, as the mean over changes and as the mean over sources' means."""

    looks: float
    per_event: float
    per_source: float


def load(folder: Path) -> list[Trace]:
    """Read a folder with `traces.csv.gz` and `manifest.jsonl`. Raises FileNotFoundError."""
    events: dict[str, list[float]] = {}
    with gzip.open(folder / "traces.csv.gz", "rt") as lines:
        for row in csv.DictReader(lines):
            events.setdefault(row["trace"], []).append(float(row["t"]))
    found = []
    for line in (folder / "manifest.jsonl").read_text("utf-8").splitlines():
        told = json.loads(line)
        name = told["trace"]
        family = name.rstrip("0123456789-")
        dated = not told["kind"].startswith("page")
        times = tuple(sorted(events.get(name, ())))
        found.append(Trace(name, family, dated, float(told["start"]), float(told["end"]), times))
    return found


def half(trace: Trace) -> int:
    """Return which half a trace belongs to: 0 was held out, 1 was tuned on. A site is never in both."""
    return zlib.crc32(trace.family.encode()) % 2


def budget(traces: Sequence[Trace]) -> float:
    return sum(trace.end - trace.start for trace in traces) / MEAN


def watch(trace: Trace, policy: Policy, rng: random.Random) -> tuple[int, list[float]]:
    """Return the number of looks and the delay of each scored change, in seconds."""
    now, gap, seen, looks = trace.start + rng.random() * MEAN, 0.0, 0, 0
    events, last = trace.events, len(trace.events)
    delays: list[float] = []
    while now < trace.end:
        found = seen
        while found < last and events[found] <= now:
            found += 1
        new: Sequence[float] = events[seen:found]
        delays += [now - at for at in new if at > trace.warm]
        seen, looks = found, looks + 1
        if new and not trace.dated:
            new = (now - gap / 2,)
        gap = min(CEILING, max(FLOOR, policy.wait(now, new, gap, rng.random())))
        now += gap
    delays += [max(0.0, now - at) for at in events[seen:] if at > trace.warm]
    return looks, delays


def run(make: Maker, knob: float, traces: Sequence[Trace], seed: int) -> Outcome:
    """Watch all traces once."""
    looks, all_delays, means = 0, 0.0, []
    count = 0
    for trace in traces:
        more, delays = watch(trace, make(knob, trace), random.Random(f"{trace.name}/{seed}"))
        looks += more
        if delays:
            all_delays += sum(delays)
            count += len(delays)
            means.append(fmean(delays))
    return Outcome(looks, all_delays / count / 60, fmean(means) / 60)


def at_budget(make: Maker, traces: Sequence[Trace], knob: float) -> tuple[float, Outcome]:
    """Find the knob at which the looks meet the budget; return it with the mean outcome of several runs."""
    aim = math.log(budget(traces))
    tried: list[tuple[float, float]] = []
    x = math.log(knob)
    while True:
        miss = math.log(run(make, math.exp(x), traces, 0).looks) - aim
        tried.append((miss, x))
        if abs(miss) < CLOSE or len(tried) == 9:
            break
        x = _next_try(tried)
    knob = math.exp(min(tried, key=lambda pair: abs(pair[0]))[1])
    runs = [run(make, knob, traces, seed) for seed in range(1, SEEDS + 1)]
    return knob, Outcome(
        fmean(one.looks for one in runs), fmean(one.per_event for one in runs), fmean(one.per_source for one in runs)
    )


def _next_try(tried: Sequence[tuple[float, float]]) -> float:
    """The secant through the two best tries; looks fall as a knob rises, at least with its tenth power."""
    best = sorted(tried, key=lambda pair: abs(pair[0]))[:2]
    slope = -0.5
    for (miss, x), (other, y) in pairwise(best):
        slope = min(-0.1, (other - miss) / (y - x)) if x != y else slope
    miss, x = best[0]
    return x - max(-1.5, min(1.5, miss / slope))
