"""API keys and signing keys in memory."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import msgspec

from storage.interface import Lease
from storage.memory.disk import Apply, Disk
from storage.memory.writer import Writer
from storage.records.identity import Millis
from storage.records.key import ApiKey, PublicKey, SigningKey


class MemoryKeys:
    """See `storage.interface.Keys`."""

    def __init__(self, disk: Disk, writer: Writer, lease: Lease) -> None:
        self._disk, self._writer, self._lease = disk, writer, lease

    async def add(self, key: ApiKey) -> None:
        """Add an API key; see Keys."""

        def apply() -> None:
            self._disk.keys[key.id] = key
            self._disk.hashes[key.sha256] = key.id

        await self._commit(apply)

    async def by_hash(self, sha256: str) -> ApiKey | None:
        """Return the key with this hash; see Keys. Not a checkpoint."""
        key_id = self._disk.hashes.get(sha256)
        return None if key_id is None else self._disk.keys[key_id]

    async def all(self) -> Sequence[ApiKey]:
        """Return all keys; see Keys."""
        return sorted(self._disk.keys.values(), key=lambda key: (key.created_at, key.id))

    async def revoke(self, key_id: str) -> bool:
        """Delete a key; see Keys."""

        def job() -> tuple[bool, Apply]:
            def apply() -> None:
                key = self._disk.keys.pop(key_id, None)
                if key is not None:
                    del self._disk.hashes[key.sha256]

            return key_id in self._disk.keys, apply

        return await self._writer.commit(self._lease, job)

    async def touch(self, used: Mapping[str, Millis]) -> None:
        """Record when keys were last used; see Keys."""
        marks = dict(used)

        def apply() -> None:
            for key_id, at in marks.items():
                key = self._disk.keys.get(key_id)
                if key is not None:
                    self._disk.keys[key_id] = msgspec.structs.replace(key, last_used_at=at)

        await self._commit(apply)

    async def signing(self) -> Sequence[SigningKey]:
        """Return all signing keys; see Keys."""
        return sorted(self._disk.signing, key=lambda key: (key.state, -key.created_at, key.key_id))

    async def active_signing(self) -> str | None:
        """Return the active one's id; see Keys. Not a checkpoint."""
        return next((key.key_id for key in self._disk.signing if key.state == "active"), None)

    async def add_signing(self, key: SigningKey) -> None:
        """Add the active signing key; see Keys."""

        def apply() -> None:
            retired = [msgspec.structs.replace(old, state="retired") for old in self._disk.signing]
            self._disk.signing[:] = [*retired, msgspec.structs.replace(key, state="active")]

        await self._commit(apply)

    async def public(self) -> Sequence[PublicKey]:
        """Return the public halves of keys that are not here; see Keys."""
        own = {key.key_id for key in self._disk.signing}
        others = (key for key in self._disk.public.values() if key.key_id not in own)
        return sorted(others, key=lambda key: (key.created_at, key.key_id))

    async def add_public(self, keys: Sequence[PublicKey]) -> None:
        """Keep public halves of keys that are not here; see Keys."""
        new = {key.key_id: key for key in reversed(keys)}
        await self._commit(lambda: self._disk.public.update(new | self._disk.public))

    async def _commit(self, apply: Apply) -> None:
        await self._writer.commit(self._lease, lambda: (None, apply))
