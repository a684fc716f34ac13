"""Publications in SQL. Feed readers need no key, so a token is looked up like a bin's."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import msgspec
from msgspec.structs import replace

from storage.records.identity import Seq
from storage.records.publication import Publication, Retraction
from storage.secrets import ADDRESSES, Vault
from storage.sql.writing import Store, Transaction, every_row, first_row, in_transaction, write_one

_decode = msgspec.json.Decoder(Publication).decode
_ONE = "SELECT body, sealed FROM publication WHERE id=?"
_ALL = "SELECT body, sealed FROM publication ORDER BY created_at, id"
_BY_HASH = "SELECT body, (SELECT value FROM fact WHERE name='retractions') FROM publication WHERE token_hash=?"
_PUT = """INSERT INTO publication(id, token_hash, created_at, body, sealed) VALUES(?,?,?,?,?)
    ON CONFLICT(id) DO UPDATE SET token_hash=excluded.token_hash, body=excluded.body, sealed=excluded.sealed"""
_UNSUBSCRIBE = "DELETE FROM subscription WHERE publication=? AND token_hash<>?"
_RETRACT = "INSERT INTO retraction(seq, event, at) VALUES(?,?,?) ON CONFLICT DO NOTHING"
_RETRACTED = "SELECT seq, event, at FROM retraction WHERE seq>? AND seq<? ORDER BY seq DESC LIMIT ?"
_COUNTED = "UPDATE fact SET value=value+1 WHERE name='retractions'"
_ANY = "SELECT 1 FROM retraction WHERE seq<=? LIMIT 1"
_FORGET = "DELETE FROM retraction WHERE seq IN (SELECT seq FROM retraction WHERE seq<=? ORDER BY seq LIMIT ?)"


class Published(NamedTuple):
    """A publication. retractions: rises with each retraction or restoration of any event."""

    publication: Publication
    retractions: int


class Publications(Store):
    """Publications, and retracted events."""

    async def put(self, publication: Publication) -> None:
        await self._writer.submit(lambda transaction: _put(transaction, publication))

    @in_transaction(holds=lambda publication_id, _: [("publication", publication_id)])
    def edit(
        self, transaction: Transaction, publication_id: str, change: Callable[[Publication], Publication]
    ) -> Publication | None:
        """Replace a publication with the result of `change`, in one transaction, like `Alerts.edit`."""
        row = transaction.execute(_ONE, (publication_id,)).fetchone()
        if row is None:
            return None
        before = _publication(row, transaction.vault)
        changed = change(before)
        if changed != before:
            _put(transaction, changed)
        return changed

    async def by_hash(self, token_hash: str) -> Published | None:
        row = await self._readers.one(_BY_HASH, (token_hash,))
        return None if row is None else Published(_decode(row[0]), row[1])

    async def get(self, publication_id: str) -> Publication | None:
        row = await first_row(self._readers, _ONE, publication_id)
        return None if row is None else _publication(row, self._vault)

    async def all(self) -> Sequence[Publication]:
        return [_publication(row, self._vault) for row in await every_row(self._readers, _ALL)]

    @in_transaction(holds=lambda publication_id, *_: [("publication", publication_id), ("drops", "")])
    def delete(
        self, transaction: Transaction, publication_id: str, check: Callable[[Publication], None] = lambda _: None
    ) -> bool:
        """Delete a publication; return whether there was one. `check` as in `Alerts.delete`."""
        row = transaction.execute(_ONE, (publication_id,)).fetchone()
        if row is None:
            return False
        check(_publication(row, transaction.vault))
        transaction.execute("DELETE FROM publication WHERE id=?", (publication_id,))
        return True

    @in_transaction(holds=lambda _: [("fact", "retractions")])
    def retract(self, transaction: Transaction, retraction: Retraction) -> None:
        """Stop publishing an event; the first time counts."""
        if transaction.execute(_RETRACT, retraction).rowcount:
            transaction.execute(_COUNTED, ())

    @in_transaction(holds=lambda _: [("fact", "retractions")])
    def restore(self, transaction: Transaction, seq: Seq) -> None:
        if transaction.execute("DELETE FROM retraction WHERE seq=?", (seq,)).rowcount:
            transaction.execute(_COUNTED, ())

    async def retracted(self, after: Seq, before: Seq, limit: int) -> Sequence[Retraction]:
        """Return retracted events between two positions, both excluded, newest first."""
        return [Retraction(*row) for row in await every_row(self._readers, _RETRACTED, after, before, limit)]

    async def forget_retractions(self, upto: Seq, limit: int) -> int:
        # Almost always there is none, and even a commit without changes costs a sync.
        there = await first_row(self._readers, _ANY, upto)
        return 0 if there is None else await write_one(self._writer, _FORGET, upto, limit)


def _publication(row: tuple[bytes, bytes | None], vault: Vault) -> Publication:
    record = _decode(row[0])
    return record if row[1] is None else replace(record, token=vault.open(ADDRESSES.kind, record.id, row[1]).decode())


def _put(transaction: Transaction, publication: Publication) -> None:
    token = publication.token
    box = None if token is None else transaction.vault.seal(ADDRESSES.kind, publication.id, token.encode())
    body = msgspec.json.encode(replace(publication, token=None))
    transaction.execute(_PUT, (publication.id, publication.token_hash, publication.created_at, body, box))
    # Another address is another topic: subscribers of the old one get nothing more.
    transaction.execute(_UNSUBSCRIBE, (publication.id, publication.token_hash))
