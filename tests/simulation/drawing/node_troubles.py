"""Troubles of several nodes on one database."""

from __future__ import annotations

import random

from extras.cluster.members.view_change import LEASE
from tests.simulation.program import NodeTrouble, NodeTroubleKind

_KINDS: tuple[NodeTroubleKind, ...] = ("kill", "leave", "freeze", "stuck", "stuck", "cut", "outage")


def node_troubles(dice: random.Random, nodes: int, begins: float, ends: float) -> tuple[NodeTrouble, ...]:
    """Draw troubles of nodes, one every few minutes; some overlap, but never an outage."""
    drawn, at = [], begins
    while at < ends:
        kind = dice.choice(_KINDS)
        drawn.append(NodeTrouble(at, dice.randrange(nodes), kind, dice.uniform(0.5, 4 * LEASE)))
        if kind == "outage":
            at = drawn[-1].ends + 2 * LEASE
        at += dice.choice((dice.uniform(1, 20), dice.uniform(60, 400)))
    return tuple(drawn)
