"""The test whether a text satisfies a query."""

from __future__ import annotations

from typing import assert_never

from actors.query.analysis import Analysed
from actors.query.conditions import Condition
from actors.query.nodes import All, Any, Node, Not, Phrase, Prefix, Query, Word
from actors.query.parts import Side


def matches(query: Query, text: Analysed | Side) -> bool:
    """Whether a text satisfies a query. Analyses the text only as far as needed."""
    if isinstance(text, Side):
        return text.satisfies(query)
    return holds(query.root, text, text.keys(query.language), query.language)


def holds(node: Node, text: Analysed, keys: frozenset[str], code: str) -> bool:
    """Whether a text satisfies a part of a query. keys: the text's, in the query's language.

    Words come first and need no call: they decide most standing queries, thousands of times per event.
    """
    if isinstance(node, Word):
        return not keys.isdisjoint(node.keys)
    if isinstance(node, All):
        for part in node.parts:
            if keys.isdisjoint(part.keys) if isinstance(part, Word) else not holds(part, text, keys, code):
                return False
        return True
    if isinstance(node, Any):
        for part in node.parts:
            if not keys.isdisjoint(part.keys) if isinstance(part, Word) else holds(part, text, keys, code):
                return True
        return False
    if isinstance(node, Not):
        return not holds(node.part, text, keys, code)
    if isinstance(node, Condition):
        return text.facts.meet(node)
    if isinstance(node, Phrase):
        return text.in_a_row(node, code)
    if isinstance(node, Prefix):
        return text.begins(node.text)
    assert_never(node)
