"""Alerts: the list, and one with its matches and its buttons. `alert_form` has the form."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any, NamedTuple

import trio
from msgspec import Meta, Struct

from actors.errors import DomainError
from actors.language.speaking import say, say_many
from actors.query import QueryError, UnknownLanguage, languages, parse
from api.dashboard.forms import Confirm
from api.dashboard.lists import address, part
from api.dashboard.notifying import alert_form
from api.dashboard.notifying.alert_form import AlertEdit, NewAlertForm, ShownMatch, days_until, matched, volume
from api.dashboard.notifying.destinations import standings
from api.dashboard.picker import sources_of
from api.dashboard.screen import Go, Page, Screen, Visit, buttons, post
from api.dashboard.sources.display import name_of
from api.dashboard.starting import in_words
from api.nouns import alerts
from api.nouns.alert_previews import AlertPreviewRequest, Stretch, trial
from api.nouns.sources import private_sources
from api.ratelimit import Limit
from storage.records.alert import Alert
from storage.records.identity import Seq, id_of, seq_of

PAGE = 50
SHOWN_TAGS = 2
"""Tags named per row; with more, only their number."""


class AlertsQuery(Struct, frozen=True, forbid_unknown_fields=True):
    """Words that the alert must contain, and the last alert's id on the previous page."""

    q: Annotated[str, Meta(max_length=200)] = ""
    after: Annotated[str, Meta(max_length=40)] = ""


async def listing(visit: Visit) -> Page:
    query: AlertsQuery = visit.query
    everyone = await visit.context.storage.alerts.all()
    everyone = sorted(everyone, key=lambda each: (each.created_at, each.id), reverse=True)
    fitting = [alert for alert in everyone if fits(alert, query.q)]
    page = part(fitting, query.after, PAGE)
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
    text = f"{alert.name} {alert.filter_query} {alert.channel or ''}".casefold()
    return all(word in text for word in words.casefold().split())


async def _rows(visit: Visit, alerts: Sequence[Alert]) -> list[dict[str, Any]]:
    storage = visit.context.storage.alerts
    met = await storage.matched([alert.id for alert in alerts], days_until(visit.now))
    rows = []
    for alert in alerts:
        hooks = await storage.destinations(alert.id)
        row = {
            "alert": alert,
            "words": in_words(alert.filter_query),
            "language": language_name(alert.language),
            "sources": sources_words(alert),
            "destinations": say_many("%(count)s destination", "%(count)s destinations", len(hooks)) if hooks else "",
            "trouble": sum(not hook.enabled or hook.state != "active" for hook in hooks),
            "volume": volume(met.get(alert.id, {}), visit.now, visit.zone),
        }
        rows.append(row)
    return rows


def language_name(code: str) -> str:
    return say(languages().get(code, code))


def sources_words(alert: Alert) -> str:
    ids = say_many("%(count)s source", "%(count)s sources", len(alert.source_ids)) if alert.source_ids else ""
    tags = ", ".join(tag.removeprefix("label:") for tag in alert.tags)
    if len(alert.tags) > SHOWN_TAGS:
        tags = say_many("%(count)s tag", "%(count)s tags", len(alert.tags))
    if ids and tags:
        return say("%(one)s and %(other)s", one=ids, other=tags)
    return ids or tags or say("all sources")


MATCHES = 10
"""Matches per page."""
PACE = Limit(rate=1.0, burst=20)
"""Pages of matches for all readers together; each takes a worker up to two seconds."""
NAMED = 12
"""Sources to name; of more, these and the total."""
_END = Seq((1 << 63) - 1)


class OneQuery(Struct, frozen=True, forbid_unknown_fields=True):
    """The start of a page of matches: before the event with this id."""

    before: Annotated[str, Meta(max_length=40)] = ""


class Matches(NamedTuple):
    """A page of matches. older: the id to continue from. looked_at: the number of events searched."""

    shown: Sequence[ShownMatch] = ()
    older: str = ""
    looked_at: int = 0
    says: str = ""


