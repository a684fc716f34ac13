"""Publications in SQL. Feed readers need no key, so a token is looked up like a bin's."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import msgspec
from msgspec.structs import replace

from storage.records.identity import Seq
from storage.records.publication import Publication, Retraction
from storage.secrets import ADDRESSES, Vault
from storage.sql.writing import Store, Transaction, found, in_transaction, write_one

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
        if (before := found(transaction, _in(transaction.vault), _ONE, publication_id)) is None:
            return None
        changed = change(before)
        if changed != before:
            _put(transaction, changed)
        return changed

    async def by_hash(self, token_hash: str) -> Published | None:
        return await self._look_up(lambda body, count: Published(_decode(body), count), _BY_HASH, token_hash)

    async def get(self, publication_id: str) -> Publication | None:
        return await self._first(_in(self._vault), _ONE, publication_id)

    async def all(self) -> Sequence[Publication]:
        return await self._all(_in(self._vault), _ALL)

    @in_transaction(holds=lambda publication_id, *_: [("publication", publication_id), ("drops", "")])
    def delete(
        self, transaction: Transaction, publication_id: str, check: Callable[[Publication], None] = lambda _: None
    ) -> bool:
        """Delete a publication; return whether there was one. `check` as in `Alerts.delete`."""
        if (publication := found(transaction, _in(transaction.vault), _ONE, publication_id)) is not None:
            check(publication)
            transaction.execute("DELETE FROM publication WHERE id=?", (publication_id,))
        return publication is not None

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
        return await self._all(Retraction, _RETRACTED, after, before, limit)

    async def forget_retractions(self, upto: Seq, limit: int) -> int:
        """Delete at most `limit` retractions up to a position, which have left the log; return how many."""
        # Almost always there is none, and even a commit without changes costs a sync.
        there = await self._first(int, _ANY, upto)
        return 0 if there is None else await write_one(self._writer, _FORGET, upto, limit)


def _in(vault: Vault) -> Callable[..., Publication]:
    def made(body: bytes, box: bytes | None) -> Publication:
        record = _decode(body)
        return record if box is None else replace(record, token=vault.open(ADDRESSES.kind, record.id, box).decode())

    return made


def _put(transaction: Transaction, publication: Publication) -> None:
    token = publication.token
    box = None if token is None else transaction.vault.seal(ADDRESSES.kind, publication.id, token.encode())
    body = msgspec.json.encode(replace(publication, token=None))
    transaction.execute(_PUT, (publication.id, publication.token_hash, publication.created_at, body, box))
    # Another address is another topic: subscribers of the old one get nothing more.
    transaction.execute(_UNSUBSCRIBE, (publication.id, publication.token_hash))
