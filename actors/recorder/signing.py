"""The signing keys of a running service: the active one, and the published ones.

`sanderling keys rotate-signing` runs in another process and only writes to the data folder. So each batch of events
and each request for the JWK Set first reads the id of the active key, which takes microseconds. Both read the same
storage, so a key is never used before it is published.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from actors.egress.http import Sign
from actors.egress.url import Url
from actors.signatures.event import Signer, jwks, new_signing_key
from actors.signatures.message import MessageSigner, content_digest, directory
from actors.world import World
from storage.records.key import PublicKey, SigningKey
from storage.sql.storage import Storage


class Directory(NamedTuple):
    """The published keys for signed requests, and the headers that prove their publisher."""

    body: bytes
    headers: dict[str, str]


class SigningKeys:
    """The keys as last read, the active one first; there is at least one. Keys with only a public half, of an import or
    a lost master key, are read for each request, as a command deletes them.
    """

    def __init__(self, storage: Storage, keys: Sequence[SigningKey]) -> None:
        self._storage = storage
        self._others: Sequence[PublicKey] = ()
        self._hold(keys)

    def _hold(self, keys: Sequence[SigningKey]) -> None:
        self._keys = keys
        self._signer = Signer(keys[0])
        self._messages = [MessageSigner(key) for key in keys]
        self._published: bytes | None = None

    async def signer(self) -> Signer:
        """Return the signer with the active key. Raises StorageError."""
        await self._refresh()
        return self._signer

    async def published(self) -> bytes:
        """Return all keys, including those without a private half, as an encoded JWK Set. Raises StorageError."""
        await self._refresh()
        others = await self._storage.keys.public()
        if others != self._others:
            self._others, self._published = others, None
        if self._published is None:
            self._published = jwks(self._keys, self._others)
        return self._published

    async def directory(self, authority: str, at: int) -> Directory:
        """Return an authority's key directory (Web Bot Auth), signed; at: s since 1970. Raises StorageError."""
        await self._refresh()
        body = directory(self._messages)
        digest = content_digest(body)
        proof = self._messages[0].sign_directory(authority, digest, at)
        return Directory(body, {"Content-Digest": digest, **dict(proof)})

    async def _refresh(self) -> None:
        active = await self._storage.keys.active_signing()
        if active is not None and active != self._signer.key_id:
            self._hold(await self._storage.keys.signing())

    def signer_of_checks(self, world: World, agent: str) -> Sign:
        async def sign(method: str, url: Url) -> Sequence[tuple[str, str]]:
            await self._refresh()
            path = url.target.partition("?")[0]
            return self._messages[0].sign_request(method, url.authority, path, agent, int(world.wall()))

        return sign


async def signing_keys(world: World, storage: Storage) -> Sequence[SigningKey]:
    """Return the signing keys, the active one first; the very first start makes one."""
    keys = await storage.keys.signing()
    if not keys:
        await storage.keys.add_first_signing(new_signing_key(world.entropy(32), world.now()))
        keys = await storage.keys.signing()
    return keys
