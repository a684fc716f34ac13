"""The check that the graph of sends has no ring: two actors that fill each other's mailboxes wait forever. Pure."""

from __future__ import annotations

from collections.abc import Iterable
from graphlib import CycleError, TopologicalSorter


class Ring(ValueError):
    """The edges form a ring; `members` names it, with the first one again at the end."""

    def __init__(self, members: tuple[str, ...]) -> None:
        super().__init__(f"messages go in a ring: {' -> '.join(members)}")
        self.members = members


def check_acyclic(edges: Iterable[tuple[str, str]]) -> tuple[str, ...]:
    """Return the actors in an order in which all sends go forward. Raises Ring.

    edges: (sender, receiver), one for each channel that the sender may wait for. An answer through a one-shot `Reply`
    is no edge, since answering never waits; nor is a `send_nowait` whose refusal the sender accepts.

    >>> check_acyclic([("a", "b"), ("b", "c"), ("a", "c")])
    ('a', 'b', 'c')
    """
    graph: TopologicalSorter[str] = TopologicalSorter()
    for sender, receiver in edges:
        graph.add(receiver, sender)
    try:
        return tuple(graph.static_order())
    except CycleError as error:
        raise Ring(tuple(error.args[1])) from None
