"""The store of calls that may be repeated."""

from __future__ import annotations

from collections.abc import Collection
from typing import Protocol

from storage.records.identity import Millis
from storage.records.kept_call import KeptCall


class Calls(Protocol):
    """Calls that their clients may repeat (Idempotency-Key)."""

    async def begin(self, call: KeptCall, since: Millis, running: Collection[str] = ()) -> KeptCall:
        """Note a call, unless one of its key has begun at `since` or later; return the one that stands.

        One without an answer becomes that of `call.node`, unless it is the call of another member in `running`.
        """

    async def finish(self, key: str, answer: bytes) -> None:
        """Keep the answer of a call. One that was forgotten meanwhile stays so."""

    async def release(self, key: str) -> None:
        """Let any node run a call once more, under its id: the run ended without an answer."""

    async def forget(self, key: str) -> None:
        """Forget a call: the next one of its key is the first."""

    async def sweep(self, before: Millis, most: int, limit: int) -> int:
        """Delete up to `limit` of the oldest that began before `before`, or are not among the newest `most`.

        Returns how many went.
        """
