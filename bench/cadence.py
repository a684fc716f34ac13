"""Cadence's figures: how late each way of choosing looks is told of changes, all with the same number of looks.

`make bench-cadence [TRACES=folder]` prints the table for a folder with `traces.csv.gz` and `manifest.jsonl`; without
one, for the shared material beside the project. What runs as *Sanderling* is the product's own code: its memory is
decoded, taught and encoded at each look. The constants in `actors/sources/schedule/change_rate.py` were chosen on the
half of the sites that is called tuned on; the other half is held out. One idea came from the latter: a page of it with
a steady beat led to the ages since the last change that a rhythm tells apart.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from actors.settings import Settings
from actors.sources.schedule.look_price import Price
from bench.cadence_budget import controlled
from bench.cadence_policies import Aimd, Fixed, Foresight, Frequency, Oracle, Product, Root, product
from bench.cadence_traces import MEAN, Maker, Outcome, Trace, at_budget, budget, half, load

MATERIAL = Path(__file__).resolve().parents[2] / "shared" / "data" / "cadence"
EVENNESS = Settings().cadence_evenness
DEFAULT = f"Sanderling, evenness {EVENNESS:g} (default)"
ONE_RATE = "interval ~ 1/sqrt(learned rate)"
OPTIMAL = "Sanderling, evenness 0 (event-optimal)"
POLICIES: dict[str, tuple[Maker, float]] = {
    "fixed": (Fixed, MEAN),
    "AIMD": (Aimd, 0.25),
    "interval ~ 1/rate (entry frequency)": (Frequency, 0.05),
    ONE_RATE: (Root, 5.0),
    OPTIMAL: (product(0.0), 8.0),
    DEFAULT: (product(EVENNESS), 5.0),
    "Sanderling, evenness 1": (product(1.0), 5.0),
    "oracle: true mean rate": (Oracle, 5.0),
    "bound: sees 30 min ahead": (Foresight, 5.0),
}
PARTS = {"all": (0, 1), "tuned on": (1,), "held out": (0,)}
Table = dict[str, dict[str, Outcome]]


def measure(traces: Sequence[Trace]) -> Table:
    """Return the outcome of each policy on each part of the traces, each part with a budget of its own."""
    found: Table = {}
    for part, halves in PARTS.items():
        chosen = [trace for trace in traces if half(trace) in halves]
        for name, (make, knob) in POLICIES.items():
            found.setdefault(name, {})[part] = at_budget(make, chosen, knob)[1]
    return found


def decision_cost(trace: Trace) -> float:
    """Return the microseconds of one decision, memory read and written, on the busiest trace: the best of many runs."""
    best = float("inf")
    for _ in range(5):
        watcher = Product(Price(5.0, EVENNESS))
        now, looks = trace.start, 0
        began = time.process_time()
        for at in trace.events[:1000]:
            watcher.wait(at, (at,), at - now, 0.5)
            watcher.wait(at + 60, (), 60.0, 0.5)
            now, looks = at + 60, looks + 2
        best = min(best, (time.process_time() - began) / looks)
    return best * 1e6


def goals(found: Table, part: str) -> list[tuple[str, float, float]]:
    """Return (goal, bound, what was reached) of a part."""
    fixed, root = found["fixed"][part], found[ONE_RATE][part]
    ours, optimal = found[DEFAULT][part], found[OPTIMAL][part]
    return [
        (f"{part}: default per event, of fixed", 0.57, ours.per_event / fixed.per_event),
        (f"{part}: default per source, of fixed", 1.0, ours.per_source / fixed.per_source),
        (f"{part}: event-optimal per event, of 1/sqrt", 0.83, optimal.per_event / root.per_event),
    ]


def figures(traces: Sequence[Trace], found: Table) -> list[tuple[str, float, float]]:
    """Return all goals with what was reached."""
    rows = [row for part in PARTS for row in goals(found, part)]
    busiest = max(traces, key=lambda trace: len(trace.events))
    rows.append(("a decision, us", 50.0, decision_cost(busiest)))
    rows += [(f"controller: looks off the budget, {what}", 0.05, miss) for what, miss in controlled(traces).items()]
    return rows


def report(traces: Sequence[Trace]) -> None:
    """Print the delays of each policy, then the goals."""
    events = sum(len(trace.events) for trace in traces)
    print(f"{len(traces)} sources, {events} events, one look per {MEAN / 60:g} min: {budget(traces):.0f} looks")
    print("mean delay in minutes per event | per source, and both as parts of fixed\n")
    found = measure(traces)
    print(f"{'':<40}" + "".join(f"{part:^30}" for part in PARTS))
    for name, parts in found.items():
        cells = ""
        for part, outcome in parts.items():
            fixed = found["fixed"][part]
            of_event, of_source = outcome.per_event / fixed.per_event, outcome.per_source / fixed.per_source
            cells += f"{outcome.per_event:6.2f} |{outcome.per_source:6.2f}  ({of_event:.2f} |{of_source:5.2f}) "
        print(f"{name:<40}{cells}")
    print()
    for goal, bound, reached in figures(traces, found):
        print(f"{goal:<56} {reached:8.3f}   goal <= {bound:g}   {'met' if reached <= bound else 'NOT MET'}")


def rows() -> list[dict[str, Any]]:
    """Return the cadence's rows for the table of all benchmarks; none where the material is absent."""
    if not (MATERIAL / "manifest.jsonl").exists():
        return []
    traces = load(MATERIAL)
    return [
        {
            "figure": f"cadence, {goal}",
            "goal": f"<= {bound:g}",
            "limit": "",
            "ours": f"{reached:.3g}",
            "ratio": None,
            "met": reached <= bound,
        }
        for goal, bound, reached in figures(traces, measure(traces))
    ]


if __name__ == "__main__":
    report(load(Path(sys.argv[1]) if len(sys.argv) > 1 else MATERIAL))
