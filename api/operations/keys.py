"""API keys, for faces that may create or revoke them. Keys are stored and logged; the plaintext is only returned."""

from __future__ import annotations

from collections.abc import Sequence

from actors.errors import NotFound
from actors.keys import BURST, RATE, new_key
from api.operations.context import OperationContext
from storage.records.key import ApiKey


async def make(
    call: OperationContext, name: str, scopes: Sequence[str], *, rate: int = RATE, burst: int = BURST
) -> tuple[str, ApiKey]:
    """Create and store a key; return its plaintext and its record. Raises KeyRefused."""
    world = call.context.world
    plaintext, key = new_key(name, scopes, entropy=world.entropy, now=world.now(), rate=rate, burst=burst)
    await call.context.storage.keys.add(key)
    world.log("keys.created", key=key.prefix, name=key.name, scopes=list(key.scopes))
    return plaintext, key


async def named(call: OperationContext, id: str) -> ApiKey:
    """Return a key. Raises NotFound."""
    for key in await call.context.storage.keys.all():
        if key.id == id:
            return key
    raise NotFound("There is no such key; it may have been deleted.")


async def revoke(call: OperationContext, id: str) -> ApiKey:
    """Delete a key and return it. The next request with it is refused. Raises NotFound."""
    key = await named(call, id)
    await call.context.storage.keys.revoke(key.id)
    call.context.world.log("keys.revoked", key=key.prefix, name=key.name)
    return key
