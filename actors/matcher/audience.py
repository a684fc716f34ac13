"""The audience of an event: the alerts in force and their destinations, as they were read at one moment.

Ordinary events are matched by text; the service's own notices never are: an alert gets those that it asks for by name.
What is only practice is for alerts that name its source by id, never for those over a tag or the whole library.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from actors.matcher.index import StandingQueries
from actors.notices import asked_for
from actors.query import EventView, Match, QueryError, Texts, UnknownLanguage, parse
from storage.records.alert import Alert
from storage.records.destination import Destination
from storage.records.event import Stored
from storage.records.identity import Millis
from storage.records.tiers import Kind


class Audience:
    """Answers whom an event is for. `refused` hears of a stored query that can no longer be read."""

    def __init__(self, refused: Callable[[str, str], None]) -> None:
        self._refused = refused
        self._alerts: dict[str, Alert] = {}
        self._queries: dict[Match, StandingQueries] = {}
        self._destinations: dict[str, tuple[str, ...]] = {}
        self._by_tag = False

    def replace(self, alerts: Sequence[Alert], destinations: Sequence[Destination]) -> None:
        """Take over a new state; only what changed is indexed anew.

        An alert without a destination stays: what it matches is counted, and its channel carries it.
        """
        self._destinations = _by_alert(destinations)
        wanted = {alert.id: alert for alert in alerts if alert.enabled}
        for id in [id for id in self._alerts if id not in wanted]:
            self._drop(id)
        for id, alert in wanted.items():
            old = self._alerts.get(id)
            if old is None or _standing(old) != _standing(alert):
                self._index(alert)
        self._alerts = wanted
        self._by_tag = any(alert.tags for alert in alerts if alert.enabled)

    def of(self, told: EventView, event: Stored) -> list[str]:
        """Return the ids of the alerts that an event is for, in a fixed order."""
        if event.kind == Kind.HELD:
            return []
        if told.alert_type is None:
            found = self._met(Texts(told), event)
            return (
                found if event.kind != Kind.PRACTICE else [id for id in found if self._alerts[id].scope.covers(event)]
            )
        return [alert.id for alert in self._alerts.values() if asked_for(alert, told.alert_type, event)]

    def _met(self, texts: Texts, event: Stored) -> list[str]:
        """Return the alerts whose queries an event satisfies; only texts that some alert asks for are analysed."""
        # Tags are read from the body, which nobody pays for whose alerts name none.
        tags = event.tags if self._by_tag else ()
        met = [
            id for match, queries in self._queries.items() for id in queries.match(texts.of(match), event.source, tags)
        ]
        return sorted(met, key=lambda id: (self._alerts[id].created_at, id))

    def including(self, source: str, private_since: Millis | None, alerts: list[str]) -> list[str]:
        """Return those of some alerts that a private source has not left."""
        return [id for id in alerts if self._alerts[id].scope.includes(source, private_since)]

    def meets_once(self, alert: str) -> bool:
        """Return whether an alert meets each story once."""
        return self._alerts[alert].meets_once

    def destinations(self, alert: str) -> Sequence[str]:
        """Return the destinations of an alert that something may be delivered to."""
        return self._destinations.get(alert, ())

    def all_destinations(self) -> list[str]:
        """Return every destination that something may be delivered to."""
        return [destination for ids in self._destinations.values() for destination in ids]

    def __len__(self) -> int:
        return len(self._alerts)

    def _index(self, alert: Alert) -> None:
        self._drop(alert.id)
        try:
            query = parse(alert.filter_query, alert.language)
        except (QueryError, UnknownLanguage) as error:
            # Registration refuses such a query; here it can only be the work of another version.
            self._refused(alert.id, str(error))
            return
        self._queries.setdefault(alert.match, StandingQueries()).add(alert.id, query, (*alert.source_ids, *alert.tags))

    def _drop(self, id: str) -> None:
        for match, queries in list(self._queries.items()):
            queries.remove(id)
            if not len(queries):
                del self._queries[match]


def _by_alert(destinations: Sequence[Destination]) -> dict[str, tuple[str, ...]]:
    """A paused or disabled destination gets no new rows: resuming it offers a replay from where it stopped."""
    found: dict[str, list[str]] = {}
    for destination in destinations:
        if destination.enabled and destination.state != "disabled":
            found.setdefault(destination.alert_id, []).append(destination.id)
    return {alert: tuple(ids) for alert, ids in found.items()}


def _standing(alert: Alert) -> tuple[str, str, str, tuple[str, ...], tuple[str, ...]]:
    return alert.match, alert.filter_query, alert.language, alert.source_ids, alert.tags
