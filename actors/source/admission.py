"""Which frames of a pushing source become events: those that match an alert, or the source's own filter.

A push source is filtered, not archived. The alerts' queries are read again at most every few seconds, and only
while frames arrive, so that an idle service reads nothing.
"""

from __future__ import annotations

import trio

from actors.query import Analysed, Query, QueryError, matches, parse
from storage.interface import Alerts
from storage.records.source import Source

REFRESH = 5.0


class Admission:
    """The queries of all enabled alerts, as far as push sources need them."""

    def __init__(self, alerts: Alerts) -> None:
        self._alerts = alerts
        self._queries: list[tuple[tuple[str, ...], Query]] = []
        self._read_at: float | None = None

    async def refresh(self) -> None:
        """Read the alerts again if the last reading is older than `REFRESH` seconds."""
        now = trio.current_time()
        if self._read_at is not None and now - self._read_at < REFRESH:
            return
        self._read_at = now
        found = [alert for alert in await self._alerts.all() if alert.enabled]
        self._queries = [(alert.source_ids, parse(alert.filter_query, alert.language)) for alert in found]

    def admits(self, source: Source, own: Query | None, title: str, content: str) -> bool:
        """Return whether a frame of `source` becomes an event; `own` is the source's own filter, parsed."""
        text = Analysed(title, content)
        if own is not None and matches(own, text):
            return True
        return any(
            (not source_ids or source.id in source_ids) and matches(query, text) for source_ids, query in self._queries
        )


def own_filter(source: Source) -> Query | None:
    """Return the source's own filter; None when it has none, or one that a later version no longer understands."""
    if source.filter is None:
        return None
    try:
        return parse(source.filter, "simple")
    except QueryError:
        return None
