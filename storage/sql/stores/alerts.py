"""Alerts and destinations in SQL. Foreign keys delete dependent rows."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import msgspec
from msgspec.structs import replace

from storage.errors import DestinationMoved
from storage.records.alert import Alert
from storage.records.destination import Destination, Private, Secret
from storage.records.identity import Millis, Seq
from storage.secrets import PRIVATE, SECRETS, Connection, Vault
from storage.sql.writing import REVISES, Store, Transaction, found, in_transaction, read_only

_decode_alert = msgspec.json.Decoder(Alert).decode
_decode_destination = msgspec.json.Decoder(Destination).decode
_decode_secrets = msgspec.json.Decoder(tuple[Secret, ...]).decode
_decode_private = msgspec.json.Decoder(dict[str, Private]).decode
_REVISION = "SELECT value FROM fact WHERE name='alerts'"
_ALERTS = "SELECT body, match_count, last_match_at FROM alert"
_MATCHED = "SELECT events FROM matched_day WHERE day=? AND alert=?"
_DESTINATIONS = "SELECT body, sealed, private, last_delivery_at FROM destination"

# An upsert, never INSERT OR REPLACE: that would delete the old row with all rows that depend on it. Counters that have
# their own columns are written only by an insert.
_PUT_ALERT = """INSERT INTO alert(id, created_at, body, match_count, last_match_at) VALUES(?,?,?,?,?)
    ON CONFLICT(id) DO UPDATE SET created_at=excluded.created_at, body=excluded.body"""
_PUT_DESTINATION = """INSERT INTO destination(id, alert, created_at, body, sealed, private, last_delivery_at)
    SELECT ?, id, ?, ?, ?, ?, ? FROM alert WHERE id=?
    ON CONFLICT(id) DO UPDATE SET alert=excluded.alert, created_at=excluded.created_at, body=excluded.body,
    sealed=excluded.sealed, private=excluded.private"""


class Alerts(Store):
    """Alerts and their destinations. Counters of their work are set when a record is added, later only by `Outbox`."""

    @in_transaction(holds=lambda alert: [("alert", alert.id), REVISES])
    def put(self, transaction: Transaction, alert: Alert) -> None:
        transaction.execute(_PUT_ALERT, _alert_row(alert))
        revise(transaction)

    @in_transaction(holds=lambda alert_id, _: [("alert", alert_id), REVISES])
    def edit(self, transaction: Transaction, alert_id: str, change: Callable[[Alert], Alert]) -> Alert | None:
        """Replace an alert with the result of `change`, in one transaction; return the new one, None if unknown.
        `change` is pure and may run in a thread. Concurrent edits run one after the other. If `change` raises, so does
        this, and nothing changes.
        """
        if (before := found(transaction, _alert, _ALERTS + " WHERE id=?", alert_id)) is None:
            return None
        changed = change(before)
        transaction.execute(_PUT_ALERT, _alert_row(changed))
        revise(transaction)
        return changed

    async def revision(self) -> int:
        """Return the number of writes that affect matching or delivery, without notes of a destination's deliveries."""
        return int((await self._readers.one(_REVISION))[0])

    async def changed_at(self) -> Seq:
        """Return the log's newest position when the revision last rose; the previous revision applies up to there."""
        return await self._readers.run(changed_at)

    async def get(self, alert_id: str) -> Alert | None:
        return await self._look_up(_alert, _ALERTS + " WHERE id=?", alert_id)

    async def all(self) -> Sequence[Alert]:
        return await self._all(_alert, _ALERTS + " ORDER BY created_at, id")

    @read_only
    def matched(
        self, connection: Connection, alert_ids: Sequence[str], days: Sequence[int]
    ) -> Mapping[str, Mapping[int, int]]:
        """Return the events matched by alert and UTC day (since 1970), zeros absent, for the newest `KEPT_DAYS`."""
        by_alert: dict[str, dict[int, int]] = {}
        for id in alert_ids:
            for day in days:
                if (events := found(connection, int, _MATCHED, day, id)) is not None:
                    by_alert.setdefault(id, {})[day] = events
        return by_alert

    @in_transaction(holds=lambda alert_id, *_: [("alert", alert_id), ("drops", alert_id), REVISES])
    def delete(self, transaction: Transaction, alert_id: str, check: Callable[[Alert], None] = lambda _: None) -> bool:
        """Delete an alert with its destinations and deliveries; return whether it was there. `check` may raise."""
        if (alert := found(transaction, _alert, _ALERTS + " WHERE id=?", alert_id)) is not None:
            check(alert)
            transaction.execute("DELETE FROM alert WHERE id=?", (alert_id,))
            revise(transaction)
        return alert is not None

    @in_transaction(holds=lambda new: [("alert", new.alert_id), ("destination", new.id), REVISES])
    def put_destination(self, transaction: Transaction, destination: Destination) -> None:
        put_destination(transaction, destination)

    @in_transaction(holds=lambda destination_id, _: [("destination", destination_id), REVISES])
    def edit_destination(
        self, transaction: Transaction, destination_id: str, change: Callable[[Destination], Destination]
    ) -> Destination | None:
        return change_destination(transaction, destination_id, change)

    async def destination(self, destination_id: str) -> Destination | None:
        return await self._look_up(_destination_in(self._vault), _DESTINATIONS + " WHERE id=?", destination_id)

    async def destinations(self, alert_id: str | None = None) -> Sequence[Destination]:
        read = _destination_in(self._vault)
        if alert_id is None:
            return await self._all(read, _DESTINATIONS + " ORDER BY created_at, id")
        return await self._all(read, _DESTINATIONS + " WHERE alert=? ORDER BY created_at, id", alert_id)

    @in_transaction(holds=lambda destination_id, *_: [("destination", destination_id), ("drops", ""), REVISES])
    def delete_destination(
        self, transaction: Transaction, destination_id: str, check: Callable[[Destination], None] = lambda _: None
    ) -> bool:
        """Delete a destination and its waiting deliveries; return whether there was one. `check` as in `delete`."""
        if (destination := _stored(transaction, destination_id)) is not None:
            check(destination)
            transaction.execute("DELETE FROM destination WHERE id=?", (destination_id,))
            revise(transaction)
        return destination is not None


