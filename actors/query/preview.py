"""A query tried on past events: the matches, and why. Runs in a worker, as events may be long."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import msgspec
from msgspec import Struct

from actors.query.explain import Explanation, explain, shown, terms
from actors.query.match import matches
from actors.query.parts import Match, parts_of, text_of, told_in
from actors.query.syntax import parse

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


TASKS: Mapping[str, Callable[[bytes], bytes]] = {"preview_query": _preview_query}
