"""Screenshots of rendered pages in SQL. The log writes them with their events."""

from __future__ import annotations

from collections.abc import Sequence

from storage.records.identity import Millis, Seq, SourceId
from storage.records.picture import KeptPicture, Picture
from storage.secrets.sealing import Connection
from storage.sql.transaction import Store, Transaction, in_transaction, read_only

_KEEP = """INSERT INTO picture(key, seq, at, media, size, body) VALUES(?,?,?,?,?,?)
    ON CONFLICT(key, seq) DO UPDATE SET at=excluded.at, media=excluded.media, size=excluded.size, body=excluded.body"""
_OF = "FROM picture WHERE key=(SELECT key FROM source_key WHERE id=?)"
_HEAD = f"SELECT seq, at, media, size {_OF}"
_OLD = "SELECT number FROM picture WHERE at<? OR (seq>0 AND seq<=?) ORDER BY number LIMIT ?"
_WEIGHT = "SELECT coalesce(sum(size), 0) FROM picture"
_OLDEST = "SELECT number, size FROM picture ORDER BY at, number LIMIT ?"

PictureRow = tuple[int, Seq, Picture]
"""A source's number, an event's position (0: none), and the picture."""


def keep(transaction: Transaction, rows: Sequence[PictureRow]) -> None:
    """Write pictures; a new picture of the first check replaces the previous one."""
    transaction.executemany(_KEEP, [(key, seq, one.at, one.media, len(one.body), one.body) for key, seq, one in rows])


class Pictures(Store):
    """Screenshots of sources. Harvests bring them (`EventLog.append`); they are deleted with their source."""

    async def newest(self, source: SourceId) -> KeptPicture | None:
        return await self._head("ORDER BY at DESC, seq DESC LIMIT 1", source)

    async def around(self, source: SourceId, seq: Seq) -> tuple[KeptPicture | None, KeptPicture | None]:
        before = await self._head("AND seq<? ORDER BY seq DESC LIMIT 1", source, seq)
        return before, await self._head("AND seq=?", source, seq)

    @read_only
    def get(self, connection: Connection, source: SourceId, seq: Seq) -> Picture | None:
        row = connection.execute(f"SELECT media, body, at {_OF} AND seq=?", (source, seq)).fetchone()
        return None if row is None else Picture(row[0], bytes(row[1]), Millis(row[2]))

    @in_transaction(rows=lambda _before, _floor, _room, limit: limit)
    def prune(self, transaction: Transaction, before: Millis, floor: Seq, room: int, limit: int) -> int:
        """Delete at most `limit`: those before a moment, up to `floor`, and the oldest beyond `room` bytes."""
        doomed = [row[0] for row in transaction.execute(_OLD, (before, floor, limit)).fetchall()]
        if len(doomed) < limit:
            doomed += _surplus(transaction, frozenset(doomed), room, limit)
        doomed = doomed[:limit]
        transaction.executemany("DELETE FROM picture WHERE number=?", [(number,) for number in doomed])
        return len(doomed)

    @read_only
    def _head(self, connection: Connection, where: str, *values: object) -> KeptPicture | None:
        row = connection.execute(f"{_HEAD} {where}", values).fetchone()
        return None if row is None else KeptPicture(Seq(row[0]), Millis(row[1]), row[2], row[3])


def _surplus(transaction: Transaction, gone: frozenset[int], room: int, limit: int) -> list[int]:
    """Return the oldest pictures to delete so that the rest fits. `gone` are deleted anyway."""
    surplus = transaction.execute(_WEIGHT).fetchone()[0] - room
    doomed = list[int]()
    if surplus > 0:
        for number, size in transaction.execute(_OLDEST, (limit,)).fetchall():
            if surplus <= 0:
                break
            surplus -= size
            doomed += [number] if number not in gone else []
    return doomed
