"""Alerts and destinations, under one revision."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Protocol

from storage.records.alert import Alert
from storage.records.destination import Destination
from storage.records.identity import Seq


class Alerts(Protocol):
    """Alerts and their destinations.

    Counters of their work (`match_count`, `last_match_at`, `last_delivery_at`) are read from a record only when it is
    added; after that, only `Outbox` changes them.
    """

    async def put(self, alert: Alert) -> None:
        """Add or replace an alert."""

    async def edit(self, alert_id: str, change: Callable[[Alert], Alert]) -> Alert | None:
        """Replace an alert with the result of `change`, in one transaction; return the new one, None if unknown.

        `change` is pure and may run in a thread. Concurrent edits run one after the other. If `change` raises, so does
        this, and nothing changes.
        """

    async def revision(self) -> int:
        """Return the number of writes that affect matching or delivery; each such write raises it in its transaction.

        Notes of a destination's own deliveries (failures, missed matches) do not count.
        """

    async def changed_at(self) -> Seq:
        """Return the log's newest position when the revision last rose; the previous revision applies up to there."""

    async def get(self, alert_id: str) -> Alert | None:
        """Return one alert."""

    async def all(self) -> Sequence[Alert]:
        """Return all alerts, oldest first."""

    async def matched(self, alert_ids: Sequence[str], days: Sequence[int]) -> Mapping[str, Mapping[int, int]]:
        """Return how many events each alert matched on each of these days (UTC, counted from 1970-01-01).

        Days and alerts without matches are absent. Only the newest `KEPT_DAYS` are stored.
        """

    async def delete(self, alert_id: str, check: Callable[[Alert], None] = lambda _: None) -> bool:
        """Delete an alert with its destinations and their waiting deliveries; return whether there was one.

        `check` runs like `change` in `edit`, and refuses by raising.
        """

    async def put_destination(self, destination: Destination) -> None:
        """Add or replace a destination."""

    async def edit_destination(
        self, destination_id: str, change: Callable[[Destination], Destination]
    ) -> Destination | None:
        """Replace a destination with the result of `change`, like `edit`."""

    async def destination(self, destination_id: str) -> Destination | None:
        """Return one destination."""

    async def destinations(self, alert_id: str | None = None) -> Sequence[Destination]:
        """Return the destinations of an alert, or all."""

    async def delete_destination(
        self, destination_id: str, check: Callable[[Destination], None] = lambda _: None
    ) -> bool:
        """Delete a destination and its waiting deliveries; return whether there was one. `check` as in `delete`."""
