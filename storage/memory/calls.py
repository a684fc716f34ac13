"""Calls that may be repeated, in memory."""

from __future__ import annotations

from msgspec.structs import replace

from storage.interface import Lease
from storage.memory.disk import Apply, Disk
from storage.memory.writer import Writer
from storage.records.identity import Millis
from storage.records.kept_call import KeptCall


class MemoryCalls:
    """See `storage.interface.Calls`."""

    def __init__(self, disk: Disk, writer: Writer, lease: Lease) -> None:
        self._disk, self._writer, self._lease = disk, writer, lease

    async def begin(self, call: KeptCall, since: Millis) -> KeptCall:
        """Note a call, or return the one that stands; see Calls."""

        def job() -> tuple[KeptCall, Apply]:
            stands = self._disk.calls.get(call.key)
            kept = call if stands is None or stands.at < since else stands
            return kept, lambda: self._disk.calls.update({call.key: kept})

        return await self._writer.commit(self._lease, job)

    async def finish(self, key: str, answer: bytes) -> None:
        """Keep the answer of a call; see Calls."""

        def apply() -> None:
            if key in self._disk.calls:
                self._disk.calls[key] = replace(self._disk.calls[key], answer=answer)

        await self._writer.commit(self._lease, lambda: (None, apply))

    async def forget(self, key: str) -> None:
        """Forget a call; see Calls."""

        def apply() -> None:
            self._disk.calls.pop(key, None)

        await self._writer.commit(self._lease, lambda: (None, apply))

    async def sweep(self, before: Millis, most: int, limit: int) -> int:
        """Delete what is too old or too much; see Calls."""

        def job() -> tuple[int, Apply]:
            oldest_first = sorted(self._disk.calls.values(), key=lambda call: call.at)
            spare = oldest_first[: max(0, len(oldest_first) - most)]
            end = max(before, spare[-1].at + 1) if spare else before
            doomed = [call.key for call in oldest_first if call.at < end][:limit]

            def apply() -> None:
                for key in doomed:
                    self._disk.calls.pop(key, None)

            return len(doomed), apply

        return await self._writer.commit(self._lease, job)
