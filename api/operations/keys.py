"""API keys, for any face that may make them: made, stored, told to the log; the plaintext is only returned."""

from __future__ import annotations

from collections.abc import Sequence

from actors.keys import BURST, RATE, new_key
from api.operations.context import OperationContext
from storage.records.key import ApiKey


async def make(
    call: OperationContext, name: str, scopes: Sequence[str], *, rate: int = RATE, burst: int = BURST
) -> tuple[str, ApiKey]:
    """Make and store a key; return its plaintext and its record. Raises KeyRefused."""
    world = call.context.world
    plaintext, key = new_key(name, scopes, entropy=world.entropy, now=world.now(), rate=rate, burst=burst)
    await call.context.storage.keys.add(key)
    world.log("keys.created", key=key.prefix, name=key.name, scopes=list(key.scopes))
    return plaintext, key
