"""Whether a text satisfies a query."""

from __future__ import annotations

from typing import assert_never

from actors.query.analysis import Analysed
from actors.query.nodes import All, Any, Node, Not, Phrase, Prefix, Query, Word


def matches(query: Query, text: Analysed) -> bool:
    """Return whether a text satisfies a query. The text is analysed as far as the query needs it."""
    return holds(query.root, text, query.language)


def holds(node: Node, text: Analysed, code: str) -> bool:
    """Return whether a text satisfies a part of a query in a language."""
    match node:
        case Word() | Prefix():
            return text.has(node, code)
        case All(parts):
            return all(holds(part, text, code) for part in parts)
        case Any(parts):
            return any(holds(part, text, code) for part in parts)
        case Not(part):
            return not holds(part, text, code)
        case Phrase():
            return text.in_a_row(node, code)
        case _:
            assert_never(node)
