"""Anchors of a query: words and prefixes. Every matching text has at least one of them.

The anchor of a word is itself, of AND its rarest part, of OR all of its parts, of a phrase its rarest word; an
exclusion has none. An index over anchors only evaluates queries that could match, because rare words are rare in texts
(the percolator technique).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple, assert_never

from actors.query.conditions import Condition
from actors.query.nodes import All, Any, Node, Not, Path, Phrase, Prefix, Step, Unit, Word

Cost = Callable[[str], float]
"""How often a key occurs; only the order of costs matters."""

_PREFIX_FACTOR = 8.0
"""A prefix occurs more often than a word of its length, and costs more to look up."""


class Anchors(NamedTuple):
    """`exact`: a text with an anchor surely matches."""

    cost: float
    keys: tuple[str, ...]
    prefixes: tuple[str, ...]
    exact: bool


def anchors(node: Node, cost: Cost) -> Anchors | None:
    """Return a query's cheapest anchors; None if texts without any of its words can match."""
    match node:
        case Word() | Prefix():
            return _of_unit(node, cost)
        case Phrase(steps):
            return min((_of_step(step, cost) for step in steps), key=_cost)._replace(exact=False)
        case Condition():
            return Anchors(sum(map(cost, node.keys)), node.keys, (), False)
        case Not():
            return None
        case Any(parts):
            return _of_any([anchors(part, cost) for part in parts])
        case All(parts):
            needed = [found for part in parts if (found := anchors(part, cost)) is not None]
            if not needed:
                return None
            cheapest = min(needed, key=_cost)
            return cheapest if len(parts) == 1 else cheapest._replace(exact=False)
        case _:
            assert_never(node)


def needs(node: Node) -> tuple[tuple[str, ...], ...]:
    """Return the keys of each required word: a text that lacks all keys of one word cannot match."""
    match node:
        case Word(_, keys):
            return (keys,)
        case Condition():
            return (node.keys,)
        case All(parts):
            return tuple(keys for part in parts for keys in needs(part))
        case Phrase(steps):
            sure = (path for step in steps if len(step) == 1 for path in step)
            return tuple(unit.keys for path in sure for unit in path if isinstance(unit, Word))
        case _:
            return ()


def is_words(node: Node) -> bool:
    """Whether a text with all keys from `needs` surely matches."""
    return isinstance(node, Word) or (isinstance(node, All) and all(is_words(part) for part in node.parts))


def _of_unit(unit: Unit, cost: Cost) -> Anchors:
    if isinstance(unit, Prefix):
        return Anchors(_PREFIX_FACTOR * cost(unit.text), (), (unit.text,), True)
    return Anchors(sum(cost(key) for key in unit.keys), unit.keys, (), True)


def _of_step(step: Step, cost: Cost) -> Anchors:
    """Return the anchors of a phrase's step: a text may use any of its readings."""

    def rarest(path: Path) -> Anchors:
        return min((_of_unit(unit, cost) for unit in path), key=_cost)

    return _union([rarest(path) for path in step])


def _of_any(parts: list[Anchors | None]) -> Anchors | None:
    needed = [part for part in parts if part is not None]
    return _union(needed) if len(needed) == len(parts) else None


def _union(parts: list[Anchors]) -> Anchors:
    return Anchors(
        sum(part.cost for part in parts),
        tuple(dict.fromkeys(key for part in parts for key in part.keys)),
        tuple(dict.fromkeys(prefix for part in parts for prefix in part.prefixes)),
        all(part.exact for part in parts),
    )


def _cost(found: Anchors) -> float:
    return found.cost
