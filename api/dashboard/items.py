"""Events as list items for `ui.items`, and the rows that a live list requests for new events."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Annotated, NamedTuple

import msgspec
from msgspec import Meta, Struct

from actors.notification.reading import ListedEvent, host_of, lines_of
from api.dashboard.language.sentences import translated, translated_lines
from api.dashboard.language.speaking import say
from api.dashboard.screen import Page, Screen, Visit
from storage.records.event import Stored
from storage.records.identity import SourceId

MOST_ROWS = 50
"""Rows per answer to a live list; it keeps no more."""
_MORE = re.compile(r"\(\+(\d+) more\)$")
"""The suffix of text that `item_lines` has cut."""
_decode = msgspec.json.Decoder(ListedEvent).decode


class Item(NamedTuple):
    """A list item. kind: the tier or the notice's type. at: when it was emitted (RFC 3339).

    source: the source's name, else its host. says: as `ItemLines.summary`.
    """

    id: str
    title: str
    kind: str
    host: str
    at: str
    says: str = ""
    source: str = ""


class RowsQuery(Struct, frozen=True, forbid_unknown_fields=True):
    """ids: of events, separated by commas. read: the newest event that the reader has read."""

    ids: Annotated[str, Meta(max_length=40 * MOST_ROWS)] = ""
    read: Annotated[str, Meta(max_length=100)] = ""


def item_of(body: bytes, name: str = "") -> Item:
    """Return an event as an item. name: its source's; "" if the reader may not know it."""
    event = _decode(body)
    if event.alert_type:  # notices are our own text
        event.title, event.summary = translated(event.title), translated(event.summary)
        event.content = translated_lines(event.content)
    lines = lines_of(event, name)
    says = _MORE.sub(lambda found: say("(+%(count)s more)", count=int(found[1])), lines.summary)
    return Item(event.id, lines.title, event.kind, host_of(event.url), event.emitted_at, says, lines.source)


async def items_of(visit: Visit, stored: Sequence[Stored]) -> list[Item]:
    """Return events as items, with their sources' names."""
    names = await names_of(visit, {one.source for one in stored})
    return [item_of(one.body, names.get(one.source, "")) for one in stored]


async def items_by_id(visit: Visit, ids: Iterable[str]) -> Mapping[str, Item]:
    """Return the stored events of these ids as items."""
    found = [one for id in dict.fromkeys(ids) if (one := await visit.context.storage.log.get(id)) is not None]
    return {item.id: item for item in await items_of(visit, found)}


async def names_of(visit: Visit, ids: Iterable[SourceId]) -> dict[SourceId, str]:
    """Return the names of these sources; deleted and nameless ones are absent."""
    found = [one.source for id in ids if (one := await visit.context.storage.sources.get(id)) is not None]
    return {source.id: source.name for source in found if source.name}


async def rows(visit: Visit) -> Page:
    """Show the rows for a live list's new events, in the requested order."""
    query: RowsQuery = visit.query
    ids = [id for id in query.ids.split(",") if id][:MOST_ROWS]
    items = await items_by_id(visit, ids)
    return Page("rows.html", "Rows", {"items": [items[id] for id in ids if id in items], "read": query.read})


SCREENS = (Screen(path="/rows", run=rows, query=RowsQuery, live=True),)
