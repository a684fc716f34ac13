"""Alert channels: the events that the enabled alerts of a channel name let through, for all its open streams.

Alerts may share a channel. It carries each match of any of them and each notice that any of them asks for, as their
destinations get them. A change of alerts also applies to open streams, from the next event they read.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple
from weakref import WeakValueDictionary

from actors.notices import wants_notice
from actors.query import Query, QueryError, UnknownLanguage, parse
from actors.query.explain import SearchTerm
from api.streams.sse import head_of
from storage.records.alert import Alert, Scope
from storage.records.event import Stored
from storage.records.identity import Millis
from storage.sql.stores.alerts import Alerts


class _ChannelSegment(NamedTuple):
    query: Query
    scope: Scope
    alert: Alert


class Channel:
    """What one name carries. Its streams keep it alive, and leave private sources out themselves."""

    def __init__(
        self, parts: Sequence[_ChannelSegment], private_since: Callable[[str], Millis | None] = lambda source: None
    ) -> None:
        self.parts, self._private_since = parts, private_since

    def admits_notice(self, event: Stored) -> bool:
        alert_type = head_of(event.body).alert_type
        return any(wants_notice(part.alert, alert_type, event) for part in self.parts)

    def terms_for(self, event: Stored) -> tuple[SearchTerm, ...]:
        """Return the queries of the channel; an event on it matches one of them."""
        parts = (part for part in self.parts if part.scope.takes(event, self._private_since))
        return tuple(SearchTerm(part.query.text, part.query.language, part.alert.match) for part in parts)


def channel_of(alerts: Sequence[Alert], private_since: Callable[[str], Millis | None] = lambda source: None) -> Channel:
    return Channel(_parts(alerts), private_since)


class Channels:
    """All alert channels with open streams."""

    def __init__(self, alerts: Alerts) -> None:
        self._alerts = alerts
        self._open: WeakValueDictionary[str, Channel] = WeakValueDictionary()

    async def get(self, name: str) -> Channel | None:
        """Return a channel, or None if no alert, enabled or paused, has this name."""
        found = [alert for alert in await self._alerts.all() if alert.channel == name]
        if not found:
            return None
        channel = self._open.setdefault(name, Channel(()))
        channel.parts = _parts(found)
        return channel

    async def refresh(self) -> None:
        """Apply a change of alerts. A channel without alerts carries nothing."""
        if not self._open:
            return
        alerts = await self._alerts.all()
        for name, channel in list(self._open.items()):
            channel.parts = _parts([alert for alert in alerts if alert.channel == name])


def _parts(alerts: Sequence[Alert]) -> Sequence[_ChannelSegment]:
    parts = []
    for alert in alerts:
        if alert.enabled:
            try:
                query = parse(alert.filter_query, alert.language)
            except (QueryError, UnknownLanguage):
                continue  # the work of another version, which the matcher logs
            parts.append(_ChannelSegment(query, alert.scope._replace(sources=frozenset(alert.source_ids)), alert))
    return parts
