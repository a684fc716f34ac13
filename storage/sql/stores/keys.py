"""API keys and signing keys in SQL: for the server and for commands.

Every request checks its key, so `by_hash` is one indexed look-up, and nothing is cached: the next call refuses a key
that another process has revoked.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from typing import TypeVar

import msgspec

from storage.records.identity import Millis
from storage.records.key import ApiKey, Password, PublicKey, SetUpLink, SigningKey
from storage.records.person import Activity, Person, Role, allowed
from storage.secrets.sealing import SEEDS, Connection, keep_public
from storage.secrets.vault import Vault
from storage.sql.stores.accounts import ALWAYS, find_person, insert_activity
from storage.sql.stores.people import insert_link, read_password
from storage.sql.transaction import Store, Transaction, in_transaction, write_each

T = TypeVar("T")
_decode = msgspec.json.Decoder(ApiKey).decode
_BY_HASH = """SELECT k.body, k.last_used_at, m.role FROM api_key k
    LEFT JOIN person p ON p.id=k.person AND p.disabled=0 LEFT JOIN membership m ON m.person=p.id AND m.space_id=1
    WHERE k.sha256=? AND (k.person='' OR m.role IS NOT NULL)"""
_ALL = "SELECT body, last_used_at FROM api_key ORDER BY created_at, id"
_SIGNING = "SELECT key_id, seed, created_at, state FROM signing_key ORDER BY state, created_at DESC, key_id"
_PUBLIC = """SELECT key_id, x, created_at FROM public_key WHERE key_id NOT IN (SELECT key_id FROM signing_key)
    ORDER BY created_at, key_id"""
_PUT_PUBLIC = "INSERT INTO public_key(key_id, x, created_at) VALUES(?,?,?) ON CONFLICT DO NOTHING"
_FORGET_PUBLIC = "DELETE FROM public_key WHERE key_id=? AND key_id NOT IN (SELECT key_id FROM signing_key)"
_FIRST = """INSERT INTO signing_key(key_id, seed, created_at, state) SELECT ?, ?, ?, 'active'
    WHERE NOT EXISTS(SELECT 1 FROM signing_key) ON CONFLICT DO NOTHING"""
_ACTIVE = "SELECT key_id FROM signing_key WHERE state='active'"


class Keys(Store):
    """API keys and signing keys. The next call sees changes by other processes (commands)."""

    async def add(self, key: ApiKey) -> None:
        await self._writer.submit(lambda transaction: insert_key(transaction.connection, key))

    async def by_hash(self, sha256: str, now: Millis = ALWAYS) -> ApiKey | None:
        """Return the key unless revoked or expired, with its person's scopes. On the path of every request."""
        row = await self._readers.one(_BY_HASH, (sha256,))
        key = None if row is None else _key(row)
        return key if key is None or key.expires_at is None or key.expires_at > now else None

    async def all(self) -> Sequence[ApiKey]:
        return await self._readers.run(all_keys)

    async def revoke(self, key_id: str) -> bool:
        return await self._writer.submit(lambda transaction: delete_key(transaction.connection, key_id))

    async def touch(self, used: Mapping[str, Millis]) -> None:
        rows = [(at, key_id) for key_id, at in used.items()]
        await write_each(self._writer, "UPDATE api_key SET last_used_at=? WHERE id=?", rows)

    async def signing(self) -> Sequence[SigningKey]:
        return await self._readers.run(lambda connection: all_signing(connection, self._vault))

    async def active_signing(self) -> str | None:
        """Return the id of the active signing key. On the path of every batch of events: microseconds."""
        row = await self._readers.one(_ACTIVE)
        return None if row is None else str(row[0])

    async def add_signing(self, key: SigningKey) -> None:
        await self._writer.submit(lambda transaction: insert_signing(transaction.connection, key, self._vault))

    @in_transaction()
    def add_first_signing(self, transaction: Transaction, key: SigningKey) -> None:
        """Add a signing key as the active one unless there is one: of concurrent starts, one adds the first."""
        sealed = self._vault.seal(SEEDS.kind, key.key_id, key.seed)
        if transaction.execute(_FIRST, (key.key_id, sealed, key.created_at)).rowcount > 0:
            keep_public(transaction.connection, key.key_id, key.seed, key.created_at)

    async def public(self) -> Sequence[PublicKey]:
        """Return public keys, oldest first, of keys that are elsewhere or given up; they signed events in the log."""
        return await self._readers.run(all_public)

    async def add_public(self, keys: Sequence[PublicKey]) -> None:
        """Store public keys permanently; an existing one stays unchanged."""
        await write_each(self._writer, _PUT_PUBLIC, [(key.key_id, key.x, key.created_at) for key in keys])


