"""The trial of a query over the last week, as a page shows it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple
from zoneinfo import ZoneInfo

from actors.errors import DomainError
from api.dashboard.alerts.form import AlertForm, Chosen, asked
from api.dashboard.alerts.highlights import Fault, Shown, fault_of, shown
from api.dashboard.alerts.volume import DAYS, Volume, volume
from api.dashboard.items import items_by_id
from api.dashboard.language.speaking import decimal, number, say, say_many
from api.dashboard.screen import Visit
from api.operations.alerts import Stretch, check_query, preview
from api.problems import Refusal
from api.schemas.alert_previews import MOST_EVENTS, AlertPreview, PreviewMatch
from storage.records.identity import Millis, Seq, day_of, seq_at
from storage.records.times import parse_rfc3339

_WEEK = DAYS * 86_400_000


class TrialResult(NamedTuple):
    """The outcome: an error in the query, a reason why it was not tried (`says`), or the matches."""

    fault: Fault | None = None
    says: str = ""
    found: AlertPreview | None = None
    volume: Volume | None = None
    headline: str = ""
    reach: str = ""
    matches: Sequence[Shown] = ()


async def tried(visit: Visit, form: AlertForm, scope: Chosen) -> TrialResult:
    """Try a query on the last week. Return refusals as words."""
    fault = fault_of(form.filter_query, form.language)
    if fault is not None:
        return TrialResult(fault=fault)
    try:
        check_query(form.filter_query, form.language)
        week = Stretch(after=Seq(seq_at(Millis(visit.now - _WEEK)) - 1))
        found = await preview(visit, asked(form, scope), week)
    except (Refusal, DomainError) as error:
        return TrialResult(says=error.detail)
    return of(found, await matched(visit, found.matches), visit.now, visit.zone)


async def matched(visit: Visit, matches: Sequence[PreviewMatch]) -> list[Shown]:
    """Return matches as a page shows them, each with its list item."""
    items = await items_by_id(visit, (match.id for match in matches))
    return [shown(match, items.get(match.id)) for match in matches]


def of(found: AlertPreview, matches: Sequence[Shown], now: Millis, zone: ZoneInfo) -> TrialResult:
    """Return a preview as a page shows it."""
    days = {day_of(parse_rfc3339(f"{day.day}T00:00:00Z")): day.matches for day in found.days}
    return TrialResult(
        found=found,
        volume=volume(days, now, zone),
        headline=_headline(found),
        reach=_reach(found),
        matches=matches,
    )


def _headline(found: AlertPreview) -> str:
    if not found.looked_at:
        return say("There were no events in the last week to try it on.")
    met = number(found.matches_found)
    if found.per_day is None:
        return say_many(
            "%(met)s of %(count)s event would have been told.",
            "%(met)s of %(count)s events would have been told.",
            found.looked_at,
            met=met,
        )
    return say_many(
        "%(met)s of %(count)s event would have been told, about %(rate)s a day.",
        "%(met)s of %(count)s events would have been told, about %(rate)s a day.",
        found.looked_at,
        met=met,
        rate=decimal(found.per_day, 0 if found.per_day >= 10 else 1),
    )


def _reach(found: AlertPreview) -> str:
    """Return how far the trial came, if it did not cover the week."""
    if found.complete and found.looked_at < MOST_EVENTS:
        return ""
    return say_many(
        "Only the newest %(count)s event was looked at.",
        "Only the newest %(count)s events were looked at.",
        found.looked_at,
    )
