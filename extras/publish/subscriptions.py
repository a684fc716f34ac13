"""Subscriptions to the feeds of publications (WebSub): the records, and their store in SQL.

A subscription's table is among the product's, and its secret among the sealed ones.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from storage.records.identity import Millis, Seq
from storage.secrets.sealing import SUBSCRIPTIONS
from storage.secrets.vault import Vault
from storage.sql.storage import Storage
from storage.sql.transaction import Transaction, every_row, first_row, write_each

MOST_SUBSCRIPTIONS = 20_000


class Subscription(Struct, frozen=True):
    """token_hash: of the subscribed address. ending: the format. secret: signs its requests, None for none."""

    id: str
    publication: str
    token_hash: str
    ending: str
    callback: str
    created_at: Millis
    expires_at: Millis
    secret: str | None = None

    def __repr__(self) -> str:
        """Leave out the secret and the callback, which may grant access."""
        return f"Subscription({self.id!r})"


class Progress(NamedTuple):
    """cursor: up to it all is sent or given up. attempts: failures since. due_at: next. error: of the last, or ""."""

    id: str
    cursor: Seq
    attempts: int = 0
    due_at: Millis = Millis(0)
    error: str = ""


class Subscriber(NamedTuple):
    """A subscription and its progress."""

    subscription: Subscription
    progress: Progress


_decode_subscription = msgspec.json.Decoder(Subscription).decode
_READ = "SELECT body, sealed, id, cursor, attempts, due_at, error FROM subscription"
_ALL_SUBSCRIPTIONS = _READ + " ORDER BY id"
_SAME = _READ + " WHERE publication=? AND ending=? AND callback=?"
_STANDS = "SELECT 1 FROM publication WHERE id=? AND token_hash=?"
_ADD = """INSERT INTO subscription(
        id, publication, ending, callback, token_hash, body, sealed, cursor, attempts, due_at, error
    ) VALUES(?,?,?,?,?,?,?,?,0,0,'')"""
_RENEW = "UPDATE subscription SET body=?, sealed=? WHERE id=?"
_ADVANCE = "UPDATE subscription SET cursor=?, attempts=?, due_at=?, error=? WHERE id=?"
_Row = tuple[bytes, bytes | None, str, int, int, int, str]


class Subscriptions:
    """Subscriptions with their subscribers' progress. They are deleted with their publication's address."""

    def __init__(self, storage: Storage) -> None:
        self._writer, self._readers, self._vault = storage.writer, storage.readers, storage.vault

    async def put(self, subscription: Subscription, cursor: Seq) -> Subscriber | None:
        """Add events after `cursor`, or renew one's callback and feed; None if the address is gone."""

        def job(transaction: Transaction) -> Subscriber | None:
            where = (subscription.publication, subscription.ending, subscription.callback)
            if transaction.execute(_STANDS, (subscription.publication, subscription.token_hash)).fetchone() is None:
                return None
            row = transaction.execute(_SAME, where).fetchone()
            if row is None:
                body, box = _packed(subscription, transaction.vault)
                transaction.execute(_ADD, (subscription.id, *where, subscription.token_hash, body, box, cursor))
                return Subscriber(subscription, Progress(subscription.id, cursor))
            there = _subscriber(row, transaction.vault)
            renewed = replace(subscription, id=there.progress.id, created_at=there.subscription.created_at)
            transaction.execute(_RENEW, (*_packed(renewed, transaction.vault), renewed.id))
            return Subscriber(renewed, there.progress)

        return await self._writer.submit(job)

    async def end(self, ids: Sequence[str]) -> None:
        await write_each(self._writer, "DELETE FROM subscription WHERE id=?", [(id,) for id in sorted(ids)])

    async def all(self) -> Sequence[Subscriber]:
        return [_subscriber(row, self._vault) for row in await every_row(self._readers, _ALL_SUBSCRIPTIONS)]

    async def count(self, publication_id: str) -> int:
        query = "SELECT count(*) FROM subscription WHERE publication=?"
        return int((await first_row(self._readers, query, publication_id))[0])

    async def advance(self, steps: Sequence[Progress]) -> None:
        rows = [(step.cursor, step.attempts, step.due_at, step.error, step.id) for step in steps]
        await write_each(self._writer, _ADVANCE, rows)


def _packed(subscription: Subscription, vault: Vault) -> tuple[bytes, bytes | None]:
    secret = subscription.secret
    box = None if secret is None else vault.seal(SUBSCRIPTIONS.kind, subscription.id, secret.encode())
    return msgspec.json.encode(replace(subscription, secret=None)), box


def _subscriber(row: _Row, vault: Vault) -> Subscriber:
    body, box, id, cursor, attempts, due_at, error = row
    record = _decode_subscription(body)
    if box is not None:
        record = replace(record, secret=vault.open(SUBSCRIPTIONS.kind, id, box).decode())
    return Subscriber(record, Progress(id, Seq(cursor), attempts, Millis(due_at), error))
