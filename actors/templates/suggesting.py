"""A template's suggested alerts: created once, recognized by their key, and extended with newly attached sources."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import trio
from msgspec.structs import replace

from actors.locks import KeyedLocks
from actors.templates.report import LATE, AlertOutcome
from actors.templates.template import Suggestion, Template
from actors.world import World
from storage.errors import StorageError
from storage.interface.alerts import Alerts
from storage.records.alert import MOST_ALERTS, MOST_SOURCES, Alert
from storage.records.identity import Millis, SourceId

WITHIN = 5.0
"""Seconds for all of them."""
NO_SOURCE = "no source is attached, and an alert over none would be one over the whole library: call again later"
NO_STORAGE = "the storage takes nothing now: call again"
FULL = f"there are {MOST_ALERTS} alerts, and there is no room for more"
GROWN_UP = f"an alert names at most {MOST_SOURCES} sources: make another one over those that are new"


class Suggesting:
    """Creates alerts for templates, one call at a time, so that no two calls create the same one."""

    def __init__(self, world: World, alerts: Alerts) -> None:
        self._world, self._alerts = world, alerts
        self._locks = KeyedLocks()

    async def known(self, template: Template) -> Mapping[str, Alert]:
        """Return a template's existing alerts, by the keys of its suggestions."""
        return _of(template, await self._alerts.all())

    async def suggest(self, template: Template, sources: Sequence[SourceId]) -> Sequence[AlertOutcome]:
        """Create or extend all suggested alerts for these sources. Failed or late ones carry a reason."""
        found: list[AlertOutcome] = []
        why = LATE
        with trio.move_on_after(WITHIN):
            async with self._locks.hold(template.id):
                try:
                    everyone = await self._alerts.all()
                    known, room = _of(template, everyone), MOST_ALERTS - len(everyone)
                    for suggestion in template.alerts:
                        outcome = await self._one(template, suggestion, known.get(suggestion.key), sources, room)
                        room -= outcome.status == "created"
                        found.append(outcome)
                except StorageError:
                    why = NO_STORAGE
        rest = template.alerts[len(found) :]
        return [*found, *(AlertOutcome(suggestion.name, "failed", reason=why) for suggestion in rest)]

    async def _one(
        self, template: Template, suggestion: Suggestion, known: Alert | None, sources: Sequence[SourceId], room: int
    ) -> AlertOutcome:
        if known is not None and (alert := await self._grown(known, sources)) is not None:
            full = not _covers(alert, sources)
            reason = GROWN_UP if full else None
            return AlertOutcome(alert.name, "failed" if full else "exists", alert.id, len(alert.source_ids), reason)
        if not sources or room <= 0:
            return AlertOutcome(suggestion.name, "failed", reason=FULL if sources else NO_SOURCE)
        now = self._world.now()
        alert = Alert(
            id=self._world.new_id(),
            name=suggestion.name,
            filter_query=suggestion.query,
            language=suggestion.language,
            source_ids=tuple(sources),
            created_at=now,
            updated_at=now,
            channel=suggestion.channel,
            template=template.alert_key(suggestion),
            match=suggestion.match,
            once_per_story=None,
        )
        await self._alerts.put(alert)
        return AlertOutcome(alert.name, "created", alert.id, len(sources))

    async def _grown(self, alert: Alert, sources: Sequence[SourceId]) -> Alert | None:
        """Return the alert extended by these sources, if they fit; None if it has just been deleted."""
        if _covers(alert, sources):
            return alert
        now = self._world.now()
        return await self._alerts.edit(alert.id, lambda alert: _with(alert, sources, now))


def _of(template: Template, alerts: Sequence[Alert]) -> Mapping[str, Alert]:
    keys = {template.alert_key(suggestion): suggestion.key for suggestion in template.alerts}
    return {keys[alert.template]: alert for alert in alerts if alert.template in keys}


def _covers(alert: Alert, sources: Sequence[SourceId]) -> bool:
    """Return whether an alert covers all these sources, by their ids or by covering the whole library."""
    return alert.scope.everywhere or set(sources) <= set(alert.source_ids)


def _with(alert: Alert, sources: Sequence[SourceId], now: Millis) -> Alert:
    ids = tuple(dict.fromkeys((*alert.source_ids, *sources)))
    if _covers(alert, sources) or len(ids) > MOST_SOURCES:
        return alert
    return replace(alert, source_ids=ids, updated_at=now)
