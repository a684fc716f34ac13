"""Alerts and destinations in memory."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from msgspec.structs import replace

from storage.interface import Lease
from storage.memory.disk import Apply, Disk
from storage.memory.writer import Writer
from storage.records.alert import Alert
from storage.records.destination import Destination


class MemoryAlerts:
    """See `storage.interface.Alerts`. A destination of an alert that is gone is not added."""

    def __init__(self, disk: Disk, writer: Writer, lease: Lease) -> None:
        self._disk, self._writer, self._lease = disk, writer, lease

    async def put(self, alert: Alert) -> None:
        """Add or replace an alert; see Alerts."""

        await self._commit(lambda: self._put(alert))

    async def edit(self, alert_id: str, change: Callable[[Alert], Alert]) -> Alert | None:
        """Change an alert as it is at this moment; see Alerts."""

        def job() -> tuple[Alert | None, Apply]:
            found = self._disk.alerts.get(alert_id)
            new = None if found is None else change(found)
            return new, lambda: None if new is None else self._put(new)

        return await self._writer.commit(self._lease, job)

    def _put(self, alert: Alert) -> None:
        old = self._disk.alerts.get(alert.id)
        if old is not None:
            alert = replace(alert, match_count=old.match_count, last_match_at=old.last_match_at)
        self._disk.alerts[alert.id] = alert

    async def get(self, alert_id: str) -> Alert | None:
        """Return one alert; see Alerts."""
        return self._disk.alerts.get(alert_id)

    async def all(self) -> Sequence[Alert]:
        """Return all alerts; see Alerts."""
        return sorted(self._disk.alerts.values(), key=lambda alert: (alert.created_at, alert.id))

    async def matched(self, alert_ids: Sequence[str], days: Sequence[int]) -> Mapping[str, Mapping[int, int]]:
        """Return what alerts have met on days; see Alerts."""
        known = {id: self._disk.matched.get(id, {}) for id in alert_ids}
        found = {id: {day: of[day] for day in days if day in of} for id, of in known.items()}
        return {id: of for id, of in found.items() if of}

    async def delete(self, alert_id: str, check: Callable[[Alert], None] = lambda _: None) -> bool:
        """Delete an alert with all that hangs on it; see Alerts."""

        def job() -> tuple[bool, Apply]:
            found = self._disk.alerts.get(alert_id)
            if found is not None:
                check(found)
            return found is not None, apply

        def apply() -> None:
            self._disk.matched.pop(alert_id, None)
            if self._disk.alerts.pop(alert_id, None) is not None:
                for destination in list(self._disk.destinations.values()):
                    if destination.alert_id == alert_id:
                        self._forget(destination.id)

        return await self._writer.commit(self._lease, job)

    async def put_destination(self, destination: Destination) -> None:
        """Add or replace a destination; see Alerts."""

        await self._commit(lambda: self._put_destination(destination))

    async def edit_destination(
        self, destination_id: str, change: Callable[[Destination], Destination]
    ) -> Destination | None:
        """Change a destination as it is at this moment; see Alerts."""

        def job() -> tuple[Destination | None, Apply]:
            found = self._disk.destinations.get(destination_id)
            new = None if found is None else change(found)
            return new, lambda: None if new is None else self._put_destination(new)

        return await self._writer.commit(self._lease, job)

    def _put_destination(self, destination: Destination) -> None:
        if destination.alert_id not in self._disk.alerts:
            return
        old = self._disk.destinations.get(destination.id)
        if old is not None:
            destination = replace(destination, last_delivery_at=old.last_delivery_at)
        self._disk.destinations[destination.id] = destination

    async def destination(self, destination_id: str) -> Destination | None:
        """Return one destination; see Alerts."""
        return self._disk.destinations.get(destination_id)

    async def destinations(self, alert_id: str | None = None) -> Sequence[Destination]:
        """Return destinations, oldest first; see Alerts."""
        all_of_them = sorted(self._disk.destinations.values(), key=lambda each: (each.created_at, each.id))
        return [each for each in all_of_them if alert_id is None or each.alert_id == alert_id]

    async def delete_destination(
        self, destination_id: str, check: Callable[[Destination], None] = lambda _: None
    ) -> bool:
        """Delete a destination with all that hangs on it; see Alerts."""

        def job() -> tuple[bool, Apply]:
            found = self._disk.destinations.get(destination_id)
            if found is not None:
                check(found)
            return found is not None, lambda: self._forget(destination_id)

        return await self._writer.commit(self._lease, job)

    def _forget(self, destination_id: str) -> None:
        self._disk.destinations.pop(destination_id, None)
        self._disk.outbox.pop(destination_id, None)
        self._disk.attempts.pop(destination_id, None)

    async def _commit(self, apply: Apply) -> None:
        await self._writer.commit(self._lease, lambda: (None, apply))
