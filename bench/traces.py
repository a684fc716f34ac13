"""What traces cost: `python -m bench.traces [PAIRS]` for a look and a delivery, off and on; `bench.traces collectors
[ROUNDS]` for each way a collector is.

The same simulated hours are run without traces and with all of them, in turns, and which is first changes with each
pair: the log is the same byte for byte, so the difference in processor time is the traces'. It is of the whole process;
the collector's own work is left out. A look is one that was made, commits that came of it included; a delivery is an
attempt that came to a receiver, in a world in which nothing is looked at. While they are off, the calls into the code
of traces are counted by a profiler, and what one takes is measured alone: that is all that is left of them, beside the
questions whether there is a tracer.
"""

from __future__ import annotations

import cProfile
import pstats
import random
import statistics
import sys
import time
import timeit
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any, NamedTuple
from unittest.mock import patch

import trio
import trio._core._run as trio_run

from actors.tracing.steps import step
from sanderling.simulation.delivery_plans import Saying
from sanderling.simulation.drawing.letters import SOURCES, WORDS, draw_letters
from sanderling.simulation.drawing.worlds import draw
from sanderling.simulation.origins import troubles
from sanderling.simulation.origins.collector import TAKEN, Collector
from sanderling.simulation.program import COLLECTOR, Fault, Program
from sanderling.simulation.run import simulate_program
from sanderling.simulation.serving import Answer, Request

PAIRS = 10
ROUNDS = 3
CALLS = 200_000
LETTERS, BEGUN = 300, 600.0
COLLECTORS = {
    "answers": "",
    "answers a byte in two seconds": "trickle",
    "never answers": "silent",
    "is away": "refused",
    "answers 503": "busy",
    "answers rubbish": "wall",
}


class Run(NamedTuple):
    """One run. seconds: of processor time. requests: to the collector; bytes: in them. told: attempts at receivers."""

    seconds: float
    looks: int
    told: int
    events: int
    requests: int
    bytes: int


class InOrder(random.Random):
    """Trio's generator, without the shuffle: one task more must not move the others."""

    def shuffle(self, x: Any) -> None:
        """Leave it as it is."""


@contextmanager
def counted() -> Iterator[list[int]]:
    """Have collectors do no work of their own, and yield the sizes of what they were sent."""
    sizes: list[int] = []

    async def respond(self: Collector, request: Request) -> Answer:
        await trio.lowlevel.checkpoint()
        sizes.append(len(request.body))
        return troubles.suffered(self.host, request, TAKEN)

    with patch.object(Collector, "respond", respond):
        yield sizes


def run(program: Program) -> Run:
    """Run a world and weigh it."""
    with counted() as sizes, patch.object(trio_run, "_r", InOrder()):
        began = time.process_time()
        result = simulate_program(program)
        seconds = time.process_time() - began
    facts = result.facts
    looks = sum(seen.path != "/robots.txt" for each in facts.seen.values() for seen in each)
    letters = facts.letters.receipts.values() if facts.letters is not None else ()
    told = len(facts.receipts) + sum(map(len, letters))
    return Run(seconds, looks, told, len(facts.log), len(sizes), sum(sizes))


def quiet(program: Program) -> Program:
    """Return a world in which nothing goes wrong and nobody does anything."""
    return replace(program, faults=(), point_crash=0.0, endings=(), clients=(), meddling=(), steps=(), traces=0.0)


def many_letters(world: Program) -> Program:
    """Return a world of deliveries with an event each few seconds, which every alert wants."""
    assert world.letters is not None
    sayings = tuple(Saying(BEGUN + 3.0 * number, number % SOURCES, WORDS) for number in range(LETTERS))
    return replace(world, letters=replace(world.letters, sayings=sayings))


def pairs(count: int) -> None:
    """Print what a look and a delivery cost, with traces and without."""
    looks = quiet(draw("2", days=0.04, sources=30, pace=30.0))
    letters = many_letters(quiet(draw_letters("1", days=0.04)))
    for name, world in (("look", looks), ("delivery", letters)):
        runs = [_pair(world, number) for number in range(count)]
        number = getattr(runs[0][0], "looks" if name == "look" else "told")
        without = statistics.median(off.seconds for off, _ in runs) / number * 1e6
        more = sorted((on.seconds - off.seconds) / number * 1e6 for off, on in runs)
        low, middle, high = statistics.quantiles(more, n=4)
        calls = _calls(world) / number
        print(
            f"{name}: {number} of them, {without:.0f} us each without traces; with them {middle:.0f} us more ", end=""
        )
        print(f"(quartiles {low:.0f} and {high:.0f}, of {count} pairs); {calls:.1f} calls each while off", flush=True)
    each = timeit.timeit(lambda: step(None, "GET").__enter__(), number=CALLS) / CALLS * 1e9
    print(f"a call while off: {each:.0f} ns", flush=True)


def _pair(world: Program, number: int) -> tuple[Run, Run]:
    traced = replace(world, traces=1.0)
    if number % 2:
        on = run(traced)
        return run(world), on
    return run(world), run(traced)


def _calls(world: Program) -> float:
    """Return how many calls into the code of traces a run makes while they are off."""
    profile = cProfile.Profile()
    profile.runcall(run, world)
    found: Any = pstats.Stats(profile).stats  # type: ignore[attr-defined]
    return sum(each[1] for (file, _, _), each in found.items() if "/tracing/" in file)


def collectors(rounds: int) -> None:
    """Print a line for each collector."""
    plain = quiet(draw("2", days=0.06, sources=30, pace=30.0))
    worlds = {"no traces": plain, "no traces, again": plain}
    for name, kind in COLLECTORS.items():
        faults = (Fault(0.0, plain.ends, kind, COLLECTOR),) if kind else ()
        worlds[name] = replace(plain, traces=1.0, faults=faults)
    found: dict[str, list[Run]] = {name: [] for name in worlds}
    for _ in range(rounds):
        for name, world in worlds.items():
            found[name].append(run(world))
    without = min(each.seconds for each in found["no traces"])
    for name, runs in found.items():
        one, seconds = runs[0], min(each.seconds for each in runs)
        cost, each = (seconds - without) / one.looks * 1e6, one.bytes / max(1, one.requests) / 1024
        print(f"{name}: {seconds:.2f} s, {seconds / without:.3f} of none, {cost:.0f} us a look; ", end="")
        print(f"{one.looks} looks, {one.events} events; ", end="")
        print(f"{one.requests / one.looks:.3f} requests a look, {each:.1f} KiB each", flush=True)


if __name__ == "__main__":
    if sys.argv[1:2] == ["collectors"]:
        collectors(int(sys.argv[2]) if len(sys.argv) > 2 else ROUNDS)
    else:
        pairs(int(sys.argv[1]) if len(sys.argv) > 1 else PAIRS)
