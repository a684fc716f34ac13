"""OAuth apps, codes and grants in SQL.

A refresh token has two halves: the family finds the grant, the turn changes with each renewal. So a known family with
another turn is an old token, used again by a thief or by the robbed app: the grant ends for both (OAuth 2.1, 4.3.1).
An access token is the API key with the grant's id; it ends with the grant.
"""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from storage.records.grant import (
    CODE_KEPT,
    CODE_LIFE,
    FRESH_CLIENT,
    GRANT_LIFE,
    MOST_CLIENTS,
    UNUSED_CLIENT,
    OAuthClient,
    OAuthCode,
    OAuthGrant,
    RefreshToken,
)
from storage.records.identity import Millis
from storage.records.key import ApiKey
from storage.sql.stores.keys import insert_key
from storage.sql.transaction import Store, Transaction, every_row, first_row, in_transaction

_client = msgspec.json.Decoder(OAuthClient).decode
_code = msgspec.json.Decoder(OAuthCode).decode
_grant = msgspec.json.Decoder(OAuthGrant).decode
_PUT_CLIENT = """INSERT INTO oauth_client(id, ends_at, body) VALUES(?,?,?)
    ON CONFLICT(id) DO UPDATE SET body=excluded.body"""
_SWEEP_CLIENTS = "DELETE FROM oauth_client WHERE ends_at<=? AND id NOT IN (SELECT client FROM oauth_grant)"
_NEXT_TO_END = """SELECT id FROM oauth_client WHERE ends_at<=? AND id NOT IN (SELECT client FROM oauth_grant)
    ORDER BY ends_at, id LIMIT 1"""
_KEEP_CLIENT = "UPDATE oauth_client SET ends_at=? WHERE id=?"
_PUT_CODE = "INSERT INTO oauth_code(sha256, at, used, body) VALUES(?,?,0,?)"
_TAKE = "UPDATE oauth_code SET used=1 WHERE sha256=? AND used=0"
_SPEND = "UPDATE oauth_code SET used=2 WHERE sha256=? AND used=1"
_STALE = "SELECT id FROM oauth_grant WHERE at<=?"
_PUT_GRANT = "INSERT INTO oauth_grant(id, person, client, refresh, turn, at, body) VALUES(?,?,?,?,?,?,?)"
_LISTED = """SELECT g.body, k.last_used_at FROM oauth_grant g JOIN api_key k ON k.id=g.id
    WHERE g.at>? ORDER BY g.id"""
_BY_REFRESH = "SELECT body, turn, at FROM oauth_grant WHERE refresh=?"
_NEXT_TURN = "UPDATE oauth_grant SET turn=?, at=? WHERE id=? AND turn=?"
_RENEW = "UPDATE api_key SET sha256=?, body=? WHERE id=?"
_HAS_ACCESS = """SELECT 1 FROM person p JOIN membership m ON m.person=p.id AND m.space_id=1
    WHERE p.id=? AND p.disabled=0"""


