"""The store of idempotent calls."""

from __future__ import annotations

from collections.abc import Collection
from typing import Protocol

from storage.records.identity import Millis
from storage.records.session import KeptCall


class Calls(Protocol):
    """Calls with an Idempotency-Key."""

    async def begin(self, call: KeptCall, since: Millis, running: Collection[str] = ()) -> KeptCall:
        """Store a call unless one with its key began at `since` or later; return the stored one.

        A call without a response passes to `call.node`, unless it belongs to another member in `running`.
        """

    async def finish(self, key: str, answer: bytes) -> None:
        """Store the response of a call, unless the call was forgotten."""

    async def release(self, key: str) -> None:
        """Let any node run a call again under its id, because the run ended without a response."""

    async def forget(self, key: str) -> None:
        """Delete a call; the next one with its key counts as the first."""

    async def sweep(self, before: Millis, most: int, limit: int) -> int:
        """Delete up to `limit` of the oldest calls that began before `before` or are not among the newest `most`.

        Return how many.
        """
