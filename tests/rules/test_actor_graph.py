"""Draws a graph of waiting actors from the code, and checks that no cycle can block on two full mailboxes.

An arrow is an `ask`, which waits for room in a mailbox and then for the answer, or a `send`, which waits for room.
`send_nowait` never waits. `CALLS` adds the awaited calls across actors, which no mailbox shows.
"""

from __future__ import annotations

import ast
from graphlib import TopologicalSorter

from tests.rules.source_files import modules, name_of, nodes_of

ASKED = {
    "recorder": "recorder",
    "registry": "registry",
    "_recorder": "recorder",
    "_registry": "registry",
    "matcher": "matcher",
    "importer": "importer",
    "mailbox": "destinations",
}
"""The owner of the mailbox, by its name at the call."""
OTHERS = {"worker", "breaker", "_client", "_filter"}
"""Asked, but no mailbox: a worker process, a circuit breaker, a service over HTTP, a filter."""
OF_REGISTRY = ("index", "registry/", "schedule/silence")
SENDERS = {
    "actors/sources/importer": "importer",
    "actors/sources": "sources",
    "actors/templates": "web",
    "actors/recorder": "recorder",
    "actors/matcher": "matcher",
    "actors/delivery": "destinations",
    "actors/coverage": "heartbeats",
    "api": "web",
    "extras": "web",
}
"""The actor whose tasks run a module, by the start of its path; for `OF_REGISTRY` it is the registry."""
CALLS = (("registry", "sources"), ("matcher", "deliveries"), ("deliveries", "destinations"))
"""Awaited across actors: stop a source, reread the destinations, stop a destination."""


def sender_of(name: str) -> str:
    if name.startswith("actors/sources/") and name.removeprefix("actors/sources/").startswith(OF_REGISTRY):
        return "registry"
    return next(actor for place, actor in SENDERS.items() if name.startswith(place))


def drawn() -> set[tuple[str, str]]:
    """Return (waiting actor, awaited actor) of the actors, the front end, and the actors of extras."""
    found = set()
    of_extras = [path for path in modules("extras") if "ChildSpec(" in path.read_text("utf-8")]
    for path in [*modules("actors", "api"), *of_extras]:
        for node in nodes_of(path):
            if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)):
                continue
            of, verb = node.func.value, node.func.attr
            asked = of.attr if isinstance(of, ast.Attribute) else of.id if isinstance(of, ast.Name) else "?"
            if (verb == "ask" and asked not in OTHERS) or (verb == "send" and asked in ASKED):
                found.add((sender_of(name_of(path)), ASKED[asked]))
    return found


def test_p3_the_actor_graph_has_no_cycle() -> None:
    graph: TopologicalSorter[str] = TopologicalSorter()
    for sender, receiver in [*drawn(), *CALLS]:
        graph.add(receiver, sender)
    order = list(graph.static_order())
    assert order.index("web") < order.index("registry") < order.index("recorder")
    assert order.index("matcher") < order.index("destinations")


def test_the_graph_is_the_one_of_the_picture() -> None:
    assert drawn() == {
        ("web", "registry"),
        ("web", "importer"),
        ("web", "matcher"),
        ("web", "destinations"),
        ("importer", "registry"),
        ("registry", "recorder"),
        ("sources", "recorder"),
        ("heartbeats", "recorder"),
    }
