"""Events as list items, and one event: the change, the reason, the recipients, its signature, its JSON as signed."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Final, Literal, NamedTuple

import msgspec
from msgspec import UNSET, Struct

from actors.language.sentences import translated, translated_lines
from actors.language.speaking import say
from actors.notices import wants_notice
from actors.notification.headline import ListedEvent, host_of
from actors.notification.headline import lines_of as item_lines
from actors.query import Texts, decode_event
from api.dashboard.drawing import EventChange, in_the_text, lines_of, typed_lines
from api.dashboard.forms import Form
from api.dashboard.screen import Go, Page, PictureAnswer, Screen, Visit, post, texts
from api.nouns import events
from api.nouns.why import event_why, feedback, meets
from sanderling_client.verify import check_encoded
from storage.records.alert import Alert
from storage.records.destination import KEPT_ATTEMPTS
from storage.records.event import Delta, Diff, Event, Filter, Stored
from storage.records.identity import Millis, SourceId, millis_of
from storage.records.tiers import Kind

MOST_ROWS = 50  # rows per answer to a live list; it keeps no more
_MORE = re.compile(r"\(\+(\d+) more\)$")  # the suffix of text that `item_lines` has cut
_decode_listed = msgspec.json.Decoder(ListedEvent).decode


class Item(NamedTuple):
    """A list item. kind: the tier or a notice's type. source: its name, else its host. says: as `ItemLines.summary`."""

    id: str
    title: str
    kind: str
    host: str
    at: str
    says: str = ""
    source: str = ""


def item_of(body: bytes, name: str = "") -> Item:
    """Return an event as an item. name: its source's; "" if the reader may not know it."""
    event = _decode_listed(body)
    if event.alert_type:  # notices are our own text
        event.title, event.summary = translated(event.title), translated(event.summary)
        event.content = translated_lines(event.content)
    lines = item_lines(event, name)
    says = _MORE.sub(lambda found: say("(+%(count)s more)", count=int(found[1])), lines.summary)
    return Item(event.id, lines.headline, event.kind, host_of(event.url), event.emitted_at, says, lines.source)


async def items_of(visit: Visit, stored: Sequence[Stored]) -> list[Item]:
    names = await names_of(visit, {event.source for event in stored})
    return [item_of(event.body, names.get(event.source, "")) for event in stored]


async def items_by_id(visit: Visit, ids: Iterable[str]) -> Mapping[str, Item]:
    found = [event for id in dict.fromkeys(ids) if (event := await visit.context.storage.log.get(id)) is not None]
    return {item.id: item for item in await items_of(visit, found)}


async def names_of(visit: Visit, ids: Iterable[SourceId]) -> dict[SourceId, str]:
    found = [known.source for id in ids if (known := await visit.context.storage.sources.get(id)) is not None]
    return {source.id: source.name for source in found if source.name}


async def rows(visit: Visit) -> Page:
    """Show events by their ids. read: the newest one that the reader has read."""
    ids = [id for id in visit.query.ids.split(",") if id][:MOST_ROWS]
    items = await items_by_id(visit, ids)
    return Page("rows.html", "Rows", {"items": [items[id] for id in ids if id in items], "read": visit.query.read})


MOST_RECIPIENTS: Final = 20  # destinations to name; all stored attempts of each are searched
_decode = msgspec.json.Decoder(Event).decode


def changed_in(event: Event) -> EventChange:
    diff = event.diff if isinstance(event.diff, Diff) else None
    return EventChange(diff, event.delta if isinstance(event.delta, Delta) else None)


def met_by(stored: Stored, alerts: Sequence[Alert], private_since: Callable[[str], Millis | None]) -> list[Alert]:
    told = decode_event(stored.body)
    if stored.kind in (Kind.NOTICE, Kind.HEARTBEAT):
        kind = told.alert_type or ""
        return [alert for alert in alerts if alert.enabled and wants_notice(alert, kind, stored)]
    texts = Texts(told)
    on = [alert for alert in alerts if alert.enabled]
    return [alert for alert in on if alert.scope.takes(stored, private_since) and meets(alert, texts)]


