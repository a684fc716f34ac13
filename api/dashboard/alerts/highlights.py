"""Texts in marked and unmarked pieces, for templates that highlight. Pure.

Marks count code points, like the API and Python's strings.
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
    """An excerpt of the content or the difference: a word for its kind ("" for the content), and its pieces."""

    word: str
    pieces: Sequence[Piece]


class Shown(NamedTuple):
    """A match as a page shows it. item: the event as a list item, or None if it is no longer stored."""

    match: PreviewMatch
    title: Sequence[Piece]
    excerpts: Sequence[Excerpt]
    item: Item | None = None


WORDS = {"added": noted("came"), "removed": noted("went"), "before": noted("was"), "after": noted("now")}


class Fault(NamedTuple):
    """An error in a query: the text before, at and after its position, and the reason."""

    before: str
    at: str
    after: str
    reason: str


def pieces(text: str, marks: Sequence[tuple[int, int]], start: int = 0) -> list[Piece]:
    """Split a text into pieces. start: the text's offset in the whole that the marks count in.

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
    """Return where a query is invalid, or None.

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
