"""Queries over many events: the search, and a trial with reasons. Runs in a worker."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import msgspec
from msgspec import Struct

from actors.query.explain import Explanation, explain, shown
from actors.query.match import matches
from actors.query.nodes import terms
from actors.query.parts import Match, Texts, parts_of, text_of, told_in
from actors.query.syntax import parse


class Term(Struct, frozen=True):
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

    terms: tuple[Term, ...]
    events: tuple[SearchedEvent, ...]


def search(asked: SearchRequest) -> list[bool]:
    """Return for each event whether it is found. Raises QueryError, UnknownLanguage."""
    terms = [(parse(term.query, term.language), term.match) for term in asked.terms]
    found = []
    for event in asked.events:
        texts = Texts(told_in(event.body))
        found.append(all(any(matches(terms[at][0], texts.of(terms[at][1])) for at in group) for group in event.groups))
    return found


def _search_events(request: bytes) -> bytes:
    return msgspec.msgpack.encode(search(msgspec.msgpack.decode(request, type=SearchRequest)))


MOST_TERMS = 50
"""Maximum terms of a query that are counted one by one."""


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
    return tuple(map(shown, list(dict.fromkeys(terms(parse(query_text, language).root)))[:MOST_TERMS]))


def preview(asked: PreviewRequest) -> PreviewAnswer:
    """Try a query on events. Raises QueryError, UnknownLanguage."""
    query = parse(asked.query, asked.language)
    counted = list(dict.fromkeys(terms(query.root)))[:MOST_TERMS]
    found_in = [0] * len(counted)
    matched: list[int] = []
    why: list[Explanation] = []
    for place, body in enumerate(asked.bodies):
        event = told_in(body)
        text = text_of(event, asked.match)
        for number, term in enumerate(counted):
            found_in[number] += text.has_term(term, query.language)
        if matches(query, text):
            matched.append(place)
            if len(why) < asked.show:
                why.append(explain(query, parts_of(event, asked.match), text))
    return PreviewAnswer(tuple(matched), tuple(why), tuple(found_in))


def _preview_query(request: bytes) -> bytes:
    return msgspec.msgpack.encode(preview(msgspec.msgpack.decode(request, type=PreviewRequest)))


TASKS: Mapping[str, Callable[[bytes], bytes]] = {
    "search_events": _search_events,
    "preview_query": _preview_query,
}
