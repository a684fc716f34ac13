"""Durable cursors and the outbox in SQL.

An outbox row waits (claimed 0), is claimed (by the start of that number), or is gone: sent and given-up rows leave an
entry in the attempts log. A claim counts the attempt before sending, so a crash during a request counts as an attempt.
A digest is a body attached to the row of its last event; from then on it is claimed and settled like any row.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import closing
from itertools import groupby
from operator import attrgetter
from typing import NamedTuple

import msgspec
from msgspec.structs import replace

from storage.append import Lease
from storage.errors import AlertsMoved, CursorMoved
from storage.records import destination as records
from storage.records.alert import KEPT_DAYS
from storage.records.destination import KEPT_ATTEMPTS, KEPT_DEAD, Attempt, Delivery, Match, Outcome
from storage.records.event import first_seq_in, id_in
from storage.records.identity import Millis, Seq, day_of
from storage.secrets import Connection
from storage.sql.stores.alerts import change_destination, changed_at, expect
from storage.sql.stores.log import LAST, WEEK
from storage.sql.writing import Row, Store, Transaction, every_row, fenced, first_row, in_transaction, read_only


class Claim(NamedTuple):
    """An outbox row claimed by the start with this number."""

    destination: str
    seq: Seq
    start: int


_destination = attrgetter("destination")
_decode = msgspec.json.Decoder(Attempt).decode
_decode_line = msgspec.json.Decoder(records.AttemptLine).decode
_PUT = """INSERT INTO outbox(destination, seq, claimed, due, first_due, attempts) SELECT key, ?, 0, ?, ?, 0
    FROM destination WHERE id=? ON CONFLICT DO NOTHING"""
_CURSOR = "SELECT seq FROM cursor WHERE name=?"
_STANDING = "SELECT (SELECT seq FROM cursor WHERE name=?), (SELECT value FROM fact WHERE name='alerts')"
_HIT = "UPDATE alert SET match_count=match_count+?, last_match_at=? WHERE id=?"
_OF_DAY = """INSERT INTO matched_day(day, alert, events) SELECT ?, id, ? FROM alert WHERE id=?
    ON CONFLICT(day, alert) DO UPDATE SET events=matched_day.events+excluded.events"""
_OLD_DAYS = "DELETE FROM matched_day WHERE day<=?"
_MET = "SELECT alert, seq FROM alert_story WHERE story=?"
_MEET = "INSERT INTO alert_story(alert, story, seq) VALUES(?,?,?) ON CONFLICT DO NOTHING"
_FORGET = """DELETE FROM alert_story WHERE (alert, story) IN
    (SELECT alert, story FROM alert_story WHERE story<? ORDER BY story LIMIT ?)"""
_MOST_FORGOTTEN = 2_000
_NEXT_DUE = "SELECT min(due) FROM outbox WHERE destination=(SELECT key FROM destination WHERE id=?) AND claimed=0"
_NEXT_DIGEST = """SELECT min(o.due) FROM digest d JOIN outbox o USING(destination, seq)
    WHERE d.destination=(SELECT key FROM destination WHERE id=?) AND o.claimed=0"""
_ANY_DUE = "SELECT EXISTS(SELECT 1 FROM outbox WHERE claimed=0 AND due<=?)"
_ALL_DUE = """SELECT id FROM destination WHERE key IN
    (SELECT destination FROM outbox WHERE claimed=0 AND due<=?) ORDER BY id"""
_FIRST_ALONE = """SELECT min(o.seq) FROM outbox o JOIN log l ON l.seq=o.seq
    WHERE o.destination=(SELECT key FROM destination WHERE id=?)
    AND NOT EXISTS(SELECT 1 FROM digest d WHERE d.destination=o.destination AND d.seq=o.seq)"""
_DIGESTS = "SELECT seq, body FROM digest WHERE destination=(SELECT key FROM destination WHERE id=?)"
_GATHERED = """SELECT min(first_due) FROM outbox o WHERE destination=(SELECT key FROM destination WHERE id=?)
    AND +claimed=0 AND NOT EXISTS(SELECT 1 FROM digest d WHERE d.destination=o.destination AND d.seq=o.seq)"""
_WAITING = """SELECT count(*), min(first_due), min(CASE claimed WHEN 0 THEN due END) FROM outbox
    WHERE destination=(SELECT key FROM destination WHERE id=?)"""
_BACKLOG = "SELECT count(*) FROM outbox WHERE destination=(SELECT key FROM destination WHERE id=?)"
_ATTEMPTS = """SELECT number, body FROM attempt WHERE destination=(SELECT key FROM destination WHERE id=?)
    AND number<? ORDER BY number DESC LIMIT ?"""
_RESULTS = _ATTEMPTS.replace("ORDER", "AND json_extract(CAST(body AS TEXT), '$.result')=? ORDER")
_DEAD = _ATTEMPTS.replace("ORDER", "AND dead ORDER")
_ROWS = "SELECT seq FROM outbox WHERE destination=(SELECT key FROM destination WHERE id=?) AND seq>? AND seq<=?"
_SENT = """SELECT json_extract(CAST(body AS TEXT), '$.event_id') FROM attempt
    WHERE destination=(SELECT key FROM destination WHERE id=?) AND NOT dead
    AND json_extract(CAST(body AS TEXT), '$.result')='sent'"""
_OLDEST_DEAD = "SELECT number FROM attempt WHERE destination=? AND dead ORDER BY number DESC LIMIT 1 OFFSET ?"
_DIGEST = "SELECT body FROM digest WHERE destination=? AND seq=?"
# `+due`: walk the rows in order of their events; with the index over `due`, a whole backlog would have to be sorted.
_DUE = """SELECT o.destination, o.seq, o.attempts, o.first_due, d.id, coalesce(d.body, l.body) FROM outbox o
    LEFT JOIN digest d ON d.destination=o.destination AND d.seq=o.seq LEFT JOIN log l ON l.seq=o.seq
    WHERE o.destination=(SELECT key FROM destination WHERE id=?) AND +o.claimed=0 AND +o.due<=?
    AND (d.id IS NOT NULL OR NOT ?) ORDER BY o.seq LIMIT ?"""
_INSIDE = """SELECT o.seq, o.attempts, l.body FROM outbox o LEFT JOIN log l ON l.seq=o.seq
    WHERE o.destination=? AND +o.claimed=0 AND o.first_due>=? AND o.first_due<? AND (o.attempts=0 OR NOT ?)
    AND NOT EXISTS(SELECT 1 FROM digest d WHERE d.destination=o.destination AND d.seq=o.seq) ORDER BY o.seq LIMIT ?"""
_SOME_INSIDE = """SELECT count(*) FROM (SELECT 1 FROM outbox o
    WHERE o.destination=? AND +o.claimed=0 AND o.first_due >= ? AND o.first_due < ? AND (o.attempts=0 OR NOT ?)
    AND NOT EXISTS(SELECT 1 FROM digest d WHERE d.destination=o.destination AND d.seq=o.seq) LIMIT ?) enough"""
_CARRY = "UPDATE outbox SET due=?, attempts=0 WHERE destination=? AND seq=?"
_DELIVERED = "UPDATE destination SET last_delivery_at=? WHERE key=?"
_CLAIM = "UPDATE outbox SET claimed=?, attempts=?, event=? WHERE destination=? AND seq=?"
_CLAIMED = """SELECT seq, destination, attempts, event FROM outbox
    WHERE destination=(SELECT key FROM destination WHERE id=?) AND claimed=? AND seq IN"""
_ALL_CLAIMED = """SELECT destination, seq FROM outbox
    WHERE destination=(SELECT key FROM destination WHERE id=?) AND claimed>0"""
_CLAIMS_OF_OTHERS = """SELECT d.id, o.seq, o.claimed FROM outbox o JOIN destination d ON d.key=o.destination
    WHERE o.claimed>0 AND o.claimed<>? AND d.id IN"""
_PUT_BACK = """UPDATE outbox SET claimed=0
    WHERE destination=(SELECT key FROM destination WHERE id=?) AND seq=? AND claimed=?"""
_RETRY = "UPDATE outbox SET claimed=0, due=? WHERE destination=? AND seq=?"
_AHEAD = """SELECT destination, seq, attempts, due, first_due FROM outbox
    WHERE destination=(SELECT key FROM destination WHERE id=?) AND claimed=0 AND (due>? OR first_due>?)"""
_CLAMP = "UPDATE outbox SET due=?, first_due=? WHERE destination=? AND seq=?"
_LEAVE = "DELETE FROM outbox WHERE destination=? AND seq=?"


class Outbox(Store):
    """Durable cursors and the outbox."""

    async def cursor(self, name: str) -> Seq | None:
        return await self._look_up(Seq, _CURSOR, name)

    async def advance(
        self,
        name: str,
        expect: Seq | None,
        to: Seq,
        matches: Sequence[Match],
        lease: Lease,
        *,
        hits: Sequence[records.Hit] = (),
        met: Sequence[records.Met] = (),
        revision: int | None = None,
    ) -> None:
        """Move a cursor and write its effects in one transaction: outbox rows, and matches of alerts.

        Stories are kept for at least two weeks from their first event; the first matched event of each counts.

        Skips matches already in the outbox or for a deleted destination. Raises CursorMoved if the cursor is not at
        `expect`, and AlertsMoved if a `revision` is given and the alerts have another.
        """

        def job(transaction: Transaction) -> None:
            at, now = transaction.execute(_STANDING, (name,)).fetchone()
            if at != expect:
                raise CursorMoved(f"cursor {name!r} is at {at}, not at {expect}")
            if revision is not None and now != revision:
                raise AlertsMoved(now, changed_at(transaction.connection))
            put = "INSERT INTO cursor VALUES(?,?) ON CONFLICT(name) DO UPDATE SET seq=excluded.seq"
            transaction.execute(put, (name, to))
            transaction.executemany(_PUT, [(m.seq, m.due, m.due, m.destination) for m in matches])
            if hits:
                transaction.executemany(_HIT, [(hit.times, hit.at, hit.alert) for hit in hits])
                transaction.executemany(_OF_DAY, [(day_of(hit.at), hit.times, hit.alert) for hit in hits])
                transaction.execute(_OLD_DAYS, (day_of(hits[0].at) - KEPT_DAYS,))
            if met:
                transaction.executemany(_MEET, met)
                transaction.execute(_FORGET, (to - 2 * WEEK, _MOST_FORGOTTEN))

        counted: list[Row] = [("alert", hit.alert) for hit in hits]
        rows = 1 + len(matches) + len(hits) + len(met)
        await self._writer.submit(fenced(lease, job), rows=rows, holds=[("cursor", name), *counted, *_refers(matches)])

    async def met(self, story: Seq) -> Mapping[str, Seq]:
        """Return the matched event of a story for each alert that matches once per story."""
        return dict(await every_row(self._readers, _MET, story))

    async def enqueue(self, matches: Sequence[Match], lease: Lease, *, replayed: records.Replayed | None = None) -> int:
        """Add rows to the outbox unless present or without a destination; return how many. In the same transaction the
        `replayed` range stops being missed. If it has `matches`, the range ends before the first of them that neither
        waits now nor has a `sent` attempt.
        """

        def job(transaction: Transaction) -> int:
            rows = [(m.seq, m.due, m.due, m.destination) for m in matches]
            queued = transaction.executemany(_PUT, rows).rowcount if rows else 0
            if replayed is not None:
                _record_replayed(transaction, replayed)
            return queued

        holds = [*_refers(matches), *_destinations([] if replayed is None else [replayed.destination])]
        return await self._writer.submit(fenced(lease, job), rows=1 + len(matches), holds=holds)

    async def claim(
        self,
        destination: str,
        now: Millis,
        limit: int,
        lease: Lease,
        *,
        digests: bool = False,
        known: records.Destination | None = None,
    ) -> Sequence[Delivery]:
        """Return due rows of a destination, oldest first, whose event is still in the log. Counts the attempt durably.

        A row of a digest has the digest's id and body; with `digests`, only such rows are returned. Rows stay claimed
        until settled; `release` at start frees those of an earlier start. A row whose event has left the log is given
        up, with an entry in the attempts log.

        known: the caller's record of the destination; it expects a row. The claim is then the only transaction;
        it raises DestinationMoved if the record is another.
        """
        if known is None:
            due = await self.next_due(destination, digests=digests)
            if due is None or due > now:  # so that an empty claim writes nothing
                return ()

        def job(transaction: Transaction) -> Sequence[Delivery]:
            if known is not None:
                expect(transaction, known)
            return _claim(transaction, destination, now, limit, lease, digests=digests)

        return await self._writer.submit(fenced(lease, job), rows=limit, holds=_destinations([destination]))

    async def gathered_since(self, destination: str) -> Millis | None:
        """Return the earliest first due time of the waiting rows that are in no digest."""
        since: Millis | None = (await first_row(self._readers, _GATHERED, destination))[0]
        return since

    @in_transaction(rows=lambda _, it, *__: it.limit, holds=lambda destination, *_: _destinations([destination]))
    def freeze(
        self, transaction: Transaction, destination: str, portion: records.Portion, freeze: records.Freeze, lease: Lease
    ) -> int:
        """Make one digest from waiting rows within `portion`, oldest first; return of how many, 0 if there are none. In
        one transaction the last of these rows becomes the digest, due at the portion's end, and the others are removed;
        rows whose event has left the log are given up. With fewer rows than `least` nothing happens.
        """
        transaction.fence(lease)
        found = transaction.execute("SELECT key FROM destination WHERE id=?", (destination,)).fetchone()
        if found is None:
            return 0
        (key,) = found
        some = (key, portion.start, portion.end, portion.fresh, portion.least)
        if portion.least > 1 and transaction.execute(_SOME_INSIDE, some).fetchone()[0] < portion.least:
            return 0
        taken, gone = _inside(transaction, key, portion)
        note(transaction, key, [records.gone_attempt(destination, *row, portion.end) for row in gone])
        _freeze(transaction, key, taken, portion.end, freeze)
        return len(taken) + len(gone)

    async def clamp(self, destination: str, now: Millis, latest: Callable[[int], Millis], lease: Lease) -> int:
        """Make rows due that wait longer than their attempts allow, after a clock that was ahead; return how many."""
        some = (destination, latest(0), now)
        if not await self._first(bool, f"SELECT EXISTS({_AHEAD})", *some):
            return 0

        def job(transaction: Transaction) -> int:
            rows = transaction.execute(_AHEAD, some).fetchall()
            clamped = [
                (now if due > latest(attempts) else due, min(now, first_due), key, seq)
                for key, seq, attempts, due, first_due in rows
                if due > latest(attempts) or first_due > now
            ]
            transaction.executemany(_CLAMP, clamped)
            return len(clamped)

        return await self._writer.submit(fenced(lease, job), holds=_destinations([destination]))

    async def settle(self, outcomes: Sequence[Outcome], lease: Lease, *, may_wait: bool = False) -> None:
        """Record outcomes: `sent` and `given_up` leave the outbox, `retry` becomes due again at `retry_at`. Skips rows
        that this lease has not claimed, such as those taken over by another. A given-up match is missed from then on
        (`Destination.missed_after`).
        """
        holds = _destinations(outcome.destination for outcome in outcomes)
        job = fenced(lease, lambda it: _settle(it, outcomes, lease))
        await self._writer.submit(job, rows=2 * len(outcomes), holds=holds, may_wait=may_wait)

    @read_only
    def claims_of_others(self, connection: Connection, destinations: Sequence[str], lease: Lease) -> Sequence[Claim]:
        """Return the rows that other starts have claimed and not settled. Takes some hundreds of destinations."""
        marks = ",".join("?" * len(destinations))
        rows = connection.execute(f"{_CLAIMS_OF_OTHERS} ({marks})", (lease.epoch, *destinations))
        return [Claim(id, Seq(seq), start) for id, seq, start in rows]

    async def put_back(self, claims: Sequence[Claim], lease: Lease) -> int:
        """Make rows due again if these starts still hold the claims; return how many."""
        holds = _destinations(destination for destination, *_ in claims)
        job = fenced(lease, lambda it: sum(it.execute(_PUT_BACK, claim).rowcount for claim in claims))
        return await self._writer.submit(job, rows=len(claims), holds=holds)

    @in_transaction(holds=lambda _, destination=None, **__: _destinations([] if destination is None else [destination]))
    def release(
        self, transaction: Transaction, lease: Lease, *, destination: str | None = None, held: Sequence[Seq] = ()
    ) -> int:
        """Make every claimed row due again (at start, after a crash), or those of a destination except `held`."""
        transaction.fence(lease)
        if destination is None:
            return transaction.execute("UPDATE outbox SET claimed=0 WHERE claimed>0").rowcount
        rows = transaction.execute(_ALL_CLAIMED, (destination,)).fetchall()
        claimed = [row for row in rows if row[1] not in held]
        transaction.executemany("UPDATE outbox SET claimed=0 WHERE destination=? AND seq=?", claimed)
        return len(claimed)

    async def next_due(self, destination: str, *, digests: bool = False) -> Millis | None:
        """Return when a destination's earliest waiting row is due; with `digests`, counting digests only."""
        due: Millis | None = (await self._readers.one(_NEXT_DIGEST if digests else _NEXT_DUE, (destination,)))[0]
        return due

    async def backlog(self, destination: str) -> int:
        return await self._first(int, _BACKLOG, destination) or 0

    async def due(self, now: Millis) -> Sequence[str]:
        return await self._all(str, _ALL_DUE, now) if await self._look_up(bool, _ANY_DUE, now) else []

    @read_only
    def first_waiting(self, connection: Connection, destination: str) -> Seq | None:
        """Return the position of the earliest waiting event, claimed or not, in a digest or alone."""
        (alone,) = connection.execute(_FIRST_ALONE, (destination,)).fetchone()
        first = [] if alone is None else [Seq(alone)]
        with closing(connection.execute(_DIGESTS, (destination,))) as digests:
            first += [first_seq_in(body, Seq(seq)) for seq, body in digests]
        return min(first, default=None)

    @read_only
    def waiting(self, connection: Connection, destinations: Sequence[str]) -> Mapping[str, records.Waiting]:
        """Return the waiting deliveries of each, claimed or not; a destination without any is absent."""
        found = {id: records.Waiting(*connection.execute(_WAITING, (id,)).fetchone()) for id in destinations}
        return {id: waiting for id, waiting in found.items() if waiting.count}

    async def attempts(
        self, destination: str, limit: int, result: records.Result | None = None, before: int | None = None
    ) -> Sequence[Attempt]:
        """Return attempts, newest first: all, those with one result, or those with a number below `before`."""
        query = _DEAD if result == "given_up" else _ATTEMPTS if result is None else _RESULTS
        end = LAST if before is None else before
        some = (destination, end, limit) if result in (None, "given_up") else (destination, end, result, limit)
        return await self._all(lambda number, body: replace(_decode(body), number=number), query, *some)

    @read_only
    def rates(self, connection: Connection, destinations: Sequence[str]) -> Mapping[str, records.Rates]:
        """Return the rates of each; a destination without attempts is absent."""
        logs = {id: connection.execute(_ATTEMPTS, (id, LAST, KEPT_ATTEMPTS)).fetchall() for id in destinations}
        return {
            id: records.rates_of([_decode_line(body) for _, body in reversed(rows)])
            for id, rows in logs.items()
            if rows
        }


