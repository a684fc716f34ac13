"""Why a text satisfies a query: the parts of the query in it, and their places; advice to the author of a new one.

A worker answers queries over many events: the search, and a trial with reasons.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import pairwise

import msgspec
from msgspec import Struct

from actors.query import words
from actors.query.analysis import AnalysedText, TextSpan, word_spans
from actors.query.conditions import Condition, Facts
from actors.query.parts import EventSide, Match, PartName, TextPart, Texts, decode_event, matches, parts_of, text_of
from actors.query.syntax import All, Any, Node, Not, Phrase, Query, QueryError, Term, Word, parse, terms

MOST_MARKS = 100  # maximum marks in a title, a content or a text of a diff; the first ones
MOST_EXCERPTS = 3
MOST_PIECES = 6  # maximum texts of a diff that are shown; the first ones with marks
AROUND = 70  # code points shown before and after a mark
LONGEST_EXCERPT = 400

_PLAIN = 2  # number of parts without a diff: title and content


class Excerpt(Struct, frozen=True):
    """A piece of a text. start: its place there. marks: places in the text, not in the piece."""

    start: int
    text: str
    marks: tuple[tuple[int, int], ...]


class Piece(Struct, frozen=True):
    """An excerpt of a text of the diff: its list, or its side of a changed block, and its place in the list."""

    part: PartName
    index: int
    excerpt: Excerpt


class Explanation(Struct, frozen=True):
    """matched: the found terms, as understood. title: its marks. content, diff: excerpts. Places are in code points."""

    matched: tuple[str, ...]
    title: tuple[tuple[int, int], ...]
    content: tuple[Excerpt, ...]
    diff: tuple[Piece, ...] = ()


def display(term: Term) -> str:
    """Return a term in readable form: a run of an unspaced script unchanged, a phrase in quotation marks.

    >>> from actors.query.syntax import parse
    >>> [display(term) for term in terms(parse('東京都 "vice presidents" plan* -old', "en").root)]
    ['東京都', '"vice presidents"', 'plan*']
    """
    if not isinstance(term, Phrase):
        return str(term)
    row = [str(unit) for step in term.steps for unit in step[0]]
    gaps = ["" if words.unspaced(a) and words.unspaced(b) else " " for a, b in pairwise(row)]
    text = "".join(word + gap for word, gap in zip(row, [*gaps, ""], strict=True))
    return f'"{text}"' if " " in gaps else text


def explain(query: Query, parts: Sequence[TextPart], text: AnalysedText | EventSide) -> Explanation:
    results = [term for term in dict.fromkeys(terms(query.root)) if text.has_term(term, query.language)]
    spans, marks = dict[int, Sequence[TextSpan]](), dict[int, list[TextSpan]]()
    for term in results:
        for place in text.places(term, query.language):
            if place.part not in spans:
                spans[place.part] = word_spans(parts[place.part].text)
            row = spans[place.part]
            marks.setdefault(place.part, []).append(TextSpan(row[place.start].start, row[place.end - 1].end))
        for number, span in _values(term, parts, text.facts) if isinstance(term, Condition) else ():
            marks.setdefault(number, []).append(span)
    shown_marks = {number: merged(marks.get(number, ()))[:MOST_MARKS] for number in range(len(parts))}
    shown = (n for n, part in enumerate(parts) if part.name == "content" and (shown_marks[n] or len(parts) == _PLAIN))
    return Explanation(
        tuple(map(display, results)),
        tuple((mark.start, mark.end) for mark in shown_marks[0]),
        tuple(excerpt for number in shown for excerpt in _excerpts(parts[number].text, shown_marks[number])),
        tuple(_pieces(parts, shown_marks)),
    )


def _values(condition: Condition, parts: Sequence[TextPart], facts: Facts) -> Iterator[tuple[int, TextSpan]]:
    """Yield the values that meet a condition with the number of their part: on that side, else in an entry's text."""
    for fact in facts.matching(condition):
        is_old = condition.aspect == "before" or fact.after is None
        value, names = (fact.before, ["before", "removed"]) if is_old else (fact.after, ["after", "added"])
        names = [*(names if fact.before and fact.after else names[::-1]), "content", "title"]
        if value is None or not value.text:
            continue
        shape = re.compile(rf"(?<!\w){re.escape(value.text)}(?!\w)")
        candidates = [number for number, part in enumerate(parts) if part.name in names]
        for number in sorted(candidates, key=lambda number: names.index(parts[number].name)):
            if match := shape.search(parts[number].text):
                yield number, TextSpan(*match.span())
                break


def _pieces(parts: Sequence[TextPart], marks: Mapping[int, Sequence[TextSpan]]) -> Iterator[Piece]:
    """Yield the first excerpts of the diff's texts with marks; of its first text if there are none."""
    diff = [number for number, part in enumerate(parts) if part.name not in ("title", "content") and part.text.strip()]
    with_marks = [number for number in diff if marks[number]] or diff[:1]
    for number in with_marks[:MOST_PIECES]:
        excerpts = _excerpts(parts[number].text, marks[number])
        yield from (Piece(parts[number].name, parts[number].place, excerpt) for excerpt in excerpts)


def merged(spans: Sequence[TextSpan]) -> list[TextSpan]:
    """Return spans in order, overlapping ones merged, without empty ones.

    >>> merged([TextSpan(5, 9), TextSpan(0, 3), TextSpan(2, 4), TextSpan(7, 7)])
    [TextSpan(start=0, end=4), TextSpan(start=5, end=9)]
    """
    merged_spans: list[TextSpan] = []
    for span in sorted(span for span in spans if span.start < span.end):
        if merged_spans and span.start < merged_spans[-1].end:
            merged_spans[-1] = TextSpan(merged_spans[-1].start, max(span.end, merged_spans[-1].end))
        else:
            merged_spans.append(span)
    return merged_spans


