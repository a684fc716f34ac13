"""Why a text satisfies a query: which parts of the query it has, and where they stand in it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import assert_never

from msgspec import Struct

from actors.query import words
from actors.query.analysis import Analysed
from actors.query.match import holds
from actors.query.nodes import All, Any, Node, Not, Phrase, Prefix, Query, Word
from actors.query.offsets import Span, word_spans

MOST_MARKS = 100
"""Marks in a title or a content; the first ones."""
MOST_EXCERPTS = 3
AROUND = 70
"""Code points shown before and after what is marked."""
LONGEST_EXCERPT = 400

Term = Word | Prefix | Phrase


class Excerpt(Struct, frozen=True):
    """A piece of a text. `start` is its place there; `marks` are places in the text too, not in the piece."""

    start: int
    text: str
    marks: tuple[tuple[int, int], ...]


class Explanation(Struct, frozen=True):
    """matched: the terms that were found, as they were understood. title: marks in it. content: excerpts.

    All places are in Unicode code points.
    """

    matched: tuple[str, ...]
    title: tuple[tuple[int, int], ...]
    content: tuple[Excerpt, ...]


def terms(node: Node) -> Iterator[Term]:
    """Yield what a query looks for, less what it excludes: words, prefixes and phrases, in order."""
    match node:
        case Word() | Prefix() | Phrase():
            yield node
        case Not():
            return
        case All((Phrase() as row, *needs)) if needs and all(map(_is_pair, needs)):
            yield row  # what a run of an unspaced script needs besides is inside of it
        case All(parts) | Any(parts):
            for part in parts:
                yield from terms(part)
        case _:
            assert_never(node)


def _is_pair(node: Node) -> bool:
    return isinstance(node, Word) and len(node.text) == 2 and words.unspaced(node.text)


def shown(term: Term) -> str:
    """Return a term as people read it: a run of an unspaced script as it is, a phrase in quotation marks.

    >>> from actors.query.syntax import parse
    >>> [shown(term) for term in terms(parse('東京都 "vice presidents" plan* -old', "en").root)]
    ['東京都', '"vice presidents"', 'plan*']
    """
    if not isinstance(term, Phrase):
        return str(term)
    row = [str(unit) for step in term.steps for unit in step[0]]
    gaps = ["" if words.unspaced(a) and words.unspaced(b) else " " for a, b in pairwise(row)]
    text = "".join(word + gap for word, gap in zip(row, [*gaps, ""], strict=True))
    return f'"{text}"' if " " in gaps else text


def explain(query: Query, title: str, content: str, text: Analysed | None = None) -> Explanation:
    """Return why a text satisfies a query that it does satisfy. `text`: the two, analysed already."""
    text = text or Analysed(title, content)
    found = [term for term in dict.fromkeys(terms(query.root)) if has(term, text, query.language)]
    heads, bodies = word_spans(title), word_spans(content)
    in_title: list[Span] = []
    in_content: list[Span] = []
    first = len(heads) + 1  # of the content's positions: a gap lies between it and the title
    for term in found:
        for start, end in text.stretches(term, query.language):
            if start < first:
                in_title.append(Span(heads[start].start, heads[end - 1].end))
            else:
                in_content.append(Span(bodies[start - first].start, bodies[end - first - 1].end))
    marks = merged(in_title)[:MOST_MARKS]
    excerpts = tuple(_excerpts(content, merged(in_content)[:MOST_MARKS]))
    return Explanation(tuple(map(shown, found)), tuple((mark.start, mark.end) for mark in marks), excerpts)


def has(term: Term, text: Analysed, code: str) -> bool:
    """Return whether a text has a term."""
    return holds(term, text, text.keys(code), code)


def merged(spans: Sequence[Span]) -> list[Span]:
    """Return spans in order, those that overlap as one, without the empty ones.

    >>> merged([Span(5, 9), Span(0, 3), Span(2, 4), Span(7, 7)])
    [Span(start=0, end=4), Span(start=5, end=9)]
    """
    found: list[Span] = []
    for span in sorted(spans):
        if span.start >= span.end:
            continue
        if found and span.start < found[-1].end:
            found[-1] = Span(found[-1].start, max(span.end, found[-1].end))
        else:
            found.append(span)
    return found


def _excerpts(content: str, marks: Sequence[Span]) -> Iterator[Excerpt]:
    """Yield the first pieces around marks; the beginning of the text where nothing is marked."""
    if not marks:
        if content:
            yield Excerpt(0, content[: 2 * AROUND], ())
        return
    groups: list[list[Span]] = []
    for mark in marks:
        near = groups and mark.start - groups[-1][-1].end <= AROUND
        if near and mark.end - groups[-1][0].start <= LONGEST_EXCERPT - AROUND:
            groups[-1].append(mark)
        else:
            groups.append([mark])
    for group in groups[:MOST_EXCERPTS]:
        start = _word_from(content, max(0, group[0].start - AROUND), group[0].start)
        end = min(len(content), group[-1].end + AROUND, start + LONGEST_EXCERPT)
        yield Excerpt(start, content[start:end], tuple((mark.start, min(mark.end, end)) for mark in group))


def _word_from(content: str, at: int, until: int) -> int:
    """Return where the first whole word from a place on begins, if there is one before `until`."""
    space = content.find(" ", at, until)
    return at if at == 0 or space < 0 else space + 1
