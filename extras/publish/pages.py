"""The pages of a publication: its events, and one event with its difference and its signature's verdict.

They have no scripts and no forms, and link only to each other, to the published URLs, and to the keys.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import NamedTuple
from urllib.parse import urlsplit

import msgspec

from actors.notification.dialects import cut, one_line
from api.dashboard.drawing.difference import EventChange, lines_of
from api.dashboard.drawing.figures import dated
from api.dashboard.events import item_of
from api.dashboard.rendering import plain
from extras.publish.formats import FORMATS
from sanderling_client.verify import check_encoded
from storage.records.event import Delta, Diff, Event, Stored
from storage.records.publication import Publication
from storage.records.tiers import WITH_DIFF

MOST_LINES = 12
"""Lines of a difference in the list; the event's own page has all."""
MOST_OF_A_TEXT = 300
"""Characters of a new entry's text in the list."""
_decode = msgspec.json.Decoder(Event).decode


class EventRow(NamedTuple):
    """An event. page: its page's title, "" for a feed's entry. at: when it was emitted; day, time: in words, in UTC."""

    id: str
    source: str
    title: str
    page: str
    host: str
    summary: str
    at: str
    day: str
    time: str
    lines: Sequence[object]


def sources_of(rows: Sequence[EventRow], base: str, only: Sequence[str]) -> list[tuple[str, str, bool]]:
    """Return each source's name (its host, as the owner's is private), its address, and whether it is the only one."""
    first = {row.source: row for row in reversed(rows)}
    hosts, ids = Counter(row.host for row in first.values()), dict[str, list[str]]()
    for source, row in sorted(first.items(), key=lambda one: (one[1].host, one[1].page)):
        named = f"{row.host}: {row.page}" if hosts[row.host] > 1 and row.page else row.host
        ids.setdefault(cut(named, 60), []).append(source)
    return [(name, f"{base}?source={','.join(some)}", set(some) == set(only)) for name, some in ids.items()]


def listed(publication: Publication, rows: Sequence[EventRow], base: str, **shows: object) -> bytes:
    feeds = [(f"{base}.{ending}", each.label, each.media.partition(";")[0]) for ending, each in FORMATS.items()]
    about = {"title": publication.title, "ends_on": publication.ends_on, "host": urlsplit(base).netloc}
    return plain("published/list.html", **about, **shows, rows=rows, base=base, feeds=feeds)


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
        "at": ", ".join(_clock(event.emitted_at)),
        "raw": msgspec.json.format(stored.body, indent=2).decode(),
    }
    return plain("published/event.html", title=title, base=base, **shown)


def gone(says: str, *, ended: bool) -> bytes:
    """Return the page for an unknown address, or for one whose last day has passed."""
    return plain("published/gone.html", title="No longer published" if ended else "Nothing here", says=says)


def row(stored: Stored) -> EventRow:
    """Return an event as a row. Raises msgspec.MsgspecError if this version cannot read it."""
    event, item = _decode(stored.body), item_of(stored.body)
    lines = lines_of(_changed(event), MOST_LINES)
    said = "" if lines else (event.diff and event.summary) or cut(one_line(event.content), MOST_OF_A_TEXT)
    summary = "" if said == item.title else said
    page, at = (event.title or "") if event.source_type in WITH_DIFF else "", event.emitted_at
    return EventRow(item.id, stored.source, item.title, page, item.host, summary, at, *_clock(at), lines)


def _clock(at: str) -> tuple[str, str]:
    utc = datetime.fromisoformat(at).astimezone(UTC)
    return dated(utc.day, utc.month, utc.year), f"{utc:%H:%M}"


def _changed(event: Event) -> EventChange:
    diff = event.diff if isinstance(event.diff, Diff) else None
    return EventChange(diff, event.delta if isinstance(event.delta, Delta) else None)
