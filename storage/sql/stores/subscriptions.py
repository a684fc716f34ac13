"""Subscriptions to published feeds in SQL."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec
from msgspec.structs import replace

from storage.records.identity import Millis, Seq
from storage.records.publication import Progress, Subscriber, Subscription
from storage.secrets.connection import Connection
from storage.secrets.sealing import SUBSCRIPTIONS
from storage.secrets.vault import Vault
from storage.sql.transaction import Readers, Transaction, Writer

_decode = msgspec.json.Decoder(Subscription).decode
_READ = "SELECT body, sealed, id, cursor, attempts, due_at, error FROM subscription"
_ALL = _READ + " ORDER BY id"
_SAME = _READ + " WHERE publication=? AND ending=? AND callback=?"
_STANDS = "SELECT 1 FROM publication WHERE id=? AND token_hash=?"
_ADD = """INSERT INTO subscription(
        id, publication, ending, callback, token_hash, body, sealed, cursor, attempts, due_at, error
    ) VALUES(?,?,?,?,?,?,?,?,0,0,'')"""
_RENEW = "UPDATE subscription SET body=?, sealed=? WHERE id=?"
_ADVANCE = "UPDATE subscription SET cursor=?, attempts=?, due_at=?, error=? WHERE id=?"
Row = tuple[bytes, bytes | None, str, int, int, int, str]


class SqlSubscriptions:
    """See `storage.interface.Subscriptions`."""

    def __init__(self, writer: Writer, readers: Readers, vault: Vault) -> None:
        self._writer, self._readers, self._vault = writer, readers, vault

    async def put(self, subscription: Subscription, cursor: Seq) -> Subscriber | None:
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
        def job(transaction: Transaction) -> None:
            for id in ids:
                transaction.execute("DELETE FROM subscription WHERE id=?", (id,))

        await self._writer.submit(job)

    async def all(self) -> Sequence[Subscriber]:
        def look(connection: Connection) -> Sequence[Subscriber]:
            return [_subscriber(row, self._vault) for row in connection.execute(_ALL)]

        return await self._readers.run(look)

    async def count(self, publication_id: str) -> int:
        query = "SELECT count(*) FROM subscription WHERE publication=?"
        row: tuple[int] = await self._readers.run(lambda c: c.execute(query, (publication_id,)).fetchone())
        return row[0]

    async def advance(self, steps: Sequence[Progress]) -> None:
        def job(transaction: Transaction) -> None:
            for step in steps:
                transaction.execute(_ADVANCE, (step.cursor, step.attempts, step.due_at, step.error, step.id))

        await self._writer.submit(job)


def _packed(subscription: Subscription, vault: Vault) -> tuple[bytes, bytes | None]:
    """Return a subscription's body, and its sealed secret."""
    secret = subscription.secret
    box = None if secret is None else vault.seal(SUBSCRIPTIONS.kind, subscription.id, secret.encode())
    return msgspec.json.encode(replace(subscription, secret=None)), box


def _subscriber(row: Row, vault: Vault) -> Subscriber:
    body, box, id, cursor, attempts, due_at, error = row
    record = _decode(body)
    if box is not None:
        record = replace(record, secret=vault.open(SUBSCRIPTIONS.kind, id, box).decode())
    return Subscriber(record, Progress(id, Seq(cursor), attempts, Millis(due_at), error))
