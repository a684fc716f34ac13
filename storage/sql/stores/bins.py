"""Webhook bins in SQL.

Unauthenticated requests look up tokens, so that is one indexed look-up, as with keys.
The total weight of all captures has its own row in `fact`.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import closing
from heapq import heapify, heappop, heapreplace

import msgspec

from storage.records.bin import Bin, Capture, CapturePage, StoredCapture
from storage.records.identity import Millis
from storage.secrets import Connection
from storage.sql.writing import Row, Store, Transaction, in_transaction, read_only, write_one

_decode = msgspec.msgpack.Decoder(Capture).decode
_BIN = "SELECT id, token, created_at, expires_at FROM bin"
_SWEEP = "DELETE FROM bin WHERE id IN (SELECT id FROM bin WHERE expires_at<=? ORDER BY expires_at LIMIT ?)"
_WEIGHT = "SELECT value FROM fact WHERE name='captured'"
_SURPLUS = """DELETE FROM capture WHERE number IN
    (SELECT number FROM capture WHERE bin=? ORDER BY number DESC LIMIT 9223372036854775807 OFFSET ?)"""
_WEIGHTS = "SELECT -sum(size), min(number), bin FROM capture GROUP BY bin HAVING count(*)>1"
_OLDEST = "SELECT number, size FROM capture WHERE bin=? ORDER BY number LIMIT 2"
_CAPTURES = "SELECT number, size, body FROM capture WHERE bin=? AND number<? ORDER BY number DESC LIMIT ?"
_NEWEST = (1 << 63) - 1
MANY = 100
"""Bins that take long to weigh (70 ms for a thousand full ones); with more, extra room is made so that it is rare."""
_HOLDS: Sequence[Row] = (("fact", "captured"),)  # the weight of all captures, which every change of one writes
_ADD = "INSERT INTO bin(id, token, created_at, expires_at) VALUES(?,?,?,?)"


class Bins(Store):
    """Webhook bins and their captures."""

    async def add(self, bin: Bin) -> None:
        await self._write(_ADD, bin.id, bin.token, bin.created_at, bin.expires_at)

    async def by_token(self, token: str) -> Bin | None:
        """Return the bin with this token, expired or not. On the path of unauthenticated requests: microseconds."""
        return await self._look_up(Bin, _BIN + " WHERE token=?", token)

    async def get(self, bin_id: str) -> Bin | None:
        return await self._look_up(Bin, _BIN + " WHERE id=?", bin_id)

    async def all(self) -> Sequence[Bin]:
        return await self._all(Bin, _BIN + " ORDER BY created_at, id")

    async def delete(self, bin_id: str) -> bool:
        return await self._write("DELETE FROM bin WHERE id=?", bin_id) > 0

    async def sweep(self, now: Millis, limit: int) -> int:
        """Delete at most `limit` expired bins with their captures; return how many bins."""
        return await self._write(_SWEEP, now, limit)

    @in_transaction(holds=lambda *_, **__: _HOLDS)
    def capture(self, transaction: Transaction, bin_id: str, capture: Capture, *, keep: int, room: int) -> bool:
        """Store a request to a bin; return whether the bin exists. The same transaction deletes the bin's oldest
        captures beyond `keep`, and the oldest of the heaviest bin while all weigh more than `room` bytes. Each bin
        keeps its newest capture, so no bin can empty another.
        """
        insert = "INSERT INTO capture(bin, size, body) SELECT id, ?, ? FROM bin WHERE id=?"
        if not transaction.execute(insert, (capture.weight, msgspec.msgpack.encode(capture), bin_id)).rowcount:
            return False
        transaction.execute(_SURPLUS, (bin_id, keep))
        _make_room(transaction, room)
        return True

    @read_only
    def captures(self, connection: Connection, bin_id: str, before: int | None, limit: int, size: int) -> CapturePage:
        """Return captures before a number, newest first: at most `limit` and `size` bytes, but at least one."""
        found: list[StoredCapture] = []
        left, start = size, _NEWEST if before is None else min(before, _NEWEST)
        # Row by row: captures that do not fit are not read.
        with closing(connection.execute(_CAPTURES, (bin_id, start, limit + 1))) as rows:
            for number, weight, body in rows:
                if found and (len(found) == limit or weight > left):
                    return CapturePage(found, more=True)
                left -= weight
                found.append(StoredCapture(number, _decode(body)))
        return CapturePage(found, more=False)

    async def _write(self, statement: str, *given: object) -> int:
        return await write_one(self._writer, statement, *given, holds=_HOLDS)


def _make_room(transaction: Transaction, room: int) -> None:
    surplus = transaction.execute(_WEIGHT).fetchone()[0] - room
    heaviest = transaction.execute(_WEIGHTS).fetchall() if surplus > 0 else []
    heapify(heaviest)  # each bin is weighed once, however many captures are deleted
    if len(heaviest) > MANY:
        surplus += room // 64
    while surplus > 0 and heaviest:
        weight, _, bin = heaviest[0]
        (number, size), *after = transaction.execute(_OLDEST, (bin,)).fetchall()
        if after:
            transaction.execute("DELETE FROM capture WHERE number=?", (number,))
            surplus -= size
            heapreplace(heaviest, (weight + size, after[0][0], bin))
        else:
            heappop(heaviest)
