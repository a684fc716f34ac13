"""One alert: its matches, their destinations, pausing it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, NamedTuple

import trio
from msgspec import Meta, Struct

from actors.errors import DomainError, TooSoon
from actors.query import QueryError, UnknownLanguage, parse
from api.dashboard.alerts.editing import NOTICES
from api.dashboard.alerts.form import ABOUT
from api.dashboard.alerts.highlights import Shown
from api.dashboard.alerts.listing import language_name
from api.dashboard.alerts.trying import matched
from api.dashboard.alerts.volume import days_until, volume
from api.dashboard.confirming import check_confirmed
from api.dashboard.destinations.standing import standings
from api.dashboard.language.speaking import say
from api.dashboard.screen import Go, Page, Visit
from api.dashboard.sources.words import name_of
from api.operations import alerts
from api.operations.alerts import Stretch, trial
from api.operations.publications import private_sources
from api.ratelimit import Limit
from api.schemas import alerts as wire
from api.schemas.alert_previews import AlertPreviewRequest
from storage.records.alert import Alert
from storage.records.identity import Seq, SourceId, id_of, seq_of
from storage.records.source import Source

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

    shown: Sequence[Shown] = ()
    older: str = ""
    looked_at: int = 0
    says: str = ""


async def one(visit: Visit) -> Page:
    alert = await alerts.named(visit, visit.path["id"])
    met = await visit.context.storage.alerts.matched([alert.id], days_until(visit.now))
    hooks = await visit.context.storage.alerts.destinations(alert.id)
    shows = {
        "alert": alert,
        "language": language_name(alert.language),
        "about": dict(ABOUT)[alert.match],
        "volume": volume(met.get(alert.id, {}), visit.now, visit.zone),
        "private": await private_sources(visit, alert.scope, alert.has_left),
        "sources": await _sources(visit, alert),
        "name_of": name_of,
        "notices": [say(words) for name, words, _ in NOTICES if name in alert.notices],
        "matches": await _matches(visit, alert),
        "first": not visit.query.before,
        "standings": await standings(visit, hooks),
    }
    return Page("alerts/one.html", alert.name, shows)


async def resume(visit: Visit) -> Go:
    return await _switch(visit, enabled=True, says=say("The alert matches again, from the next event on."))


async def pause(visit: Visit) -> Go:
    return await _switch(visit, enabled=False, says=say("Paused. What was matched before is still delivered."))


async def seen(visit: Visit) -> Go:
    """Leave out the sources that have become private, and say so no more."""
    alert = await alerts.change(visit, visit.path["id"], wire.AlertPatch(), seen=True)
    return Go(f"/alerts/{alert.id}", say("They stay left out."))


async def delete(visit: Visit) -> Go:
    """Delete an alert, once confirmed."""
    alert = await alerts.named(visit, visit.path["id"])
    check_confirmed(visit.form)
    await alerts.delete(visit, alert.id)
    return Go("/alerts", say("“%(name)s” is deleted, with its destinations.", name=alert.name))


async def _switch(visit: Visit, *, enabled: bool, says: str) -> Go:
    alert = await alerts.change(visit, visit.path["id"], wire.AlertPatch(enabled=enabled))
    return Go(f"/alerts/{alert.id}", says)


async def _matches(visit: Visit, alert: Alert) -> Matches:
    """Return a page of stored events that the current query matches."""
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
    try:
        _check_pace(visit)
        found = await trial(visit, wanted, alert.scope, Stretch(before=before, full=True))
    except DomainError as error:
        return Matches(says=error.detail)
    older = "" if found.further is None else id_of(found.further, 0)
    return Matches(await matched(visit, found.preview.matches), older, found.preview.looked_at)


def _check_pace(visit: Visit) -> None:
    verdict = visit.limiter.take("matches of alerts", PACE, trio.current_time())
    if not verdict.admitted:
        raise TooSoon(say("Many pages of matches were asked for: reload this one in a moment."), 1)


async def _sources(visit: Visit, alert: Alert) -> list[Source]:
    """Return the first sources that an alert names."""
    found = [await visit.context.storage.sources.get(SourceId(id)) for id in alert.source_ids[:NAMED]]
    return [each.source for each in found if each is not None]
