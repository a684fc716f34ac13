"""The pages of a publication: its events, and one event with its difference and its signature's verdict.

They have no scripts and no forms, and link only to each other, to the published URLs, and to the keys.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import msgspec

from actors.notification.dialects import cut, one_line
from api.dashboard.drawing.difference import EventChange, lines_of
from api.dashboard.events import item_of
from api.dashboard.rendering import plain
from extras.publish.formats import FORMATS
from sanderling_client.verify import check_encoded
from storage.records.event import Delta, Diff, Event, Stored
from storage.records.identity import parse_rfc3339, spoken
from storage.records.publication import Publication

MOST_LINES = 12
"""Lines of a difference in the list; the event's own page has all."""
MOST_OF_A_TEXT = 300
"""Characters of a new entry's text in the list."""
_decode = msgspec.json.Decoder(Event).decode


class EventRow(NamedTuple):
    """An event in the list. at: when it was emitted (RFC 3339); spoken: the same for people."""

    id: str
    title: str
    host: str
    summary: str
    at: str
    spoken: str
    lines: Sequence[object]


def listed(publication: Publication, rows: Sequence[EventRow], base: str, *, older: str, newest: bool) -> bytes:
    """Return the page of events, newest first. older: the query of the next page, "" if there is none."""
    feeds = [(f"{base}.{ending}", each.label, each.media.partition(";")[0]) for ending, each in FORMATS.items()]
    about = {"title": publication.title, "ends_on": publication.ends_on}
    return plain("published/list.html", **about, rows=rows, base=base, feeds=feeds, older=older, newest=newest)


def one(title: str, stored: Stored, base: str, jwks: bytes) -> bytes:
    """Return the page of one event. Raises msgspec.MsgspecError if this version cannot read it."""
    event = _decode(stored.body)
    verdict = check_encoded(stored.body, jwks)
    changes = lines_of(_changed(event))
    item = item_of(stored.body)
    shown = {
        "event": event,
        "item": item,
        "changes": changes,
        "verdict": verdict,
        "at": spoken(parse_rfc3339(event.emitted_at)),
        "raw": msgspec.json.format(stored.body, indent=2).decode(),
    }
    return plain("published/event.html", title=title, base=base, **shown)


def gone(says: str, *, ended: bool) -> bytes:
    """Return the page for an unknown address, or for one whose last day has passed."""
    return plain("published/gone.html", title="No longer published" if ended else "Nothing here", says=says)


def row(stored: Stored) -> EventRow:
    """Return an event as a row. Raises msgspec.MsgspecError if this version cannot read it."""
    event, item = _decode(stored.body), item_of(stored.body)
    at = spoken(parse_rfc3339(event.emitted_at))
    lines = lines_of(_changed(event), MOST_LINES)
    said = "" if lines else (event.diff and event.summary) or cut(one_line(event.content), MOST_OF_A_TEXT)
    summary = "" if said == item.title else said
    return EventRow(item.id, item.title, item.host, summary, event.emitted_at, at, lines)


def _changed(event: Event) -> EventChange:
    diff = event.diff if isinstance(event.diff, Diff) else None
    return EventChange(diff, event.delta if isinstance(event.delta, Delta) else None)