class CommandKeys:
    """For a short-lived command. Synchronous. A running service sees each change at its next request or event."""

    def _run(self, act: Callable[[Connection], T]) -> T:
        raise NotImplementedError

    def signing(self) -> Sequence[SigningKey]:
        """Return all signing keys, the active one first. Raises NoKey."""
        raise NotImplementedError

    def add_signing(self, key: SigningKey) -> None:
        """Add a signing key as the active one. Raises NoKey."""
        raise NotImplementedError

    def add(self, key: ApiKey, done: Activity | None = None) -> None:
        def act(connection: Connection) -> None:
            insert_key(connection, key)
            if done is not None:
                insert_activity(connection, done)

        self._run(act)

    def person(self, text: str) -> Person | None:
        return self._run(lambda connection: find_person(connection, text))

    def all(self) -> Sequence[ApiKey]:
        return self._run(all_keys)

    def revoke(self, key_id: str, done: Activity | None = None) -> bool:
        def act(connection: Connection) -> bool:
            gone = delete_key(connection, key_id)
            if gone and done is not None:
                insert_activity(connection, done)
            return gone

        return self._run(act)

    def public(self) -> Sequence[PublicKey]:
        return self._run(all_public)

    def forget_public(self, key_id: str) -> bool:
        return self._run(lambda connection: connection.execute(_FORGET_PUBLIC, (key_id,)).rowcount > 0)

    def password(self) -> Password | None:
        return self._run(read_password)

    def offer(self, link: SetUpLink) -> None:
        self._run(lambda connection: insert_link(connection, link))


def insert_key(connection: Connection, key: ApiKey) -> None:
    insert = "INSERT INTO api_key(id, sha256, created_at, last_used_at, person, body) VALUES(?,?,?,?,?,?)"
    when = (key.created_at, key.last_used_at)
    connection.execute(insert, (key.id, key.sha256, *when, key.person, msgspec.json.encode(key)))


def delete_key(connection: Connection, key_id: str) -> bool:
    return connection.execute("DELETE FROM api_key WHERE id=?", (key_id,)).rowcount > 0


def all_keys(connection: Connection) -> Sequence[ApiKey]:
    return [key for row in connection.execute(_ALL).fetchall() if not (key := _key(row)).grant]


def all_signing(connection: Connection, vault: Vault) -> Sequence[SigningKey]:
    rows = connection.execute(_SIGNING).fetchall()
    return [SigningKey(id, vault.open(SEEDS.kind, id, seed), at, state) for id, seed, at, state in rows]


def all_public(connection: Connection) -> Sequence[PublicKey]:
    return [PublicKey(*row) for row in connection.execute(_PUBLIC).fetchall()]


def insert_signing(connection: Connection, key: SigningKey, vault: Vault) -> None:
    """Write a signing key as the active one and retire the others, inside the caller's transaction."""
    connection.execute("UPDATE signing_key SET state='retired'")
    insert = "INSERT INTO signing_key(key_id, seed, created_at, state) VALUES(?,?,?,'active')"
    connection.execute(insert, (key.key_id, vault.seal(SEEDS.kind, key.key_id, key.seed), key.created_at))
    keep_public(connection, key.key_id, key.seed, key.created_at)


@lru_cache(maxsize=1024)  # thousands of streams may hold one key
def _key(row: tuple[bytes, int | None] | tuple[bytes, int | None, Role | None]) -> ApiKey:
    key = _decode(row[0])
    used = None if row[1] is None else Millis(row[1])
    scopes = key.scopes if len(row) == 2 or row[2] is None else allowed(key.scopes, row[2])
    return msgspec.structs.replace(key, last_used_at=used, scopes=scopes)
