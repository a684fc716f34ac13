"""The key for push services (VAPID, RFC 8292). Its table is among the product's, its secret among the sealed ones."""

from __future__ import annotations

from msgspec import Struct

from storage.records.identity import Millis
from storage.secrets import PUSH
from storage.sql.storage import Storage
from storage.sql.writing import first_row, write_one

_FIND = "SELECT public, sealed, created_at FROM push_key"
_FIRST = "INSERT INTO push_key(one, public, sealed, created_at) VALUES(1,?,?,?) ON CONFLICT DO NOTHING"


class PushKey(Struct, frozen=True):
    """A P-256 key pair. `public`: the uncompressed point, base64url, as browsers get it. `secret`: 32 bytes."""

    public: str
    secret: bytes
    created_at: Millis

    def __repr__(self) -> str:
        return f"PushKey({self.public!r})"


async def push_key(storage: Storage) -> PushKey | None:
    row = await first_row(storage.readers, _FIND)
    return None if row is None else PushKey(row[0], storage.vault.open(PUSH.kind, row[0], row[1]), row[2])


async def add_first_key(storage: Storage, key: PushKey) -> None:
    """Add that key unless there is one: of concurrent callers, one adds it."""
    sealed = storage.vault.seal(PUSH.kind, key.public, key.secret)
    await write_one(storage.writer, _FIRST, key.public, sealed, key.created_at)
