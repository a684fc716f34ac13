"""Webhook bins in memory."""

from __future__ import annotations

from collections.abc import Sequence

from storage.interface import Lease
from storage.memory.disk import Apply, Disk
from storage.memory.writer import Writer
from storage.records.bin import Bin, Capture, CapturePage, Kept
from storage.records.identity import Millis


class MemoryBins:
    """See `storage.interface.Bins`."""

    def __init__(self, disk: Disk, writer: Writer, lease: Lease) -> None:
        self._disk, self._writer, self._lease = disk, writer, lease

    async def add(self, bin: Bin) -> None:
        """Add a bin; see Bins."""

        def apply() -> None:
            self._disk.bins[bin.id] = bin
            self._disk.captures[bin.id] = []

        await self._writer.commit(self._lease, lambda: (None, apply))

    async def by_token(self, token: str) -> Bin | None:
        """Return the bin with this token; see Bins. Not a checkpoint."""
        return next((bin for bin in self._disk.bins.values() if bin.token == token), None)

    async def get(self, bin_id: str) -> Bin | None:
        """Return one bin; see Bins. Not a checkpoint."""
        return self._disk.bins.get(bin_id)

    async def all(self) -> Sequence[Bin]:
        """Return all bins; see Bins."""
        return sorted(self._disk.bins.values(), key=lambda bin: (bin.created_at, bin.id))

    async def delete(self, bin_id: str) -> bool:
        """Delete a bin with its captures; see Bins."""

        def job() -> tuple[bool, Apply]:
            return bin_id in self._disk.bins, lambda: self._forget([bin_id])

        return await self._writer.commit(self._lease, job)

    async def sweep(self, now: Millis, limit: int) -> int:
        """Delete bins that have expired; see Bins."""

        def job() -> tuple[int, Apply]:
            expired = [bin.id for bin in self._disk.bins.values() if bin.expires_at <= now][:limit]
            return len(expired), lambda: self._forget(expired)

        return await self._writer.commit(self._lease, job)

    async def capture(self, bin_id: str, capture: Capture, *, keep: int, room: int) -> bool:
        """Keep what a bin was sent; see Bins."""

        def apply() -> None:
            kept = self._disk.captures.get(bin_id)
            if kept is not None:
                number = 1 + max((it[-1].number for it in self._disk.captures.values() if it), default=0)
                kept.append(Kept(number, capture))
                del kept[:-keep]
                self._make_room(room)

        return await self._writer.commit(self._lease, lambda: (bin_id in self._disk.bins, apply))

    async def captures(self, bin_id: str, before: int | None, limit: int, size: int) -> CapturePage:
        """Return captures, newest first; see Bins."""
        found: list[Kept] = []
        for kept in reversed(self._disk.captures.get(bin_id, ())):
            if before is not None and kept.number >= before:
                continue
            if found and (len(found) == limit or kept.capture.weight > size):
                return CapturePage(found, more=True)
            size -= kept.capture.weight
            found.append(kept)
        return CapturePage(found, more=False)

    def _forget(self, bin_ids: Sequence[str]) -> None:
        for bin_id in bin_ids:
            self._disk.bins.pop(bin_id, None)
            self._disk.captures.pop(bin_id, None)

    def _make_room(self, room: int) -> None:
        everything = [kept for each in self._disk.captures.values() for kept in each]
        surplus = sum(kept.capture.weight for kept in everything) - room
        for oldest in sorted(everything):
            if surplus <= 0:
                return
            surplus -= oldest.capture.weight
            next(each for each in self._disk.captures.values() if oldest in each).remove(oldest)