def _refers(matches: Sequence[Match]) -> Sequence[Row]:
    return [("refers", id) for id in {match.destination for match in matches}]


def _destinations(ids: Iterable[str]) -> Sequence[Row]:
    return [("destination", id) for id in ids]


def _claim(
    transaction: Transaction, destination: str, now: Millis, limit: int, lease: Lease, *, digests: bool
) -> Sequence[Delivery]:
    claimed: list[Delivery] = []
    gone: list[Attempt] = []
    key, due = 0, transaction.execute(_DUE, (destination, now, digests, limit)).fetchall()
    for key, seq, attempts, first_due, digest, body in due:
        if body is None:
            gone.append(records.gone_attempt(destination, Seq(seq), attempts, now))
            transaction.execute(_LEAVE, (key, seq))
        else:
            event_id = digest or id_in(body)
            claimed.append(Delivery(destination, Seq(seq), event_id, attempts + 1, Millis(first_due), body))
    transaction.executemany(_CLAIM, [(lease.epoch, d.attempt, d.event_id, key, d.seq) for d in claimed])
    note(transaction, key, gone)
    return claimed


def _inside(
    transaction: Transaction, key: int, portion: records.Portion
) -> tuple[Sequence[tuple[Seq, bytes]], Sequence[tuple[Seq, int]]]:
    """Return a portion's rows with bodies, and remove and return those whose event has left the log."""
    start, end, limit, size, _, fresh = portion
    taken: list[tuple[Seq, bytes]] = []
    gone: list[tuple[Seq, int]] = []
    # Not all rows at once: bodies are large.
    with closing(transaction.execute(_INSIDE, (key, start, end, fresh, limit))) as rows:
        for seq, attempts, body in rows:
            if body is None:
                gone.append((seq, attempts))
                continue
            size -= len(body)
            if size < 0 and taken:
                break
            taken.append((seq, body))
    transaction.executemany(_LEAVE, [(key, seq) for seq, _ in gone])
    return taken, gone