class OAuth(Store):
    """Apps, codes and grants. The next call sees changes by other processes."""

    async def client(self, client_id: str) -> OAuthClient | None:
        row = await first_row(self._readers, "SELECT body FROM oauth_client WHERE id=?", client_id)
        return None if row is None else _client(row[0])

    @in_transaction()
    def put_client(self, transaction: Transaction, client: OAuthClient, now: Millis) -> bool:
        """Store an app; return whether there was room. The oldest one without consent gives way if it is not fresh."""
        transaction.execute(_SWEEP_CLIENTS, (now,))
        if transaction.execute("SELECT count(*) FROM oauth_client", ()).fetchone()[0] >= MOST_CLIENTS:
            oldest = transaction.execute(_NEXT_TO_END, (now + UNUSED_CLIENT - FRESH_CLIENT,)).fetchone()
            if oldest is None:
                return False
            transaction.execute("DELETE FROM oauth_client WHERE id=?", (oldest[0],))
        transaction.execute(_PUT_CLIENT, (client.id, now + UNUSED_CLIENT, msgspec.json.encode(client)))
        return True

    @in_transaction()
    def put_code(self, transaction: Transaction, code: OAuthCode) -> None:
        transaction.execute("DELETE FROM oauth_code WHERE at<=?", (code.at - CODE_KEPT,))
        for (grant_id,) in transaction.execute(_STALE, (code.at - GRANT_LIFE,)).fetchall():
            _end(transaction, grant_id)
        transaction.execute(_KEEP_CLIENT, (code.at + GRANT_LIFE, code.grant.client))
        transaction.execute(_PUT_CODE, (code.sha256, code.at, msgspec.json.encode(code)))

    @in_transaction()
    def take_code(self, transaction: Transaction, sha256: str, now: Millis) -> OAuthCode | None:
        """Use up a code and return it; None if it is unknown, too old, or used: then its grant ends."""
        row = transaction.execute("SELECT body FROM oauth_code WHERE sha256=?", (sha256,)).fetchone()
        if row is None:
            return None
        code = _code(row[0])
        if transaction.execute(_TAKE, (sha256,)).rowcount < 1:
            transaction.execute("DELETE FROM oauth_code WHERE sha256=?", (sha256,))
            _end(transaction, code.grant.id)
            return None
        return code if code.at > now - CODE_LIFE else None

    @in_transaction()
    def begin(self, transaction: Transaction, code: OAuthCode, refresh: RefreshToken, key: ApiKey) -> bool:
        """Store the grant of a taken code; False if the code was used twice or the person lost access."""
        taken = transaction.execute(_SPEND, (code.sha256,)).rowcount
        if taken < 1 or not _has_access(transaction, code.grant.person):
            return False
        grant = code.grant
        row = (grant.id, grant.person, grant.client, refresh.family, refresh.turn, key.created_at)
        transaction.execute(_PUT_GRANT, (*row, msgspec.json.encode(grant)))
        insert_key(transaction.connection, key)
        return True

    @in_transaction()
    def by_refresh(self, transaction: Transaction, refresh: RefreshToken, now: Millis) -> OAuthGrant | None:
        """Return the grant of a refresh token; None if it has ended. An old token ends it."""
        row = transaction.execute(_BY_REFRESH, (refresh.family,)).fetchone()
        if row is None:
            return None
        grant = _grant(row[0])
        if row[1] == refresh.turn and row[2] > now - GRANT_LIFE:
            return grant if _has_access(transaction, grant.person) else None
        _end(transaction, grant.id)
        return None

    @in_transaction()
    def renew(self, transaction: Transaction, grant: OAuthGrant, old: RefreshToken, turn: str, key: ApiKey) -> bool:
        """Replace a grant's tokens; return whether it was done. False: another was faster, and the grant ends."""
        done = transaction.execute(_NEXT_TURN, (turn, key.created_at, grant.id, old.turn)).rowcount > 0
        done = done and transaction.execute(_RENEW, (key.sha256, msgspec.json.encode(key), key.id)).rowcount > 0
        if not done:
            _end(transaction, grant.id)
        transaction.execute(_KEEP_CLIENT, (key.created_at + GRANT_LIFE, grant.client))
        return done

    async def grants(self, now: Millis) -> Sequence[OAuthGrant]:
        rows = await every_row(self._readers, _LISTED, now - GRANT_LIFE)
        return [msgspec.structs.replace(_grant(body), last_used_at=used) for body, used in rows]

    async def end(self, grant_id: str) -> bool:
        return await self._writer.submit(lambda transaction: _end(transaction, grant_id))


def _has_access(transaction: Transaction, person: str) -> bool:
    return not person or transaction.execute(_HAS_ACCESS, (person,)).fetchone() is not None


def _end(transaction: Transaction, grant_id: str) -> bool:
    if transaction.execute("DELETE FROM oauth_grant WHERE id=?", (grant_id,)).rowcount < 1:
        return False
    transaction.execute("DELETE FROM api_key WHERE id=?", (grant_id,))
    return True
