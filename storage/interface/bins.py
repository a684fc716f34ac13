"""The store of webhook bins."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from storage.records.bin import Bin, Capture, CapturePage
from storage.records.identity import Millis


class Bins(Protocol):
    """Webhook bins and what they captured."""

    async def add(self, bin: Bin) -> None:
        """Add a bin."""

    async def by_token(self, token: str) -> Bin | None:
        """Return the bin with this token, expired or not. On the path of strangers' requests: microseconds."""

    async def get(self, bin_id: str) -> Bin | None:
        """Return one bin."""

    async def all(self) -> Sequence[Bin]:
        """Return all bins, oldest first."""

    async def delete(self, bin_id: str) -> bool:
        """Delete a bin with its captures; return whether there was one."""

    async def sweep(self, now: Millis, limit: int) -> int:
        """Delete at most `limit` bins that have expired, with their captures; return how many went."""

    async def capture(self, bin_id: str, capture: Capture, *, keep: int, room: int) -> bool:
        """Keep what a bin was sent; return whether the bin is there.

        In one transaction the bin's oldest captures go beyond `keep`, and while all bins together weigh more than
        `room` bytes, the oldest of the bin that weighs most. Each bin keeps its newest, so that none empties another.
        """

    async def captures(self, bin_id: str, before: int | None, limit: int, size: int) -> CapturePage:
        """Return captures before a number, newest first: at most `limit`, and one or as many as weigh `size` bytes."""
