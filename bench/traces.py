"""`python -m bench.traces [ROUNDS]`: what traces cost while they are on, by how the collector is.

The same simulated hours are run without traces and with all of them, in turns: the log is the same byte for byte, so
the difference in processor time is the traces'. The collector's own work is left out. Seconds are of the whole process,
the least of the rounds; a look is one that was made, deliveries and commits that came of it included.
"""

from __future__ import annotations

import random
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any, NamedTuple
from unittest.mock import patch

import trio
import trio._core._run as trio_run

from sanderling.simulation.drawing.worlds import draw
from sanderling.simulation.origins import troubles
from sanderling.simulation.origins.collector import TAKEN, Collector
from sanderling.simulation.program import COLLECTOR, Fault, Program
from sanderling.simulation.run import simulate_program
from sanderling.simulation.serving import Answer, Request

ROUNDS = 3
COLLECTORS = {
    "answers": "",
    "answers a byte in two seconds": "trickle",
    "never answers": "silent",
    "is away": "refused",
    "answers 503": "busy",
    "answers rubbish": "wall",
}


class Run(NamedTuple):
    """One run. seconds: of processor time. requests: to the collector; bytes: in them."""

    seconds: float
    looks: int
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
    return Run(seconds, looks, len(facts.log), len(sizes), sum(sizes))


def main(rounds: int) -> None:
    """Print a line for each collector."""
    plain = draw("2", days=0.06, sources=30, pace=30.0)
    plain = replace(plain, faults=(), point_crash=0.0, endings=(), clients=(), meddling=(), steps=())
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
    main(int(sys.argv[1]) if len(sys.argv) > 1 else ROUNDS)