def _freeze(
    transaction: Transaction, key: int, taken: Sequence[tuple[Seq, bytes]], end: Millis, freeze: records.Freeze
) -> None:
    if taken:
        id, content = freeze([body for _, body in taken])
        carrier = taken[-1][0]
        transaction.executemany(_LEAVE, [(key, seq) for seq, _ in taken[:-1]])
        transaction.execute(_CARRY, (end, key, carrier))
        transaction.execute("INSERT INTO digest VALUES(?,?,?,?)", (key, carrier, id, content))


def _settle(transaction: Transaction, outcomes: Sequence[Outcome], lease: Lease) -> None:
    for destination, some in groupby(sorted(outcomes, key=_destination), key=_destination):
        of_one = {outcome.seq: outcome for outcome in some}
        claimed = f"{_CLAIMED} ({','.join('?' * len(of_one))})"
        rows = {row[0]: row for row in transaction.execute(claimed, (destination, lease.epoch, *of_one)).fetchall()}
        retried, left, lines = list[Sequence[int]](), list[Sequence[int]](), list[Attempt]()
        for seq, outcome in of_one.items():
            if seq not in rows:
                continue
            _, key, attempts, event_id = rows[seq]
            lines.append(records.attempt_of(outcome, event_id, attempts))
            if outcome.retry_at is not None and outcome.result == "retry":
                retried.append((outcome.retry_at, key, seq))
                continue
            if outcome.result == "given_up":
                _miss(transaction, key, outcome)
            left.append((key, seq))
        transaction.executemany(_RETRY, retried)
        transaction.executemany(_LEAVE, left)
        if lines:
            note(transaction, key, lines)
        if delivered := [line.at for line in lines if line.result == "sent"]:
            transaction.execute(_DELIVERED, (delivered[-1], key))


