"""The search of events for queries. Runs in a worker, as one long event may take a fifth of a second."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import msgspec
from msgspec import Struct

from actors.query.match import matches
from actors.query.parts import Match, Texts, told_in
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


TASKS: Mapping[str, Callable[[bytes], bytes]] = {"search_events": _search_events}