async def recipients_of(visit: Visit, stored: Stored, id: str, alerts: Sequence[Alert]) -> list[dict[str, Any]]:
    """Return up to `MOST_RECIPIENTS` destinations with their newest attempt. newer: created after the event."""
    storage, found = visit.context.storage, list[dict[str, Any]]()
    for alert in alerts:
        for hook in await storage.alerts.destinations(alert.id):
            if len(found) == MOST_RECIPIENTS:
                return found
            lines = await storage.outbox.attempts(hook.id, KEPT_ATTEMPTS)
            attempt = next((line for line in lines if line.event_id == id), None)
            found.append({"destination": hook, "attempt": attempt, "newer": hook.created_at > millis_of(stored.seq)})
    return found


class EventQuery(Struct, frozen=True, forbid_unknown_fields=True):
    """show: only the change, or the change within the whole text."""

    show: Literal["", "text"] = ""


async def main_parts(visit: Visit, stored: Stored) -> dict[str, Any]:
    event = _decode(stored.body)
    watched = await visit.context.storage.sources.get(SourceId(event.source_id))
    notice = event.alert_type if isinstance(event.alert_type, str) else ""
    return {
        "heading": item_of(stored.body, "" if watched is None else watched.source.name).title,
        "text": translated_lines(event.content) if notice else event.content,
        "event": event,
        "notice": notice,
        "changes": lines_of(changed_in(event)),
        "cut": event.content_truncated is True,
        "named": None if watched is None else watched.source.called,
        "versioned": watched is not None and event.delta is not UNSET and watched.source.tier.has_diff,
    }


async def show(visit: Visit) -> Page:
    stored = await events.named(visit, visit.path["id"])
    body, main = stored.body, await main_parts(visit, stored)
    event: Event = main["event"]
    alerts = met_by(stored, await visit.context.storage.alerts.all(), visit.context.private_since)
    log, where = visit.context.storage.log, Filter(sources=(stored.source,))
    earlier, later = (await log.read_back(stored.seq, 1, where)).events, (await log.read(stored.seq, 1, where)).events
    shows = main | {
        "in_text": in_the_text(event.content, changed_in(event)) if visit.query.show == "text" else None,
        "typed": typed_lines(event),
        "like": f"kind:{event.changes[0].kind}" if event.changes else "",
        "alerts": alerts,
        "pictures": await events.of_event(visit, event.id),
        "earlier": _decode(earlier[0].body).id if earlier else "",
        "later": _decode(later[0].body).id if later else "",
        "why": await event_why(visit, event.id, named=False),
        "recipients": await recipients_of(visit, stored, event.id, alerts),
        "most": MOST_RECIPIENTS,
        "address": f"{visit.context.settings.public_url()}/events/{event.id}",
        "verdict": check_encoded(body, await visit.context.jwks()),
        "signed_at": event.signed_at if isinstance(event.signed_at, str) else None,
        "raw": msgspec.json.format(body, indent=2).decode(),
        "curl": curl(visit, f"/v1/events/{event.id}"),
    }
    return Page("events/one.html", main["heading"], shows)


async def noise(visit: Visit) -> Go:
    lesson = await feedback(visit, visit.path["id"], "noise")
    return Go(f"/events/{visit.path['id']}", translated(lesson.says))


def curl(visit: Visit, path: str, *options: str) -> str:
    url = f"'{visit.context.settings.public_url()}{path}'"
    return " ".join(("curl", *options, '-H "Authorization: Bearer $SANDERLING_KEY"', url))


async def screenshot(visit: Visit) -> PictureAnswer:
    id, side = visit.path["id"], visit.query.side
    found = await events.picture(visit, id, side)
    return PictureAnswer(found.body, found.media, events.headers_of(found, f"{id}-{side}"))


SCREENS: tuple[Screen, ...] = (
    Screen(path="/rows", run=rows, query=texts(ids=40 * MOST_ROWS, read=100), live=True),
    Screen(path="/events/{id}", run=show, query=EventQuery),
    post("/events/{id}/noise", noise, Form, show, scope="sources:write"),
    Screen(path="/events/{id}/screenshot", run=screenshot, query=events.ScreenshotQuery),
)