def put_destination(transaction: Transaction, destination: Destination) -> None:
    transaction.execute(_PUT_DESTINATION, _destination_row(destination, transaction.vault))
    revise(transaction)


def change_destination(
    transaction: Transaction, destination_id: str, change: Callable[[Destination], Destination]
) -> Destination | None:
    if (before := _stored(transaction, destination_id)) is None:
        return None
    changed = change(before)
    transaction.execute(_PUT_DESTINATION, _destination_row(changed, transaction.vault))
    if _schedule_of(changed) != _schedule_of(before):
        revise(transaction)
    return changed


def expect(transaction: Transaction, known: Destination) -> None:
    destination = _stored(transaction, known.id)
    if destination is None or not destination.is_as(known):
        raise DestinationMoved(known.id)


def revise(transaction: Transaction) -> None:
    transaction.execute("UPDATE fact SET value=value+1 WHERE name='alerts'")
    transaction.execute("UPDATE fact SET value=(SELECT coalesce(max(seq), 0) FROM log) WHERE name='alerts_at'")


def changed_at(connection: Connection) -> Seq:
    (seq,) = connection.execute("SELECT value FROM fact WHERE name='alerts_at'").fetchone()
    return Seq(seq)


def _schedule_of(destination: Destination) -> tuple[object, ...]:
    """Return the parts of a destination that affect delivery: the user's settings, and whether it is disabled."""
    return destination.updated_at, destination.secrets, destination.enabled, destination.state == "disabled"


def clear_notice(transaction: Transaction, debtor: str, is_owed: Callable[[str | None], bool]) -> bool:
    """Clear a destination's owed notice if `is_owed` accepts it; return whether it did."""
    destination = _stored(transaction, debtor)
    if destination is None or not is_owed(destination.owes):
        return False
    change_destination(transaction, debtor, lambda it: replace(it, owes=None))
    return True


def _alert(body: bytes, match_count: int, last_match_at: Millis | None) -> Alert:
    return replace(_decode_alert(body), match_count=match_count, last_match_at=last_match_at)


def _alert_row(alert: Alert) -> tuple[object, ...]:
    return alert.id, alert.created_at, msgspec.json.encode(alert), alert.match_count, alert.last_match_at


def _stored(transaction: Transaction, id: str) -> Destination | None:
    return found(transaction, _destination_in(transaction.vault), _DESTINATIONS + " WHERE id=?", id)


def _destination_in(vault: Vault) -> Callable[..., Destination]:
    def made(body: bytes, sealed: bytes | None, box: bytes | None, last_delivery_at: Millis | None) -> Destination:
        record = _decode_destination(body)
        secrets = _decode_secrets(vault.open(SECRETS.kind, record.id, sealed or b""))
        private = {} if box is None else _decode_private(vault.open(PRIVATE.kind, record.id, box))
        return replace(record, secrets=secrets, private=private, last_delivery_at=last_delivery_at)

    return made


def _destination_row(destination: Destination, vault: Vault) -> tuple[object, ...]:
    body = msgspec.json.encode(replace(destination, secrets=(), private={}))
    sealed = vault.seal(SECRETS.kind, destination.id, msgspec.json.encode(destination.secrets))
    private = msgspec.json.encode(destination.private) if destination.private else None
    box = None if private is None else vault.seal(PRIVATE.kind, destination.id, private)
    return destination.id, destination.created_at, body, sealed, box, destination.last_delivery_at, destination.alert_id
