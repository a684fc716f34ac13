"""Advice to the author of a new query: it cannot match, or matches nearly everything."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from actors.query import words
from actors.query.explain import shown, terms
from actors.query.nodes import All, Any, Node, Not, Query, Word
from actors.query.syntax import QueryError, parse

_QUOTED = re.compile('["“”„]([^"“”]*)["“”]')
_LOWER = re.compile(r"(?<![^\s(])(?:or|and|not)(?![^\s)])")


def advice(query: Query) -> list[str]:
    """Return sentences about a query, most important first; none if it is fine."""
    return list(dict.fromkeys((*_contradictions(query.root), *_breadth(query.root), *_words(query))))


def is_open(node: Node) -> bool:
    """Whether a part matches a text without any of the query's words."""
    match node:
        case Not(part):
            return not is_open(part)
        case All(parts):
            return all(map(is_open, parts))
        case Any(parts):
            return any(map(is_open, parts))
    return False


def _breadth(root: Node) -> Iterator[str]:
    if root == All(()):
        yield "The query is empty: everything matches."
    elif isinstance(root, Any):
        for part in root.parts:
            if is_open(part):
                yield f"The alternative {part} only excludes, so that nearly everything matches."
    elif is_open(root):
        yield "The query only excludes, so nearly everything matches: add a word that must occur."


def _contradictions(node: Node) -> Iterator[str]:
    if isinstance(node, All):
        excluded = {part.part: None for part in node.parts if isinstance(part, Not)}
        by_key = {key: word for word in excluded if isinstance(word, Word) for key in word.keys}
        for one in node.parts:
            other = one if one in excluded else _same_stem(one, by_key)
            if other is not None:
                yield f"{one} can't match: {Not(other)} excludes every text that has it."
    for part in node.parts if isinstance(node, All | Any) else ():
        yield from _contradictions(part)


def _same_stem(one: Node, by_key: Mapping[str, Word]) -> Word | None:
    """Return the excluded word that is in every text with this one."""
    other = by_key.get(one.keys[0]) if isinstance(one, Word) else None
    return other if other is not None and isinstance(one, Word) and set(one.keys) <= set(other.keys) else None


def _words(query: Query) -> Iterator[str]:
    for quoted in _QUOTED.finditer(query.text):
        if isinstance(_root(quoted[1], query.language), Word):
            yield f"{quoted[0][:80]} is one word once it has been read: the quotation marks change nothing."
    for lower in _LOWER.finditer(_QUOTED.sub(" ", query.text)):
        meant = lower[0].upper()
        yield f"{lower[0]} is read as a word that must occur: if you mean the operator, write {meant}."
    for term in terms(query.root):
        if isinstance(term, Word) and len(term.text) >= words.LONGEST:
            yield f"Of a long word only the first {words.LONGEST} characters count: {shown(term)[:20]}..."


def _root(text: str, language: str) -> Node | None:
    try:
        return parse(text, language).root
    except QueryError:
        return None
