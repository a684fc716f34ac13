"""Event filters from query parameters."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from uuid import UUID

from actors.query import Query, QueryError, parse
from api.problems import invalid
from api.streams.channels import Channel
from api.streams.reader import EventFilter
from api.streams.searching import Texts
from storage.records.cursor import Filter
from storage.records.source import tag_of
from storage.records.tiers import TIERS, Kind

MOST_VALUES = 50


def event_filter_of(
    source: Sequence[str],
    source_type: Sequence[str],
    tag: Sequence[str],
    keyword: Sequence[str],
    texts: Texts,
    *,
    languages: Sequence[str] = (),
    kinds: Sequence[int] = (),
    channel: Channel | None = None,
    label: str | None = None,
    heartbeats: bool = False,
    hides: Callable[[str], bool] | None = None,
) -> EventFilter:
    """Build the event filter. Raises Refusal (400) for invalid input. A bare word as tag is a label.

    languages: of the keywords. kinds, channel: restrict to a channel, of the service or of alerts. label: restrict to
    events with this tag, in addition to the rest. heartbeats: always let them through. hides: sources to leave out.
    """
    whole, prefixes = _sources(source)
    for name in source_type:
        if name not in TIERS:
            raise invalid("query.source_type", f"must be one of {', '.join(TIERS)}", name)
    tiers = dict.fromkeys(source_type)
    # A notice has its source's tier, which the log's kind does not show: read it from the event.
    asked = [kind for name, tier in TIERS.items() if name in tiers for kind in tier.kinds]
    asked += [Kind.NOTICE] if tiers else []
    both = [kind for kind in asked if kind in kinds] if kinds and asked else asked or list(kinds)
    nothing = bool(kinds and asked and not both)
    asked_tags = tuple(map(tag_of, tag))
    tags, more = (asked_tags, ()) if label is None else ((label,), asked_tags)  # the log's own filter has one set
    also = (Kind.HEARTBEAT,) if heartbeats else ()
    where = Filter(whole, prefixes, (-1,) if nothing else tuple(both), tags, also)
    queries = [query for word in keyword for query in _queries(word, languages)]
    return EventFilter(where, tuple(tiers), queries, texts, channel, tags=more, hides=hides)


def _sources(values: Sequence[str]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    whole, prefixes = [], []
    for index, value in enumerate(values):
        if value.endswith(".*"):
            prefixes.append(value[:-2].lower())
            continue
        try:
            whole.append(str(UUID(value)))
        except ValueError:
            raise invalid(f"query.source[{index}]", "not a source id, nor a prefix that ends in .*", value) from None
    return tuple(whole), tuple(prefixes)


def _queries(word: str, languages: Sequence[str]) -> list[Query]:
    """Return the word parsed as an alert's term in each language; several words are a phrase."""
    term = word if any(sign in word for sign in '"*') else f'"{word}"'
    try:
        return [parse(term, language) for language in languages]
    except QueryError as error:
        raise invalid("query.keyword", f"{error.reason} (at character {error.position})", word) from None
