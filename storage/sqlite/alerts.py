"""Alerts and destinations on SQLite. What hangs on a row goes with it, by foreign keys."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence

import msgspec

from storage.interface import Lease
from storage.records.alert import Alert
from storage.records.destination import Destination
from storage.sqlite.readers import Readers
from storage.sqlite.writer import Transaction, Writer

_alert = msgspec.json.Decoder(Alert).decode
_destination = msgspec.json.Decoder(Destination).decode
_DESTINATIONS = "SELECT body FROM destination"

# An upsert, never INSERT OR REPLACE: that deletes the old row, and with it all that hangs on it.
_PUT_ALERT = """INSERT INTO alert(id, created_at, body) VALUES(?,?,?)
    ON CONFLICT(id) DO UPDATE SET created_at=excluded.created_at, body=excluded.body"""
_PUT_DESTINATION = """INSERT INTO destination(id, alert, created_at, body) SELECT ?, id, ?, ? FROM alert WHERE id=?
    ON CONFLICT(id) DO UPDATE SET alert=excluded.alert, created_at=excluded.created_at, body=excluded.body"""


class SqliteAlerts:
    """See `storage.interface.Alerts`. A destination of an alert that is gone is not added."""

    def __init__(self, writer: Writer, readers: Readers, lease: Lease) -> None:
        self._writer, self._readers, self._lease = writer, readers, lease

    async def put(self, alert: Alert) -> None:
        """Add or replace an alert; see Alerts."""
        await self._write(_PUT_ALERT, alert.id, alert.created_at, msgspec.json.encode(alert))

    async def get(self, alert_id: str) -> Alert | None:
        """Return one alert; see Alerts."""
        rows = await self._read("SELECT body FROM alert WHERE id=?", alert_id)
        return _alert(rows[0]) if rows else None

    async def all(self) -> Sequence[Alert]:
        """Return all alerts; see Alerts."""
        return [_alert(body) for body in await self._read("SELECT body FROM alert ORDER BY created_at, id")]

    async def delete(self, alert_id: str) -> bool:
        """Delete an alert with all that hangs on it; see Alerts."""
        return await self._write("DELETE FROM alert WHERE id=?", alert_id)

    async def put_destination(self, destination: Destination) -> None:
        """Add or replace a destination; see Alerts."""
        body = msgspec.json.encode(destination)
        await self._write(_PUT_DESTINATION, destination.id, destination.created_at, body, destination.alert_id)

    async def destination(self, destination_id: str) -> Destination | None:
        """Return one destination; see Alerts."""
        rows = await self._read(_DESTINATIONS + " WHERE id=?", destination_id)
        return _destination(rows[0]) if rows else None

    async def destinations(self, alert_id: str | None = None) -> Sequence[Destination]:
        """Return destinations, oldest first; see Alerts."""
        which, parameters = ("", ()) if alert_id is None else (" WHERE alert=?", (alert_id,))
        bodies = await self._read(_DESTINATIONS + which + " ORDER BY created_at, id", *parameters)
        return [_destination(body) for body in bodies]

    async def delete_destination(self, destination_id: str) -> bool:
        """Delete a destination with all that hangs on it; see Alerts."""
        return await self._write("DELETE FROM destination WHERE id=?", destination_id)

    async def _write(self, statement: str, *parameters: object) -> bool:
        """Run one statement in the next transaction; return whether it changed a row."""

        def job(transaction: Transaction) -> bool:
            transaction.fence(self._lease)
            return transaction.execute(statement, parameters).rowcount > 0

        return await self._writer.submit(job)

    async def _read(self, query: str, *parameters: object) -> Sequence[bytes]:
        def look(connection: sqlite3.Connection) -> Sequence[bytes]:
            return [body for (body,) in connection.execute(query, parameters).fetchall()]

        return await self._readers.run(look)
