"""Traces change nothing: a traced world has the same log, byte for byte, and keeps every promise."""

from __future__ import annotations

import random
from dataclasses import replace
from typing import Any
from unittest.mock import patch

import pytest
import trio._core._run as trio_run

from extras.cluster.members.view_change import LEASE
from tests.simulation.drawing.letters import draw_letters
from tests.simulation.drawing.worlds import draw, draw_nodes
from tests.simulation.facts import Facts, LifeSpan
from tests.simulation.oracle import nodes
from tests.simulation.program import COLLECTOR, HOOK, Fault, Program
from tests.simulation.run import Result, simulate_program


class InOrder(random.Random):
    """Trio's generator without the shuffle: an extra task must not reorder the others."""

    def shuffle(self, x: Any) -> None:
        """Do nothing."""


def test_a_world_has_the_same_log_and_the_same_deliveries() -> None:
    without, traced = both(draw("2", days=0.08, sources=4))
    assert of_log(traced) == of_log(without) != []
    assert received(traced) == received(without) != []
    assert {"look", "commit", "match", "POST"} <= {span.name for span in traced.facts.spans}
    assert not without.facts.spans


def test_a_world_of_deliveries_has_the_same_log() -> None:
    without, traced = both(draw_letters("1", days=0.04))
    assert of_log(traced) == of_log(without) != []
    assert {"match", "POST"} <= {span.name for span in traced.facts.spans}


def test_a_failing_collector_changes_no_log_and_breaks_no_promise() -> None:
    program = draw("3", days=0.05, sources=2)
    lasts, kinds = program.ends / 3, ("refused", "silent", "wall")
    troubles = [Fault(number * lasts, lasts, kind, COLLECTOR) for number, kind in enumerate(kinds)]
    without, traced = both(program, replace(program, faults=(*program.faults, *troubles)))
    assert of_log(traced) == of_log(without) != []
    assert [str(violation) for violation in traced.violations] == []


def both(program: Program, ill: Program | None = None) -> tuple[Result, Result]:
    with patch.object(trio_run, "_r", InOrder()):
        return simulate_program(program), simulate_program(replace(ill or program, traces=1.0))


def of_log(result: Result) -> list[tuple[int, bytes]]:
    return [(logged.seq, logged.body) for logged in result.facts.log]


def received(result: Result) -> list[Any]:
    return [
        (
            receipt.at,
            receipt.status,
            receipt.body,
            {name: value for name, value in receipt.headers.items() if name != "traceparent"},
        )
        for receipt in result.facts.receipts
    ]


@pytest.mark.parametrize(("name", "broken"), [(COLLECTOR, 0), (HOOK, 0), ("feed0.shore.org", 1)])
def test_a_node_that_is_cut_off_still_sends_spans_and_deliveries_and_reads_nothing(name: str, broken: int) -> None:
    """O4 knows the unwatched machines."""
    program = draw_nodes("1")
    trouble = next(each for each in program.troubles if each.kind == "cut")
    life = LifeSpan(0.0, program.ends, politely=True, why="over")
    asked = [(trouble.at + LEASE + 3.0, "node", name)]
    cut = replace(trouble, lasts=10 * LEASE)
    facts = Facts(replace(program, troubles=(cut,)), members={"node": (trouble.node, life)}, asked_by=asked)
    assert len(list(nodes.parked(facts))) == broken
