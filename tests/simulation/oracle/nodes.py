"""The promises of several nodes on one database: membership, and the node that asks a host."""

from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import pairwise

from extras.cluster.members.view_change import LEASE
from tests.simulation.facts import Facts, ViewChange
from tests.simulation.program import UNWATCHED, machine_of

_BEAT = 2.0
"""Seconds within which every member has sent a heartbeat and seen a view, without faults."""
_ADDING = 30.0
STOPS = 60.0


def put_out(facts: Facts) -> Iterator[str]:
    """A member is put out only if it left, died, or was frozen or cut off for long; an outage of all is no reason."""
    for before, after in pairwise(facts.views):
        for member in sorted(before.inside - after.inside):
            if not any(_explained(facts, member, after)):
                yield f"{member} was put out at {after.at:.1f} s, and nothing was wrong with it"
                return


def left(facts: Facts) -> Iterator[str]:
    """A node that has left stays out; one that could not reach the database is out once its lease is over."""
    for member, (node, span) in facts.members.items():
        if not span.politely or _unheard(facts, node, span.ended):
            continue
        for view in facts.views:
            if view.at > span.ended + 0.1 and member in view.inside:
                yield f"{member} had left at {span.ended:.1f} s and is inside at {view.at:.1f} s"
                return


def _unheard(facts: Facts, node: int, at: float) -> bool:
    """Return whether a node did not reach the database at a moment, or was not quick to."""
    return any(
        trouble.at <= at <= trouble.ends + _BEAT and (trouble.kind == "outage" or trouble.node == node)
        for trouble in facts.program.troubles
        if trouble.kind in ("cut", "freeze", "stuck", "outage")
    )


def parked(facts: Facts) -> Iterator[str]:
    """A node without the database for a lease asks no host."""
    for trouble in facts.program.troubles:
        if trouble.kind not in ("cut", "outage"):
            continue
        for at, who, name in facts.asked_by:
            node, span = facts.members.get(who, (-1, None))
            concerned = trouble.kind == "outage" or node == trouble.node
            began_before = span is not None and span.began < trouble.at
            # Turns granted earlier still run; so do deliveries and spans.
            if concerned and began_before and trouble.at + LEASE + _BEAT < at < trouble.ends and name not in UNWATCHED:
                yield f"{who} was cut off at {trouble.at:.1f} s and asks {name} at {at:.1f} s"
                return


def one_asks(facts: Facts) -> Iterator[str]:
    """Without troubles, one node asks a host from one view to the next."""
    renewed = {each.url for each in facts.deleted}
    for machine in facts.program.machines if facts.program.nodes > 1 else ():
        there = [plan for plan in facts.program.origins if machine in plan.machines]
        if any(len(plan.machines) > 1 or plan.url in renewed for plan in there):
            continue  # a redirect leads there from a host of another node, or the time of adding is unknown
        asked = [(at, who) for at, who, name in facts.asked_by if machine_of(name) == machine]
        for (before, one), (at, other) in pairwise(asked):
            if one != other and _calm(facts, machine, before, at):
                yield f"{machine}: asked by {one} at {before:.1f} s and by {other} at {at:.1f} s"
                break


def _explained(facts: Facts, member: str, after: ViewChange) -> Iterator[bool]:
    node, span = facts.members.get(member, (-1, None))
    # A stopping life leaves before its end.
    yield span is not None and span.ended - (STOPS if span.politely else 0.0) <= after.at
    for trouble in facts.program.troubles:
        if trouble.node == node and trouble.kind in ("freeze", "stuck", "cut"):
            yield trouble.at <= after.at <= trouble.ends + LEASE


def _calm(facts: Facts, machine: str, begins: float, ends: float) -> bool:
    moved = any(begins - _BEAT < view.at < ends + 0.1 for view in facts.views)
    plans = (plan for plan in facts.program.origins if machine in plan.machines)
    asked = [facts.added[plan.url] for plan in plans if plan.url in facts.added]
    adding = any(begins - _ADDING < each.at < ends + _ADDING for each in asked)
    meddled = any(
        since - _ADDING < ends and until + _ADDING > begins
        for spells in facts.spells.values()
        for since, until in spells
    )
    troubled = any(trouble.at < ends and trouble.ends + LEASE > begins for trouble in facts.program.troubles)
    return not (moved or adding or meddled or troubled) and begins > -math.inf
