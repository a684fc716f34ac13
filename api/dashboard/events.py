"""One event: its text, what changed, its signature, the alerts that it meets, and its JSON as it was signed."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from actors.notices import asked_for
from actors.query import QueryError, Texts, UnknownLanguage, matches, parse, told_in
from actors.signatures import event as signatures
from api.dashboard.difference import Changed, lines_of
from api.dashboard.screen import Page, Screen, Visit
from api.operations import events
from storage.records.alert import Alert, covers
from storage.records.event import Delta, Diff, Event, Stored
from storage.records.identity import SourceId
from storage.records.tiers import Kind

_decode = msgspec.json.Decoder(Event).decode


def changed_in(event: Event) -> Changed:
    """Return the part of an event that says what changed."""
    diff = event.diff if isinstance(event.diff, Diff) else None
    return Changed(diff, event.delta if isinstance(event.delta, Delta) else None)


def met_by(stored: Stored, alerts: Sequence[Alert]) -> list[Alert]:
    """Return the alerts that an event meets as they are now."""
    told = told_in(stored.body)
    if stored.kind == Kind.NOTICE:
        kind = told.alert_type or ""
        return [alert for alert in alerts if alert.enabled and asked_for(alert, kind, stored)]
    texts = Texts(told)
    on = [alert for alert in alerts if alert.enabled]
    return [alert for alert in on if covers(frozenset(alert.source_ids), stored) and _meets(alert, texts)]


def _meets(alert: Alert, texts: Texts) -> bool:
    try:
        return matches(parse(alert.filter_query, alert.language), texts.of(alert.match))
    except (QueryError, UnknownLanguage):
        return False


async def show(visit: Visit) -> Page:
    stored = await events.named(visit, visit.path["id"])
    body, event = stored.body, _decode(stored.body)
    alerts = met_by(stored, await visit.context.storage.alerts.all())
    verdict = signatures.verify(body, await visit.context.jwks())
    raw = msgspec.json.format(body, indent=2).decode()
    watched = await visit.context.storage.sources.get(SourceId(event.source_id))
    return Page(
        "events/one.html",
        event.title or event.url or "Event",
        {
            "event": event,
            "changes": lines_of(changed_in(event)),
            "cut": event.content_truncated is True,
            "alerts": alerts,
            "verdict": verdict,
            "notice": event.alert_type if isinstance(event.alert_type, str) else "",
            "signed_at": event.signed_at if isinstance(event.signed_at, str) else None,
            "raw": raw,
            "named": None if watched is None else watched.source.called,
            "curl": curl(visit, f"/v1/events/{event.id}"),
        },
    )


def curl(visit: Visit, path: str, *options: str) -> str:
    """Return the command that asks the API for the same."""
    words = [
        "curl",
        *options,
        '-H "Authorization: Bearer $SANDERLING_KEY"',
        f"'{visit.context.settings.public_url()}{path}'",
    ]
    return " ".join(words)


SCREENS = (Screen(path="/events/{id}", run=show),)