def _miss(transaction: Transaction, key: int, outcome: Outcome) -> None:
    digest = transaction.execute(_DIGEST, (key, outcome.seq)).fetchone()
    first = outcome.seq if digest is None else first_seq_in(digest[0], outcome.seq)
    change_destination(transaction, outcome.destination, lambda it: it.missing(Seq(first - 1)))


def _record_replayed(transaction: Transaction, replayed: records.Replayed) -> None:
    done = replayed
    if replayed.matches:
        between = (replayed.destination, replayed.after, replayed.to)
        waiting = {seq for (seq,) in transaction.execute(_ROWS, between).fetchall()}
        sent = {id for (id,) in transaction.execute(_SENT, (replayed.destination,)).fetchall()}
        done = replayed.reaching(waiting, sent)
    change_destination(transaction, done.destination, lambda it: it.replayed(done.after, done.to, whole=done.whole))


def note(transaction: Transaction, key: int, lines: Sequence[Attempt]) -> None:
    """Add entries to a destination's attempts log and drop the oldest beyond the limits."""
    if not lines:
        return
    (last,) = transaction.execute("SELECT max(number) FROM attempt WHERE destination=?", (key,)).fetchone()
    rows = [
        (key, number, msgspec.json.encode(line), line.result == "given_up")
        for number, line in enumerate(lines, (last or 0) + 1)
    ]
    transaction.executemany("INSERT INTO attempt VALUES(?,?,?,?)", rows)
    oldest = rows[-1][1] - KEPT_ATTEMPTS
    if oldest > 0:
        transaction.execute("DELETE FROM attempt WHERE destination=? AND number<=? AND NOT dead", (key, oldest))
    dead = any(dead for *_, dead in rows)
    if dead and (enough := transaction.execute(_OLDEST_DEAD, (key, KEPT_DEAD)).fetchone()) is not None:
        transaction.execute("DELETE FROM attempt WHERE destination=? AND number<=? AND dead", (key, *enough))
