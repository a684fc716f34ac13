"""All alerts: their queries, recent matches and destinations."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, NamedTuple

from msgspec import Meta, Struct

from actors.query import languages
from api.dashboard.alerts.volume import Volume, days_until, volume
from api.dashboard.language.speaking import say, say_many
from api.dashboard.lists import address, part
from api.dashboard.screen import Page, Visit
from storage.records.alert import Alert
from storage.records.destination import Destination

SHOWN = 50
SHOWN_TAGS = 2
"""Tags named per row; with more, only their number."""


class AlertsQuery(Struct, frozen=True, forbid_unknown_fields=True):
    """Words that the alert must contain, and the last alert's id on the previous page."""

    q: Annotated[str, Meta(max_length=200)] = ""
    after: Annotated[str, Meta(max_length=40)] = ""


class Row(NamedTuple):
    """A row of the list. trouble: the number of its destinations that fail or are disabled or paused."""

    alert: Alert
    language: str
    sources: str
    destinations: str
    trouble: int
    volume: Volume


async def listing(visit: Visit) -> Page:
    """Show the alerts, the newest first."""
    everyone = sorted(
        await visit.context.storage.alerts.all(), key=lambda each: (each.created_at, each.id), reverse=True
    )
    query: AlertsQuery = visit.query
    fitting = [alert for alert in everyone if fits(alert, query.q)]
    page = part(fitting, query.after, SHOWN)
    shows = {
        "rows": await _rows(visit, page.rows),
        "total": len(everyone),
        "fitting": len(fitting),
        "caption": caption(len(fitting), page.start, len(page.rows)),
        "next": page.last and address("/alerts", q=query.q, after=page.last),
        "previous": address("/alerts", q=query.q) if page.start else "",
    }
    return Page("alerts/list.html", say("Alerts"), shows)


def caption(total: int, start: int, shown: int) -> str:
    """Return the caption of a list's page.

    >>> caption(3, 0, 3), caption(120, 50, 50)
    ('3 alerts, the newest first', '51 to 100 of 120 alerts, the newest first')
    """
    if shown == total:
        return say_many("%(count)s alert, the newest first", "%(count)s alerts, the newest first", total)
    first, last = start + 1, start + shown
    return say("%(first)s to %(last)s of %(all)s alerts, the newest first", first=first, last=last, all=total)


def fits(alert: Alert, words: str) -> bool:
    """Return whether an alert contains all the words, in its name, query or channel."""
    text = f"{alert.name} {alert.filter_query} {alert.channel or ''}".casefold()
    return all(word in text for word in words.casefold().split())


async def _rows(visit: Visit, alerts: Sequence[Alert]) -> list[Row]:
    storage = visit.context.storage.alerts
    met = await storage.matched([alert.id for alert in alerts], days_until(visit.now))
    return [_row(visit, alert, met.get(alert.id, {}), await storage.destinations(alert.id)) for alert in alerts]


def _row(visit: Visit, alert: Alert, met: Mapping[int, int], hooks: Sequence[Destination]) -> Row:
    return Row(
        alert=alert,
        language=language_name(alert.language),
        sources=sources_words(alert),
        destinations=say_many("%(count)s destination", "%(count)s destinations", len(hooks)) if hooks else "",
        trouble=sum(not hook.enabled or hook.state != "active" for hook in hooks),
        volume=volume(met, visit.now, visit.zone),
    )


def language_name(code: str) -> str:
    return say(languages().get(code, code))


def sources_words(alert: Alert) -> str:
    """Return an alert's sources in a few words."""
    ids = say_many("%(count)s source", "%(count)s sources", len(alert.source_ids)) if alert.source_ids else ""
    tags = ", ".join(tag.removeprefix("label:") for tag in alert.tags)
    if len(alert.tags) > SHOWN_TAGS:
        tags = say_many("%(count)s tag", "%(count)s tags", len(alert.tags))
    if ids and tags:
        return say("%(one)s and %(other)s", one=ids, other=tags)
    return ids or tags or say("all sources")
