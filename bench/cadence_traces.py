"""Recorded times of changes, and how a policy would have checked them.

A check finds all changes since the previous one; a change's delay is the check's time minus its own. A source with
dates (a feed) reports them; a page reports only that it changed. The first fifth of each trace is for learning: checks
count, delays do not. Each source starts at a random phase, several times (`SEEDS`), because the mean of one run varies
by a tenth.
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
"""Average seconds between two checks of a source: the budget of all policies."""
WARM = 0.2
SEEDS = size(3, 1)
CLOSE = size(0.004, 1.0)
"""Allowed relative deviation of the checks from the budget."""


@dataclass(frozen=True)
class Trace:
    """Times of changes between two moments, in epoch seconds."""

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
    """Watches one source: receives each check's changes, returns the wait until the next. The caller clamps it."""

    def wait(self, now: float, found: Sequence[float], gap: float, draw: float) -> float: ...


Maker = Callable[[float, Trace], Policy]
"""Makes a trace's policy from the knob that brings its checks to the budget."""


@dataclass(frozen=True)
class Outcome:
    """Total checks; minutes of delay, averaged over changes and over sources' means."""

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
    """Return a trace's half: 0 held out, 1 tuned on. A site is never in both."""
    return zlib.crc32(trace.family.encode()) % 2


def budget(traces: Sequence[Trace]) -> float:
    return sum(trace.end - trace.start for trace in traces) / MEAN


def watch(trace: Trace, policy: Policy, rng: random.Random) -> tuple[int, list[float]]:
    """Return the number of checks, and the delay of each scored change in seconds."""
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
    """Find the knob at which the checks meet the budget; return it with the mean outcome of several runs."""
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
    """Return the secant's next try from the two best; checks fall at least with the tenth power of the knob."""
    best = sorted(tried, key=lambda pair: abs(pair[0]))[:2]
    slope = -0.5
    for (miss, x), (other, y) in pairwise(best):
        slope = min(-0.1, (other - miss) / (y - x)) if x != y else slope
    miss, x = best[0]
    return x - max(-1.5, min(1.5, miss / slope))