def _excerpts(content: str, marks: Sequence[TextSpan]) -> Iterator[Excerpt]:
    """Yield the first pieces around marks; the beginning of the text if there are none."""
    if not marks:
        if content:
            yield Excerpt(0, content[: 2 * AROUND], ())
        return
    groups: list[list[TextSpan]] = []
    for mark in marks:
        is_near = groups and mark.start - groups[-1][-1].end <= AROUND
        if is_near and mark.end - groups[-1][0].start <= LONGEST_EXCERPT - AROUND:
            groups[-1].append(mark)
        else:
            groups.append([mark])
    for group in groups[:MOST_EXCERPTS]:
        start = max(0, group[0].start - AROUND)
        if start and (space := content.find(" ", start, group[0].start)) >= 0:  # begin with a whole word
            start = space + 1
        end = min(len(content), group[-1].end + AROUND, start + LONGEST_EXCERPT)
        yield Excerpt(start, content[start:end], tuple((mark.start, min(mark.end, end)) for mark in group))


_QUOTED = re.compile('["“”„]([^"“”]*)["“”]')
_LOWER = re.compile(r"(?<![^\s(])(?:or|and|not)(?![^\s)])")


def advice(query: Query) -> list[str]:
    """Return sentences about a query, most important first; none if it is fine."""
    return list(dict.fromkeys((*_contradictions(query.root), *_breadth(query.root), *_words(query))))


def is_open(node: Node) -> bool:
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
        for part in node.parts:
            other: Node | None = part if part in excluded else None
            if other is None and isinstance(part, Word) and (word := by_key.get(part.keys[0])) is not None:
                other = word if set(part.keys) <= set(word.keys) else None  # it is in every text with this part
            if other is not None:
                yield f"{part} can't match: {Not(other)} excludes every text that has it."
    for part in node.parts if isinstance(node, All | Any) else ():
        yield from _contradictions(part)


def _words(query: Query) -> Iterator[str]:
    for quoted in _QUOTED.finditer(query.text):
        with suppress(QueryError):
            if isinstance(parse(quoted[1], query.language).root, Word):
                yield f"{quoted[0][:80]} is one word once it has been read: the quotation marks change nothing."
    for lower in _LOWER.finditer(_QUOTED.sub(" ", query.text)):
        operator = lower[0].upper()
        yield f"{lower[0]} is read as a word that must occur: if you mean the operator, write {operator}."
    for term in terms(query.root):
        if isinstance(term, Word) and len(term.text) >= words.LONGEST:
            yield f"Of a long word only the first {words.LONGEST} characters count: {display(term)[:20]}..."


class SearchTerm(Struct, frozen=True):
    """A query as typed, and the texts of an event that it reads."""

    query: str
    language: str
    match: Match


class SearchedEvent(Struct, frozen=True):
    """A stored event. groups: indices in `terms`; the event is found if one term of each group matches."""

    body: bytes
    groups: tuple[tuple[int, ...], ...]


class SearchRequest(Struct, frozen=True):
    """A worker's request: terms, and events to search."""

    terms: tuple[SearchTerm, ...]
    events: tuple[SearchedEvent, ...]


def search(request: SearchRequest) -> list[bool]:
    """Return for each event whether it is found. Raises QueryError, UnknownLanguage."""
    terms = [(parse(term.query, term.language), term.match) for term in request.terms]

    def is_found(event: SearchedEvent) -> bool:
        texts = Texts(decode_event(event.body))
        return all(any(matches(terms[at][0], texts.of(terms[at][1])) for at in group) for group in event.groups)

    return list(map(is_found, request.events))


MOST_COUNTED = 50  # maximum terms of a query that are counted one by one


class PreviewRequest(Struct, frozen=True):
    """bodies: stored events. show: maximum number of explained matches. match: see parts.py."""

    query: str
    language: str
    bodies: tuple[bytes, ...]
    show: int
    match: Match = "change"


class PreviewAnswer(Struct, frozen=True):
    """matched: indices in `bodies`. why: for the first of these. found_in: the number of events with each term."""

    matched: tuple[int, ...]
    why: tuple[Explanation, ...]
    found_in: tuple[int, ...]


def counted_terms(query_text: str, language: str) -> tuple[str, ...]:
    """Return the terms that `found_in` counts. Raises QueryError, UnknownLanguage."""
    return tuple(map(display, list(dict.fromkeys(terms(parse(query_text, language).root)))[:MOST_COUNTED]))


def preview(request: PreviewRequest) -> PreviewAnswer:
    """Try a query on events. Raises QueryError, UnknownLanguage."""
    query = parse(request.query, request.language)
    counted = list(dict.fromkeys(terms(query.root)))[:MOST_COUNTED]
    found_in, matched, why = [0] * len(counted), list[int](), list[Explanation]()
    for place, body in enumerate(request.bodies):
        event = decode_event(body)
        text = text_of(event, request.match)
        for number, term in enumerate(counted):
            found_in[number] += text.has_term(term, query.language)
        if matches(query, text):
            matched.append(place)
            if len(why) < request.show:
                why.append(explain(query, parts_of(event, request.match), text))
    return PreviewAnswer(tuple(matched), tuple(why), tuple(found_in))


_encode, _decode = msgspec.msgpack.encode, msgspec.msgpack.decode
TASKS: Mapping[str, Callable[[bytes], bytes]] = {
    "search_events": lambda request: _encode(search(_decode(request, type=SearchRequest))),
    "preview_query": lambda request: _encode(preview(_decode(request, type=PreviewRequest))),
}
