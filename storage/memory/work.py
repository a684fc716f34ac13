"""Durable cursors and the outbox in memory."""

from __future__ import annotations

from collections.abc import Sequence

from storage.attempts import KEPT_ATTEMPTS, attempt_of, gone_attempt
from storage.errors import CursorMoved
from storage.interface import Lease
from storage.memory.disk import Apply, Disk, Row
from storage.memory.writer import Writer
from storage.records.body import id_in
from storage.records.delivery import Attempt, Delivery, Match, Outcome
from storage.records.identity import Millis, Seq


class MemoryWork:
    """See `storage.interface.Work`."""

    def __init__(self, disk: Disk, writer: Writer) -> None:
        self._disk, self._writer = disk, writer

    async def cursor(self, name: str) -> Seq | None:
        """Return a durable cursor; see Work."""
        return self._disk.cursors.get(name)

    async def advance(self, name: str, expect: Seq | None, to: Seq, matches: Sequence[Match], lease: Lease) -> None:
        """Move a cursor and write its matches; see Work."""

        def apply() -> None:
            self._disk.cursors[name] = to
            for match in matches:
                if match.destination in self._disk.destinations:
                    rows = self._disk.outbox.setdefault(match.destination, {})
                    rows.setdefault(match.seq, Row(match.due, match.due))

        def job() -> tuple[None, Apply]:
            at = self._disk.cursors.get(name)
            if at != expect:
                raise CursorMoved(f"cursor {name!r} is at {at}, not at {expect}")
            return None, apply

        await self._writer.commit(lease, job, name="cursor")

    async def claim(self, destination: str, now: Millis, limit: int, lease: Lease) -> Sequence[Delivery]:
        """Claim due rows, oldest first; see Work. A row whose event is gone is given up, with a line in the log."""
        due = await self.next_due(destination)
        if due is None or due > now:
            return ()

        def job() -> tuple[Sequence[Delivery], Apply]:
            rows = self._rows(destination)
            ready = sorted(seq for seq, row in rows.items() if not row.claimed and row.due <= now)[:limit]
            claimed: list[Delivery] = []
            gone: list[Seq] = []
            for seq in ready:
                event, row = self._disk.event_at(seq), rows[seq]
                if event is None:
                    gone.append(seq)
                else:
                    event_id = id_in(event.body)
                    claimed.append(Delivery(destination, seq, event_id, row.attempts + 1, row.first_due, event.body))
            return claimed, lambda: self._take(destination, claimed, gone, now)

        return await self._writer.commit(lease, job, name="claim")

    def _take(self, destination: str, claimed: Sequence[Delivery], gone: Sequence[Seq], now: Millis) -> None:
        rows = self._rows(destination)
        for delivery in claimed:
            row = rows[delivery.seq]
            row.claimed, row.attempts, row.event_id = True, delivery.attempt, delivery.event_id
        for seq in gone:
            self._note(destination, gone_attempt(destination, seq, rows.pop(seq).attempts, now))

    async def settle(self, outcomes: Sequence[Outcome], lease: Lease) -> None:
        """Record outcomes of claimed rows; see Work."""

        def apply() -> None:
            for outcome in outcomes:
                row = self._rows(outcome.destination).get(outcome.seq)
                if row is not None and row.claimed:
                    self._settle(outcome, row)

        await self._writer.commit(lease, lambda: (None, apply), name="settle")

    def _settle(self, outcome: Outcome, row: Row) -> None:
        if outcome.result == "retry":
            assert outcome.retry_at is not None
            row.claimed, row.due = False, outcome.retry_at
        else:
            del self._rows(outcome.destination)[outcome.seq]
        self._note(outcome.destination, attempt_of(outcome, row.event_id, row.attempts))

    async def release(self, lease: Lease) -> int:
        """Make every claimed row due again; see Work."""

        def job() -> tuple[int, Apply]:
            claimed = [row for rows in self._disk.outbox.values() for row in rows.values() if row.claimed]

            def apply() -> None:
                for row in claimed:
                    row.claimed = False

            return len(claimed), apply

        return await self._writer.commit(lease, job, name="release")

    async def next_due(self, destination: str) -> Millis | None:
        """Return when the earliest waiting row is due; see Work."""
        return min((row.due for row in self._rows(destination).values() if not row.claimed), default=None)

    async def backlog(self, destination: str) -> int:
        """Return how many rows wait or are claimed; see Work."""
        return len(self._rows(destination))

    async def attempts(self, destination: str, limit: int) -> Sequence[Attempt]:
        """Return the newest attempts first; see Work."""
        return self._disk.attempts.get(destination, [])[::-1][:limit]

    def _rows(self, destination: str) -> dict[Seq, Row]:
        return self._disk.outbox.get(destination, {})

    def _note(self, destination: str, line: Attempt) -> None:
        lines = self._disk.attempts.setdefault(destination, [])
        lines.append(line)
        del lines[:-KEPT_ATTEMPTS]
