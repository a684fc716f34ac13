from __future__ import annotations

from tests.simulation.drawing.letters import draw_letters_of_nodes
from tests.simulation.drawing.worlds import draw_nodes
from tests.simulation.run import simulate_program


def test_nodes_that_are_hurt_keep_every_promise_and_a_seed_gives_one_trace() -> None:
    one, other = (simulate_program(draw_nodes("5"), patience=3600.0) for _ in range(2))
    assert [str(violation) for violation in one.violations] == []
    assert one.digest == other.digest
    facts = one.facts
    assert len(facts.views) > 10 and len({node for node, _ in facts.members.values()}) == one.program.nodes
    assert len({who for _, who, _ in facts.asked_by}) > 2, "more than one node watches"
    assert len(facts.log) > 50 and facts.receipts


def test_other_nodes_take_over_a_nodes_deliveries() -> None:
    """Seed 9 met a node that slept for less than the clock can count, again and again, before it parked."""
    result = simulate_program(draw_letters_of_nodes("9"))
    assert [str(violation) for violation in result.violations] == []
    assert len(result.facts.views) > 10 and len(result.facts.log) > 20