async def one(visit: Visit) -> Page:
    alert = await alerts.named(visit, visit.path["id"])
    met = await visit.context.storage.alerts.matched([alert.id], days_until(visit.now))
    hooks = await visit.context.storage.alerts.destinations(alert.id)
    shows = {
        "alert": alert,
        "words": in_words(alert.filter_query),
        "over": sources_words(alert),
        "language": language_name(alert.language),
        "about": dict(alert_form.ABOUT)[alert.match],
        "volume": volume(met.get(alert.id, {}), visit.now, visit.zone),
        "private": await private_sources(visit, alert.scope, alert.has_left),
        "sources": await sources_of(visit, alert.source_ids[:NAMED]),
        "name_of": name_of,
        "notices": [say(words) for name, words, _ in alert_form.NOTICES if name in alert.notices],
        "matches": await _matches(visit, alert),
        "first": not visit.query.before,
        "standings": await standings(visit, hooks),
    }
    return Page("alerts/one.html", alert.name, shows)


async def resume(visit: Visit) -> Go:
    alert = await alerts.change(visit, visit.path["id"], {"enabled": True})
    return Go(f"/alerts/{alert.id}", say("The alert matches again, from the next event on."))


async def pause(visit: Visit) -> Go:
    alert = await alerts.change(visit, visit.path["id"], {"enabled": False})
    return Go(f"/alerts/{alert.id}", say("Paused. Earlier matches are still delivered."))


async def seen(visit: Visit) -> Go:
    """Leave out the sources that have become private, and hide the note about them."""
    alert = await alerts.change(visit, visit.path["id"], {}, seen=True)
    return Go(f"/alerts/{alert.id}", say("They stay left out."))


async def delete(visit: Visit) -> Go:
    alert = await alerts.named(visit, visit.path["id"])
    visit.form.check_deletion()
    await alerts.delete(visit, alert.id)
    return Go("/alerts", say("“%(name)s” is deleted, with its destinations.", name=alert.name))


async def _matches(visit: Visit, alert: Alert) -> Matches:
    before = _END
    try:
        parse(alert.filter_query, alert.language)
    except (QueryError, UnknownLanguage) as error:
        return Matches(says=str(error))  # written by another version
    if visit.query.before:
        try:
            before = seq_of(visit.query.before)
        except ValueError:
            return Matches(says=say("There is no such page of matches."))
    wanted = AlertPreviewRequest(alert.filter_query, alert.language, limit=MATCHES, match=alert.match)
    if not visit.limiter.take("matches of alerts", PACE, trio.current_time()).admitted:
        return Matches(says=say("Too many pages of matches were requested. Reload this page in a moment."))
    try:
        found = await trial(visit, wanted, alert.scope, Stretch(before=before, full=True))
    except DomainError as error:
        return Matches(says=error.detail)
    older = "" if found.further is None else id_of(found.further, 0)
    return Matches(await matched(visit, found.preview.matches), older, found.preview.looked_at)


SCREENS: tuple[Screen, ...] = (
    Screen(path="/alerts", run=listing, query=AlertsQuery),
    Screen(path="/alerts/new", run=alert_form.new, query=alert_form.NewQuery),
    post("/alerts/new", alert_form.create, NewAlertForm, alert_form.new),
    post("/alerts/try", alert_form.try_new, NewAlertForm, alert_form.new),
    post("/alerts/bin", alert_form.try_bin, NewAlertForm, alert_form.new, query=alert_form.NewQuery),
    Screen(path="/alerts/{id}", run=one, query=OneQuery),
    Screen(path="/alerts/{id}/edit", run=alert_form.edit),
    post("/alerts/{id}/edit", alert_form.change, AlertEdit, alert_form.edit),
    post("/alerts/{id}/try", alert_form.try_edit, AlertEdit, alert_form.edit),
    *buttons("/alerts/{id}", one, resume=resume, pause=pause, seen=seen),
    post("/alerts/{id}/delete", delete, Confirm, one),
)
