"""Alerts and destinations, under one revision."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Protocol

from storage.records.alert import Alert
from storage.records.destination import Destination
from storage.records.identity import Seq


class Alerts(Protocol):
    """Alerts and their destinations.

    What is written beside them while they work (`match_count`, `last_match_at`, `last_delivery_at`) is taken from a
    record when it is added, and never again: only `Work` moves it.
    """

    async def put(self, alert: Alert) -> None:
        """Add or replace an alert."""

    async def edit(self, alert_id: str, change: Callable[[Alert], Alert]) -> Alert | None:
        """Replace an alert by what `change` makes of it, in one transaction; return the new one, None if unknown.

        `change` is pure and may run in a thread. Two edits at once are both done, one after the other. What it raises
        is raised here, and nothing has changed.
        """

    async def revision(self) -> int:
        """Return how often what is matched and delivered to was written: each such write raises it, in its transaction.

        What a destination's own deliveries note in it (failures, what it has missed) does not count.
        """

    async def changed_at(self) -> Seq:
        """Return the log's newest position when the revision was raised last: up to there, the one before holds."""

    async def get(self, alert_id: str) -> Alert | None:
        """Return one alert."""

    async def all(self) -> Sequence[Alert]:
        """Return all alerts, oldest first."""

    async def matched(self, alert_ids: Sequence[str], days: Sequence[int]) -> Mapping[str, Mapping[int, int]]:
        """Return how many events each alert has met on each of these days (UTC, counted from 1970-01-01).

        Days and alerts without any are absent. The newest `KEPT_DAYS` are known.
        """

    async def delete(self, alert_id: str, check: Callable[[Alert], None] = lambda _: None) -> bool:
        """Delete an alert with its destinations and their waiting deliveries; return whether there was one.

        `check` is as `change` is in `edit`: by raising, it refuses.
        """

    async def put_destination(self, destination: Destination) -> None:
        """Add or replace a destination."""

    async def edit_destination(
        self, destination_id: str, change: Callable[[Destination], Destination]
    ) -> Destination | None:
        """Replace a destination by what `change` makes of it; as `edit` does."""

    async def destination(self, destination_id: str) -> Destination | None:
        """Return one destination."""

    async def destinations(self, alert_id: str | None = None) -> Sequence[Destination]:
        """Return the destinations of an alert, or all."""

    async def delete_destination(
        self, destination_id: str, check: Callable[[Destination], None] = lambda _: None
    ) -> bool:
        """Delete a destination and its waiting deliveries; return whether there was one. `check` as in `delete`."""
