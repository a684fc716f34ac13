"""`python -m tests.simulation SEED`: prints a readable timeline, figures, and the broken promises."""

from __future__ import annotations

import random
import sys
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import TextIO

from sanderling.real_world import wall
from tests.simulation.drawing.letters import draw_hub, draw_kinds, draw_letters, draw_letters_of_nodes
from tests.simulation.drawing.traces import draw_traced
from tests.simulation.drawing.worlds import (
    draw,
    draw_coverage,
    draw_heartbeats,
    draw_members,
    draw_nodes,
    draw_standby,
    draw_swept,
)
from tests.simulation.program import DAY, Program
from tests.simulation.run import Result, simulate_program

HEAD, TAIL = 30, 15
"""Lines of the timeline to print unless all are requested."""


def simulate(
    seed: int | str, *, days: float = 1.0, sources: int = 10, verbose: bool = False, out: TextIO | None = None
) -> int:
    """Run a seed and print the result; return 0 when every promise was kept, else 1."""
    out = sys.stdout if out is None else out

    def show(line: str = "") -> None:
        print(line, file=out)

    began = wall()
    program = draw(str(seed), days=days, sources=sources)
    show(f"seed {seed}: {program.describe()}")
    result = simulate_program(program, sink=show if verbose else None)
    if not verbose:
        _show_ends(result.lines, show)
    for line in summary(result, wall() - began):
        show(line)
    return 1 if result.violations else 0


ONLY: Mapping[str, Callable[[str], Program]] = {
    "deliveries": draw_letters,
    "people": draw_kinds,
    "hub": draw_hub,
    "coverage": draw_coverage,
    "heartbeats": draw_heartbeats,
    "nodes": draw_nodes,
    "node-deliveries": draw_letters_of_nodes,
    "members": draw_members,
    "traces": draw_traced,
    "standby": draw_standby,
    "swept": draw_swept,
}
"""Worlds about one thing, by name."""


def simulate_deliveries(
    seeds: str,
    draw: Callable[[str], Program] = draw_letters,
    *,
    verbose: bool = False,
    out: TextIO | None = None,
) -> int:
    """Run a seed's world of one kind, or those of a range `A..B`; return 0 when every promise was kept, else 1."""
    out = sys.stdout if out is None else out
    first, dots, last = seeds.partition("..")
    if not (dots and first.isdecimal() and last.isdecimal()):
        program, began = draw(seeds), wall()
        result = simulate_program(program, sink=partial(print, file=out) if verbose else None)
        if not verbose:
            _show_ends(result.lines, partial(print, file=out))
        for line in summary(result, wall() - began):
            print(line, file=out)
        return 1 if result.violations else 0
    return _simulate_range(range(int(first), int(last) + 1), draw, out)


def _simulate_range(seeds: range, draw: Callable[[str], Program], out: TextIO) -> int:
    """Print broken promises, progress at every hundredth seed, and the sum."""
    broken = events = deliveries = 0
    for number, seed in enumerate(seeds, 1):
        result = simulate_program(draw(str(seed)))
        facts = result.facts
        events += len(facts.log)
        deliveries += len(facts.receipts)
        deliveries += 0 if facts.letters is None else sum(map(len, facts.letters.receipts.values()))
        broken += bool(result.violations)
        for violation in result.violations:
            print(f"seed {seed}: BROKEN {violation}", file=out, flush=True)
        if number % 100 == 0 or number == len(seeds):
            said = f"{number} seeds, {events} events, {deliveries} requests to receivers, {broken} seeds broken"
            print(said, file=out, flush=True)
    return 1 if broken else 0


def walk(count: int, commit: str, out: TextIO | None = None) -> int:
    """Run worlds of all kinds, with seeds drawn from a commit; return 0 when every promise was kept."""
    out = sys.stdout if out is None else out
    kinds: dict[str, Callable[[str], Program]] = {"": partial(draw, days=1.0, sources=10), **ONLY}
    broken = 0
    for name, seed in drawn_walk(count, commit, list(kinds)):
        began = wall()
        violations = simulate_program(kinds[name](seed)).violations
        command = f"python -m tests.simulation {seed}" + (f" --only {name}" if name else "")
        print(f"{command}: {len(violations)} broken, {wall() - began:.0f} s", file=out, flush=True)
        for violation in violations:
            print(f"BROKEN {violation}", file=out, flush=True)
        broken += bool(violations)
    print(f"{count} worlds of commit {commit[:12]}, {broken} broken", file=out, flush=True)
    return 1 if broken else 0


def drawn_walk(count: int, commit: str, kinds: Sequence[str]) -> list[tuple[str, str]]:
    """Return kinds and seeds of a walk: each kind as often as any other, give or take one.

    >>> len(drawn_walk(3, "c0ffee", ["a", "b"]))
    3
    """
    dice = random.Random(commit)
    shuffled = dice.sample(kinds, len(kinds))
    return [(shuffled[number % len(kinds)], str(dice.randint(1, 200))) for number in range(count)]


def summary(result: Result, real: float) -> list[str]:
    """Return the figures, the trace's hash and the verdict, a line each."""
    facts = result.facts
    crashes = sum(not life.politely for life in facts.lives)
    lines = [
        "",
        f"{len(facts.log)} events in the log, {len(facts.receipts)} deliveries, "
        f"{sum(map(len, facts.taken.values()))} events taken by clients, {len(facts.lives)} lives, {crashes} crashes",
        f"{result.virtual / DAY:.2f} virtual days in {real:.1f} s: {result.virtual / max(real, 1e-3):,.0f} to 1",
        f"trace {result.digest}",
    ]
    if not result.violations:
        return [*lines, "Every promise was kept."]
    return [*lines, *(f"BROKEN {violation}" for violation in result.violations)]


def _show_ends(lines: Sequence[str], show: Callable[[str], None]) -> None:
    if len(lines) <= HEAD + TAIL:
        for line in lines:
            show(line)
        return
    for line in lines[:HEAD]:
        show(line)
    show(f"... {len(lines) - HEAD - TAIL} more lines; -v shows them all ...")
    for line in lines[-TAIL:]:
        show(line)
