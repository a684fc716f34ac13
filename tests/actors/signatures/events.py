"""A plain event, and events with any values that the types allow."""

from __future__ import annotations

from hypothesis import strategies as st
from msgspec import UNSET

from storage.records.event import Change, Delta, DeltaStats, Diff, Event, Op

TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=40)
COUNT = st.integers(0, 2**53 - 1)


def an_event(**changes: object) -> Event:
    fields: dict[str, object] = {
        "schema": "https://sanderling.example/schemas/event-v1.json",
        "id": "0197a0b0-0000-7000-8000-000000000000",
        "source_id": "0197a0a0-0000-7000-8000-000000000000",
        "source_type": "feed",
        "source_url": "https://a.example/feed",
        "url": "https://a.example/1",
        "title": "Förslag",
        "author": "",
        "content": "Ny text",
        "content_hash": "sha256:00",
        "simhash": 7,
        "tags": ("change:new",),
        "published_at": None,
        "fetched_at": "2026-11-21T10:00:00.000Z",
        "emitted_at": "2026-11-21T10:00:00.100Z",
        "schema_version": 1,
    }
    return Event(**{**fields, **changes})  # type: ignore[arg-type]


OPS = st.builds(
    Op, op=st.sampled_from(["insert", "delete", "replace"]), para=COUNT, text=st.just(UNSET) | TEXT, before=TEXT
)
EVENTS = st.builds(
    an_event,
    title=TEXT,
    author=TEXT,
    content=TEXT,
    simhash=COUNT,
    tags=st.lists(TEXT, max_size=3).map(tuple),
    published_at=st.none() | TEXT,
    content_truncated=st.just(UNSET) | st.booleans(),
    diff=st.just(UNSET)
    | st.builds(
        Diff,
        added=st.lists(TEXT, max_size=2).map(tuple),
        removed=st.just(()),
        changed=st.lists(st.builds(Change, TEXT, TEXT), max_size=2).map(tuple),
        truncated=st.booleans(),
    ),
    delta=st.just(UNSET)
    | st.builds(
        Delta, ops=st.lists(OPS, max_size=3).map(tuple), stats=st.builds(DeltaStats, COUNT, COUNT, COUNT, COUNT)
    ),
    alert_type=st.just(UNSET) | st.just("source_quiet"),
)
