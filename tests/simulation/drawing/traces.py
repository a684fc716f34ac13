"""Worlds of any kind with traces on, and a collector with many troubles."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial

from tests.simulation.chances import chance
from tests.simulation.drawing.letters import draw_letters, draw_letters_of_nodes
from tests.simulation.drawing.moments import moments
from tests.simulation.drawing.worlds import draw, draw_disk, draw_nodes
from tests.simulation.program import COLLECTOR, HOST_FAULTS, Fault, Program

KINDS: Sequence[Callable[[str], Program]] = (
    partial(draw, days=0.2, sources=5),
    draw_nodes,
    draw_nodes,
    draw_disk,
    partial(draw_letters, days=0.04),
    draw_letters_of_nodes,
)
PER_DAY = 40.0
"""Troubles of the collector: it is down for a third of the time."""


def draw_traced(seed: str) -> Program:
    """Draw a world of some kind, with traces."""
    return traced(chance(seed, "traces").choice(KINDS)(seed))


def traced(program: Program) -> Program:
    """Trace a world: all of it, or a share."""
    dice = chance(program.seed, "traces/collector")
    faults = [
        Fault(at, min(dice.expovariate(1 / 700), 3600.0, program.ends - at), dice.choice(HOST_FAULTS), COLLECTOR)
        for at in moments(dice, PER_DAY, 0.0, program.ends)
    ]
    return replace(
        program,
        traces=dice.choice((1.0, 1.0, 0.5, 0.1)),
        faults=tuple(sorted((*program.faults, *faults), key=lambda fault: fault.at)),
    )


def draw_traced_disk(seed: str) -> Program:
    """Draw a disk with frequent troubles and a collector; half of the traces are kept."""
    return replace(traced(draw_disk(seed)), traces=0.5)
