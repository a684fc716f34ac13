"""The audience of an event: the enabled alerts and their destinations, as read at one moment.

Alerts match ordinary events by text. They get the service's own notices only by name. Practice events are only for
alerts that name their source by id, never for those over a tag or all sources.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from actors.matcher.index import StandingQueries
from actors.notices import wants_notice
from actors.query import EventView, Match, QueryError, Texts, UnknownLanguage, parse
from storage.records.alert import Alert
from storage.records.destination import Destination
from storage.records.event import Stored
from storage.records.identity import Millis
from storage.records.tiers import Kind


class Audience:
    """Finds the alerts for an event. on_refused: called for a stored query that can no longer be parsed."""

    def __init__(self, on_refused: Callable[[str, str], None]) -> None:
        self._on_refused = on_refused
        self._alerts: dict[str, Alert] = {}
        self._queries: dict[Match, StandingQueries] = {}
        self._destinations: dict[str, tuple[str, ...]] = {}
        self._by_tag = False

    def replace(self, alerts: Sequence[Alert], destinations: Sequence[Destination]) -> None:
        """Switch to a new state; only changes are indexed. An alert without a destination stays, for its count."""
        by_alert: dict[str, list[str]] = {}
        for destination in destinations:
            if destination.enabled and destination.state != "disabled":
                by_alert.setdefault(destination.alert_id, []).append(destination.id)
        self._destinations = {alert: tuple(ids) for alert, ids in by_alert.items()}
        enabled = {alert.id: alert for alert in alerts if alert.enabled}
        for id in [id for id in self._alerts if id not in enabled]:
            self._drop(id)
        for id, alert in enabled.items():
            if id not in self._alerts or _index_key(self._alerts[id]) != _index_key(alert):
                self._index(alert)
        self._alerts = enabled
        self._by_tag = any(alert.tags for alert in alerts if alert.enabled)

    def of(self, event_view: EventView, event: Stored) -> list[str]:
        if event.kind == Kind.HELD:
            return []
        if (notice := event_view.alert_type) is not None:
            return [alert.id for alert in self._alerts.values() if wants_notice(alert, notice, event)]
        # Tags are read from the body, which is only worth it if alerts name some.
        tags = event.tags if self._by_tag else ()
        texts, queries = Texts(event_view), self._queries.items()
        matching = [id for match, table in queries for id in table.match(texts.of(match), event.source, tags)]
        if event.kind == Kind.PRACTICE:
            matching = [id for id in matching if self._alerts[id].scope.covers(event)]
        return sorted(matching, key=lambda id: (self._alerts[id].created_at, id))

    def including(self, source: str, private_since: Millis | None, alerts: list[str]) -> list[str]:
        """Return those of some alerts that a private source has not left."""
        return [id for id in alerts if self._alerts[id].scope.includes(source, private_since)]

    def meets_once(self, alert: str) -> bool:
        return self._alerts[alert].meets_once

    def destinations(self, alert: str) -> Sequence[str]:
        return self._destinations.get(alert, ())

    def __len__(self) -> int:
        return len(self._alerts)

    def _index(self, alert: Alert) -> None:
        self._drop(alert.id)
        try:
            query = parse(alert.filter_query, alert.language)
        except (QueryError, UnknownLanguage) as error:
            # Registration rejects such a query; another version must have stored it.
            self._on_refused(alert.id, str(error))
            return
        self._queries.setdefault(alert.match, StandingQueries()).add(alert.id, query, (*alert.source_ids, *alert.tags))

    def _drop(self, id: str) -> None:
        for match, queries in list(self._queries.items()):
            queries.remove(id)
            if not len(queries):
                del self._queries[match]


def _index_key(alert: Alert) -> tuple[str, str, str, tuple[str, ...], tuple[str, ...]]:
    return alert.match, alert.filter_query, alert.language, alert.source_ids, alert.tags
