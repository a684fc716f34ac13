"""The cost of traces: for a check and a delivery, off and on, and for each behaviour of a collector.

The same simulated hours run with and without all traces, alternating which is first: the log is identical byte for
byte, so the difference in processor time is the traces'. It covers the whole process without the collector's work. A
check includes the commits it causes; a delivery is an attempt that reached a receiver, in a world without checks. While
traces are off, a profiler counts the calls into their code, and the cost of one call is measured alone: apart from
tests for a tracer, that is their whole cost.
"""

from __future__ import annotations

import cProfile
import pstats
import random
import statistics
import time
import timeit
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any, NamedTuple
from unittest.mock import patch

import trio
import trio._core._run as trio_run

from actors.observer import NO_STEPS
from bench.topic import Figure, Row, Topic, size
from tests.simulation.delivery_plans import Saying
from tests.simulation.drawing.letters import SOURCES, WORDS, draw_letters
from tests.simulation.drawing.worlds import draw
from tests.simulation.origins import troubles
from tests.simulation.origins.collector import TAKEN, Collector
from tests.simulation.program import COLLECTOR, Fault, Program
from tests.simulation.run import simulate_program
from tests.simulation.serving import Answer, Request

PAIRS, ROUNDS = size(10, 1), size(2, 1)
CALLS = size(200_000, 2_000)
LETTERS, BEGUN = size(300, 10), 600.0
DAYS, WATCHED, SOURCES_WATCHED = size(0.04, 0.01), size(0.04, 0.003), size(30, 3)
COLLECTORS = {
    "answers": "",
    "answers a byte in two seconds": "trickle",
    "never answers": "silent",
    "is away": "refused",
    "answers 503": "busy",
    "answers rubbish": "wall",
}
TOPIC = Topic(
    "Traces",
    "The same simulated hours without traces and with all of them, in turns, in processor time without the "
    "collector's.",
    ("actors/observer.py", "extras/tracing"),
    {
        "look": Figure("a check without traces", "us"),
        "look_more": Figure("what traces add to a check, median", "us"),
        "look_calls": Figure("calls into their code for a check while off", ""),
        "told": Figure("a delivery without traces, its event's commit and match included", "us"),
        "told_more": Figure("what traces add to a delivery, median", "us"),
        "told_calls": Figure("calls into their code for a delivery while off", ""),
        "call": Figure("a call while off", "ns"),
        "again": Figure("what a second run without traces adds to a check", "us"),
    }
    | {name: Figure(f"what traces add to a check, the collector {name}", "us") for name in COLLECTORS},
)


class Run(NamedTuple):
    """One run. seconds: of processor time. requests: to the collector. told: attempts at receivers."""

    seconds: float
    looks: int
    told: int
    requests: int


class InOrder(random.Random):
    """Trio's generator without the shuffle: an additional task must not move the others."""

    def shuffle(self, x: Any) -> None:
        """Leave it unchanged."""


@contextmanager
def counted() -> Iterator[list[int]]:
    """Replace the collectors' work, and yield the sizes of the bodies they receive."""
    sizes: list[int] = []

    async def respond(self: Collector, request: Request) -> Answer:
        await trio.lowlevel.checkpoint()
        sizes.append(len(request.body))
        return troubles.suffered(self.host, request, TAKEN)

    with patch.object(Collector, "respond", respond):
        yield sizes


def run(program: Program) -> Run:
    """Run a world and measure it."""
    with counted() as sizes, patch.object(trio_run, "_r", InOrder()):
        began = time.process_time()
        result = simulate_program(program)
        seconds = time.process_time() - began
    facts = result.facts
    looks = sum(seen.path != "/robots.txt" for each in facts.seen.values() for seen in each)
    letters = facts.letters.receipts.values() if facts.letters is not None else ()
    told = len(facts.receipts) + sum(map(len, letters))
    return Run(seconds, looks, told, len(sizes))


def quiet(program: Program) -> Program:
    """Return a world without faults and clients."""
    return replace(program, faults=(), point_crash=0.0, endings=(), clients=(), meddling=(), steps=(), traces=0.0)


def many_letters(world: Program) -> Program:
    """Return a world of deliveries with an event every few seconds, which every alert matches."""
    assert world.letters is not None
    sayings = tuple(Saying(BEGUN + 3.0 * number, number % SOURCES, WORDS) for number in range(LETTERS))
    return replace(world, letters=replace(world.letters, sayings=sayings))


def pairs() -> Iterator[Row]:
    """Yield the cost of a check and a delivery, with and without traces."""
    looks = quiet(draw("2", days=WATCHED, sources=SOURCES_WATCHED, pace=30.0))
    letters = many_letters(quiet(draw_letters("1", days=DAYS)))
    for kind, world in (("looks", looks), ("told", letters)):
        runs = [_pair(world, number) for number in range(PAIRS)]
        key, number = kind.removesuffix("s"), getattr(runs[0][0], kind)
        yield Row(key, statistics.median(off.seconds for off, _ in runs) / number * 1e6, note=f"of {number}")
        more = [(on.seconds - off.seconds) / number * 1e6 for off, on in runs]
        low, _, high = statistics.quantiles([*more, *more], n=4)
        yield Row(f"{key}_more", statistics.median(more), note=f"quartiles {low:.0f} and {high:.0f}")
        yield Row(f"{key}_calls", _calls(world) / number)
    yield Row("call", timeit.timeit(lambda: NO_STEPS.step("GET").__enter__(), number=CALLS) / CALLS * 1e9)


def _pair(world: Program, number: int) -> tuple[Run, Run]:
    traced = replace(world, traces=1.0)
    if number % 2:
        on = run(traced)
        return run(world), on
    return run(world), run(traced)


def _calls(world: Program) -> float:
    """Return how many calls a run makes into traces' code while they are off."""
    profile = cProfile.Profile()
    profile.runcall(run, world)
    found: Any = pstats.Stats(profile).stats  # type: ignore[attr-defined]
    return sum(each[1] for (file, _, _), each in found.items() if file.endswith("actors/observer.py"))


def collectors() -> Iterator[Row]:
    plain = quiet(draw("2", days=1.5 * WATCHED, sources=SOURCES_WATCHED, pace=30.0))
    worlds = {"": plain, "again": plain}
    for name, kind in COLLECTORS.items():
        faults = (Fault(0.0, plain.ends, kind, COLLECTOR),) if kind else ()
        worlds[name] = replace(plain, traces=1.0, faults=faults)
    found: dict[str, list[Run]] = {name: [] for name in worlds}
    for _ in range(ROUNDS):
        for name, world in worlds.items():
            found[name].append(run(world))
    without = min(each.seconds for each in found.pop(""))
    for name, runs in found.items():
        cost = (min(each.seconds for each in runs) - without) / runs[0].looks * 1e6
        yield Row(name, cost, note=f"{runs[0].requests / runs[0].looks:.3f} requests a check")


def rows() -> Iterator[Row]:
    yield from pairs()
    yield from collectors()
