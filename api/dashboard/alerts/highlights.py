"""Texts in pieces, marked and not, so that a template can put a mark around some of them. Pure.

Marks are counted in code points, as the API tells them and as Python's own strings are.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from actors.query import QueryError, UnknownLanguage, parse
from api.dashboard.items import Item
from api.dashboard.language.speaking import noted, say
from api.schemas.alert_previews import ContentExcerpt, DiffExcerpt, PreviewMatch


class Piece(NamedTuple):
    """A part of a text."""

    text: str
    marked: bool


class Excerpt(NamedTuple):
    """A part of the content, or of what came or went: which, as a word (empty for the content), and its pieces."""

    word: str
    pieces: Sequence[Piece]


class Shown(NamedTuple):
    """A match as a page shows it. item: the event as lists have it, None when it is no longer kept."""

    match: PreviewMatch
    title: Sequence[Piece]
    excerpts: Sequence[Excerpt]
    item: Item | None = None


WORDS = {"added": noted("came"), "removed": noted("went"), "before": noted("was"), "after": noted("now")}


class Fault(NamedTuple):
    """Where a query can't be read: what is before, at and after that place, and why."""

    before: str
    at: str
    after: str
    reason: str


def pieces(text: str, marks: Sequence[tuple[int, int]], start: int = 0) -> list[Piece]:
    """Return a text in pieces; `start` is its place in what the marks are counted in.

    >>> [tuple(piece) for piece in pieces("a price is", [(12, 17)], 10)]
    [('a ', False), ('price', True), (' is', False)]
    """
    found: list[Piece] = []
    at = 0
    for mark in marks:
        begin, end = max(at, mark[0] - start), min(len(text), mark[1] - start)
        if begin < end:
            found += [Piece(text[at:begin], False), Piece(text[begin:end], True)]
            at = end
    return [piece for piece in (*found, Piece(text[at:], False)) if piece.text]


def shown(match: PreviewMatch, item: Item | None = None) -> Shown:
    marks = match.highlights
    excerpts = [Excerpt(WORDS[part.part], _in_pieces(part)) for part in marks.diff]
    excerpts += [Excerpt("", _in_pieces(part)) for part in marks.content]
    return Shown(match, pieces(match.title, marks.title) or [Piece(say("(without a title)"), False)], excerpts, item)


def _in_pieces(part: ContentExcerpt | DiffExcerpt) -> list[Piece]:
    return pieces(("… " if part.start else "") + part.text, part.marks, part.start - 2 * bool(part.start))


def fault_of(query: str, language: str) -> Fault | None:
    """Return where a query can't be read, None when it can be.

    >>> fault_of('price OR', "en")[:3]
    ('price OR', ' ', '')
    """
    try:
        parse(query, language)
    except QueryError as error:
        place = min(error.position, len(query))
        return Fault(query[:place], query[place : place + 1] or " ", query[place + 1 :], error.reason)
    except UnknownLanguage:
        return None
    return None
