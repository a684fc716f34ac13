"""Delays of each cadence policy, all with the same number of checks.

`make bench-cadence [TRACES=folder]` prints each policy for a folder with `traces.csv.gz` and `manifest.jsonl`, by
default the shared material next to the project. *Sanderling* is the product's own code, with its memory decoded,
updated and encoded at each check. The constants in `actors/sources/schedule/cadence.py` were chosen on the half of
the sites called tuned on; the other is held out. One idea came from the held-out half: a page with a steady beat led to
distinguishing ages since the last change.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from actors.settings import Settings
from actors.sources.schedule.budgets import Price
from bench.cadence_budget import controlled
from bench.cadence_policies import Aimd, Fixed, Foresight, Frequency, Oracle, Product, Root, product
from bench.cadence_traces import MEAN, Maker, Outcome, Trace, at_budget, budget, half, load
from bench.topic import MATERIAL, Absent, Figure, Row, Topic, size

FOLDER = MATERIAL / "cadence"
EACH = size(1, 12)
"""Use every n-th trace."""
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
TOPIC = Topic(
    "When sources are checked",
    "Mean delays on recorded traces, all policies with the same number of checks: a fixed interval beside the default, "
    "1/sqrt of a learned rate beside the event-optimal setting.",
    ("actors/sources/schedule",),
    {
        f"{key} {part}": Figure(f"{name}, {part}", "min", goal)
        for part in PARTS
        for key, name, goal in (
            ("event", "default, delay per event", "<= 0.57 x fixed"),
            ("source", "default, delay per source", "<= 1 x fixed"),
            ("optimal", "event-optimal setting, delay per event", "<= 0.83 x 1/sqrt(rate)"),
        )
    }
    | {
        "decision": Figure("a decision, CPU", "us", "<= 50 us"),
        "in all": Figure("controller: checks off the budget, in all", "", "<= 0.05"),
        "worst day": Figure("controller: checks off the budget, worst day", "", "<= 0.05"),
    },
)


def measure(traces: Sequence[Trace], policies: Mapping[str, tuple[Maker, float]] = POLICIES) -> Table:
    """Return the outcome of each policy on each part of the traces; each part has its own budget."""
    found: Table = {}
    for part, halves in PARTS.items():
        chosen = [trace for trace in traces if half(trace) in halves]
        for name, (make, knob) in policies.items():
            found.setdefault(name, {})[part] = at_budget(make, chosen, knob)[1]
    return found


def decision_cost(trace: Trace) -> float:
    """Return the microseconds of one decision on the busiest trace, with memory read and written; best of many runs."""
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


def report(traces: Sequence[Trace]) -> None:
    """Print the delays of each policy."""
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


def rows() -> Iterator[Row]:
    if not (FOLDER / "manifest.jsonl").exists():
        raise Absent("the shared traces")
    traces = load(FOLDER)[::EACH]
    found = measure(traces, {name: POLICIES[name] for name in ("fixed", ONE_RATE, OPTIMAL, DEFAULT)})
    for part in PARTS:
        fixed, ours = found["fixed"][part], found[DEFAULT][part]
        yield Row(f"event {part}", ours.per_event, fixed.per_event)
        yield Row(f"source {part}", ours.per_source, fixed.per_source)
        yield Row(f"optimal {part}", found[OPTIMAL][part].per_event, found[ONE_RATE][part].per_event)
    yield Row("decision", decision_cost(max(traces, key=lambda trace: len(trace.events))))
    for what, miss in controlled(traces).items():
        yield Row(what, miss)


if __name__ == "__main__":
    report(load(Path(sys.argv[1]) if len(sys.argv) > 1 else FOLDER))
