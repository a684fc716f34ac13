"""The store of webhook bins."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from storage.records.bin import Bin, Capture, CapturePage
from storage.records.identity import Millis


class Bins(Protocol):
    """Webhook bins and their captures."""

    async def add(self, bin: Bin) -> None:
        """Add a bin."""

    async def by_token(self, token: str) -> Bin | None:
        """Return the bin with this token, expired or not. On the path of unauthenticated requests: microseconds."""

    async def get(self, bin_id: str) -> Bin | None:
        """Return one bin."""

    async def all(self) -> Sequence[Bin]:
        """Return all bins, oldest first."""

    async def delete(self, bin_id: str) -> bool:
        """Delete a bin with its captures; return whether there was one."""

    async def sweep(self, now: Millis, limit: int) -> int:
        """Delete at most `limit` expired bins with their captures; return how many."""

    async def capture(self, bin_id: str, capture: Capture, *, keep: int, room: int) -> bool:
        """Store a request to a bin; return whether the bin exists.

        The same transaction deletes the bin's oldest captures beyond `keep`, and the oldest of the heaviest bin while
        all weigh more than `room` bytes. Each bin keeps its newest capture, so no bin can empty another.
        """

    async def captures(self, bin_id: str, before: int | None, limit: int, size: int) -> CapturePage:
        """Return captures before a number, newest first: at most `limit` and `size` bytes, but at least one."""
