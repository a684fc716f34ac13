"""Days of checks and shifts in SQL.

The day number leads the key, so a day's rows are adjacent: new days are written at one end and old ones deleted at the
other. One source's year takes some hundred look-ups of single rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from storage.records.coverage import MOST_SHIFTS, Shift, following
from storage.records.identity import Millis, SourceId
from storage.records.tally import Day, summed, united
from storage.secrets.sealing import Connection
from storage.sql.transaction import MOST_ROWS, Store, Transaction, every_row, in_transaction, read_only, write_one

_SELECT: Final = "SELECT number, node, began, saved, until, after FROM shift "
_INSERT: Final = "INSERT INTO shift(node, began, saved, until, after) VALUES(?,?,?,?,?) RETURNING number"
_SAVE: Final = "UPDATE shift SET saved=?, until=? WHERE number=?"
_SPARE: Final = "DELETE FROM shift WHERE number<=(SELECT max(number) FROM shift)-?"
_PAST: Final = "DELETE FROM shift WHERE coalesce(until, saved)<? AND number<(SELECT max(number) FROM shift)"
_CUT: Final = "UPDATE shift SET began=?, after='retention' WHERE began<?"
_PUT: Final = """INSERT INTO look_day(day, key, body, sums) VALUES(?,?,?,?)
    ON CONFLICT(day, key) DO UPDATE SET body=excluded.body, sums=excluded.sums"""
_FORGET: Final = """DELETE FROM look_day WHERE (day, key) IN
    (SELECT day, key FROM look_day WHERE day<? ORDER BY day, key LIMIT ?)"""
_DAYS: Final = """WITH RECURSIVE asked(day) AS (
        SELECT CAST(? AS BIGINT) UNION ALL SELECT day + 1 FROM asked WHERE day < ?
    ) SELECT d.day, d.body, d.sums FROM asked JOIN look_day d ON d.day=asked.day AND d.key=? ORDER BY d.day"""
"""Looks up each day, since the day leads the key: a range of days would read all sources' days."""
_THERE: Final = "SELECT k.key, d.body FROM source_key k LEFT JOIN look_day d ON d.key=k.key AND d.day=? WHERE k.id=?"
_DAY_MS: Final = 86_400_000


class Coverage(Store):
    """Days of checks, and shifts. Every write raises the same errors as a write to the log."""

    @in_transaction()
    def begin(self, transaction: Transaction, node: str, now: Millis) -> Shift:
        row = transaction.execute(_SELECT + "WHERE node=? ORDER BY number DESC LIMIT 1", (node,)).fetchone()
        copied = transaction.execute("DELETE FROM fact WHERE name='restored'").rowcount > 0
        return _inserted(transaction, following(None if row is None else Shift(*row), node, now, copied=copied))

    @in_transaction()
    def step(self, transaction: Transaction, before: Shift, after: Shift) -> Shift:
        transaction.execute(_SAVE, (before.saved, before.until, before.number))
        return _inserted(transaction, after)

    async def save(self, shift: Shift) -> None:
        await write_one(self._writer, _SAVE, shift.saved, shift.until, shift.number)

    async def shifts(self) -> Sequence[Shift]:
        return [Shift(*row) for row in await every_row(self._readers, _SELECT + "ORDER BY number")]

    async def keep(self, days: Sequence[tuple[SourceId, Day]]) -> None:
        """Store past days in one transaction, also grown ones. Skips unknown sources."""
        if not days:
            return

        def job(transaction: Transaction) -> None:
            for source, day in days:
                _put(transaction, source, day)

        await self._writer.submit(job, rows=len(days))

    @read_only
    def days(self, connection: Connection, source: SourceId, first: int, last: int) -> Sequence[Day]:
        row = connection.execute("SELECT key FROM source_key WHERE id=?", (source,)).fetchone()
        if row is None:
            return ()
        return [Day(*each) for each in connection.execute(_DAYS, (first, last, row[0])).fetchall()]

    @in_transaction(rows=lambda _before, limit: min(limit, MOST_ROWS))
    def forget(self, transaction: Transaction, before: int, limit: int) -> int:
        """Delete days before one and let the shifts' record begin there; return how many."""
        begins = before * _DAY_MS
        if transaction.execute("SELECT 1 FROM shift WHERE began<?", (begins,)).fetchone() is not None:
            transaction.execute(_PAST, (begins,))
            transaction.execute(_CUT, (begins, begins))
        return transaction.execute(_FORGET, (before, limit)).rowcount


def _inserted(transaction: Transaction, shift: Shift) -> Shift:
    (number,) = transaction.execute(_INSERT, shift[1:]).fetchone()
    if transaction.execute(_SPARE, (MOST_SHIFTS,)).rowcount:
        transaction.execute("UPDATE shift SET after='retention' WHERE number=(SELECT min(number) FROM shift)")
    return shift._replace(number=number)


def _put(transaction: Transaction, source: SourceId, day: Day) -> None:
    """Store one day of a source. Hours repeated by a clock set back go after the stored ones."""
    row = transaction.execute(_THERE, (day.number, source)).fetchone()
    if row is None:
        return
    key, there = row
    grown = day if there is None else united(Day(day.number, there), day)
    if grown.body != there:
        transaction.execute(_PUT, (day.number, key, grown.body, summed(grown)))
