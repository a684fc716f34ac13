"""Durable cursors and the outbox in memory."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from msgspec.structs import replace

from storage.attempts import KEPT_ATTEMPTS, KEPT_DEAD, attempt_of, gone_attempt, rates_of
from storage.errors import CursorMoved
from storage.interface import Lease
from storage.memory.disk import Apply, Disk, Row
from storage.memory.writer import Writer
from storage.records.alert import KEPT_DAYS
from storage.records.body import first_seq_in, id_in
from storage.records.delivery import (
    Attempt,
    Delivery,
    Freeze,
    Hit,
    Match,
    Outcome,
    Portion,
    Rates,
    Replayed,
    Result,
    Waiting,
)
from storage.records.identity import Millis, Seq, day_of


class MemoryWork:
    """See `storage.interface.Work`."""

    def __init__(self, disk: Disk, writer: Writer) -> None:
        self._disk, self._writer = disk, writer

    async def cursor(self, name: str) -> Seq | None:
        """Return a durable cursor; see Work."""
        return self._disk.cursors.get(name)

    async def advance(
        self,
        name: str,
        expect: Seq | None,
        to: Seq,
        matches: Sequence[Match],
        lease: Lease,
        *,
        hits: Sequence[Hit] = (),
    ) -> None:
        """Move a cursor and write what it caused; see Work."""

        def apply() -> None:
            self._disk.cursors[name] = to
            self._put(matches)
            for hit in hits:
                alert = self._disk.alerts.get(hit.alert)
                if alert is not None:
                    counted = replace(alert, match_count=alert.match_count + hit.times, last_match_at=hit.at)
                    self._disk.alerts[hit.alert] = counted
                    self._count(hit)

        def job() -> tuple[None, Apply]:
            at = self._disk.cursors.get(name)
            if at != expect:
                raise CursorMoved(f"cursor {name!r} is at {at}, not at {expect}")
            return None, apply

        await self._writer.commit(lease, job, name="cursor")

    def _count(self, hit: Hit) -> None:
        today = day_of(hit.at)
        kept = {day: n for day, n in self._disk.matched.get(hit.alert, {}).items() if day > today - KEPT_DAYS}
        kept[today] = kept.get(today, 0) + hit.times
        self._disk.matched[hit.alert] = kept

    async def enqueue(self, matches: Sequence[Match], lease: Lease, *, replayed: Replayed | None = None) -> int:
        """Put rows into the outbox; see Work."""

        def apply() -> None:
            self._put(matches)
            if replayed is not None and replayed.destination in self._disk.destinations:
                old = self._disk.destinations[replayed.destination]
                lines = self._disk.attempts.get(old.id, [])
                done = replayed.reaching(self._rows(old.id), {line.event_id for line in lines if line.result == "sent"})
                self._disk.destinations[old.id] = old.replayed(done.after, done.to, whole=done.whole)

        def job() -> tuple[int, Apply]:
            new = {(m.destination, m.seq) for m in matches if m.destination in self._disk.destinations}
            return sum(seq not in self._rows(hook) for hook, seq in new), apply

        return await self._writer.commit(lease, job, name="enqueue")

    def _put(self, matches: Sequence[Match]) -> None:
        for match in matches:
            if match.destination in self._disk.destinations:
                rows = self._disk.outbox.setdefault(match.destination, {})
                rows.setdefault(match.seq, Row(match.due, match.due))

    async def claim(
        self, destination: str, now: Millis, limit: int, lease: Lease, *, digests: bool = False
    ) -> Sequence[Delivery]:
        """Claim due rows, oldest first; see Work. A row whose event is gone is given up, with a line in the log."""
        due = await self.next_due(destination, digests=digests)
        if due is None or due > now:
            return ()

        def job() -> tuple[Sequence[Delivery], Apply]:
            waiting = self._waiting(destination, digests=digests)
            claimed: list[Delivery] = []
            gone: list[Seq] = []
            for seq in sorted(seq for seq, row in waiting.items() if row.due <= now)[:limit]:
                row = waiting[seq]
                content = row.digest or self._content(seq)
                if content is None:
                    gone.append(seq)
                else:
                    claimed.append(Delivery(destination, seq, content[0], row.attempts + 1, row.first_due, content[1]))
            return claimed, lambda: self._take(destination, claimed, gone, now)

        return await self._writer.commit(lease, job, name="claim")

    def _content(self, seq: Seq) -> tuple[str, bytes] | None:
        event = self._disk.event_at(seq)
        return None if event is None else (id_in(event.body), event.body)

    def _waiting(self, destination: str, *, digests: bool) -> Mapping[Seq, Row]:
        rows = self._rows(destination).items()
        return {seq: row for seq, row in rows if not row.claimed and (row.digest is not None or not digests)}

    async def gathered_since(self, destination: str) -> Millis | None:
        """Return when the earliest row was due that is in no digest; see Work."""
        rows = self._waiting(destination, digests=False).values()
        return min((row.first_due for row in rows if row.digest is None), default=None)

    async def freeze(self, destination: str, portion: Portion, freeze: Freeze, lease: Lease) -> int:
        """Make a digest of a window's rows; see Work."""

        def job() -> tuple[int, Apply]:
            waiting = self._waiting(destination, digests=False)
            inside = sorted(
                seq
                for seq, row in waiting.items()
                if row.digest is None and portion.start <= row.first_due < portion.end
            )
            taken: dict[Seq, bytes] = {}
            gone: list[Seq] = []
            for seq in inside[: portion.limit]:
                event = self._disk.event_at(seq)
                if event is None:
                    gone.append(seq)
                elif taken and sum(map(len, taken.values())) + len(event.body) > portion.size:
                    break
                else:
                    taken[seq] = event.body
            digest = freeze(list(taken.values())) if taken else None

            def apply() -> None:
                self._take(destination, (), gone, portion.end)
                for seq in list(taken)[:-1]:
                    del self._rows(destination)[seq]
                for seq in list(taken)[-1:]:
                    row = self._rows(destination)[seq]
                    row.digest, row.due, row.attempts = digest, portion.end, 0

            return len(taken) + len(gone), apply

        return await self._writer.commit(lease, job, name="freeze")

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
        destination = self._disk.destinations[outcome.destination]
        if outcome.result == "sent":
            destination = replace(destination, last_delivery_at=outcome.at)
        elif outcome.result == "given_up":
            first = outcome.seq if row.digest is None else first_seq_in(row.digest[1], outcome.seq)
            destination = destination.missing(Seq(first - 1))
        self._disk.destinations[outcome.destination] = destination
        self._note(outcome.destination, attempt_of(outcome, row.event_id, row.attempts))

    async def release(self, lease: Lease, *, destination: str | None = None, held: Sequence[Seq] = ()) -> int:
        """Make claimed rows due again; see Work."""

        def job() -> tuple[int, Apply]:
            tables = self._disk.outbox.values() if destination is None else [self._rows(destination)]
            claimed = [row for rows in tables for seq, row in rows.items() if row.claimed and seq not in held]

            def apply() -> None:
                for row in claimed:
                    row.claimed = False

            return len(claimed), apply

        return await self._writer.commit(lease, job, name="release")

    async def next_due(self, destination: str, *, digests: bool = False) -> Millis | None:
        """Return when the earliest waiting row is due; see Work."""
        return min((row.due for row in self._waiting(destination, digests=digests).values()), default=None)

    async def backlog(self, destination: str) -> int:
        """Return how many rows wait or are claimed; see Work."""
        return len(self._rows(destination))

    async def waiting(self, destinations: Sequence[str]) -> Mapping[str, Waiting]:
        """Return what waits for each; see Work."""
        tables = {destination: self._rows(destination).values() for destination in destinations}
        return {
            destination: Waiting(
                len(rows),
                min(row.first_due for row in rows),
                min((row.due for row in rows if not row.claimed), default=None),
            )
            for destination, rows in tables.items()
            if rows
        }

    async def attempts(
        self, destination: str, limit: int, result: Result | None = None, before: int | None = None
    ) -> Sequence[Attempt]:
        """Return the newest attempts first; see Work."""
        lines = [line for line in self._disk.attempts.get(destination, []) if before is None or line.number < before]
        return [line for line in reversed(lines) if result in (None, line.result)][:limit]

    async def rates(self, destinations: Sequence[str]) -> Mapping[str, Rates]:
        """Return the rates of each; see Work."""
        logs = {destination: self._disk.attempts.get(destination, []) for destination in destinations}
        return {destination: rates_of(lines[-KEPT_ATTEMPTS:]) for destination, lines in logs.items() if lines}

    def _rows(self, destination: str) -> dict[Seq, Row]:
        return self._disk.outbox.get(destination, {})

    def _note(self, destination: str, line: Attempt) -> None:
        lines = self._disk.attempts.setdefault(destination, [])
        lines.append(replace(line, number=lines[-1].number + 1 if lines else 1))
        if len(lines) <= KEPT_ATTEMPTS:
            return
        dead = [line for line in lines[:-KEPT_ATTEMPTS] if line.result == "given_up"]
        younger = sum(line.result == "given_up" for line in lines[-KEPT_ATTEMPTS:])
        lines[:-KEPT_ATTEMPTS] = dead[max(0, len(dead) + younger - KEPT_DEAD) :]
