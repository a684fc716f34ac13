"""The watched sources on SQLite. A source's number in `source_key` outlives it: its events stay findable."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence

import msgspec

from storage.errors import Duplicate
from storage.interface import Lease
from storage.records.identity import SourceId
from storage.records.source import Source, SourceState, Watched
from storage.sqlite.log import decode_hot, encode_hot
from storage.sqlite.readers import Readers
from storage.sqlite.writer import Transaction, Writer

_decode = msgspec.json.Decoder(Source).decode
_WATCHED = """SELECT s.body, h.body, b.body FROM source_key k JOIN source s ON s.key=k.key
    JOIN source_hot h ON h.key=k.key JOIN source_base b ON b.key=k.key """


class SqliteSources:
    """See `storage.interface.Sources`."""

    def __init__(self, writer: Writer, readers: Readers) -> None:
        self._writer, self._readers = writer, readers

    async def add(self, source: Source, state: SourceState, lease: Lease) -> None:
        """Add a source; see Sources."""

        def job(transaction: Transaction) -> None:
            transaction.fence(lease)
            existing = _by_url(transaction.connection, source.url)
            if existing is not None:
                raise Duplicate(existing)
            transaction.execute("INSERT INTO source_key(id) VALUES(?) ON CONFLICT DO NOTHING", (source.id,))
            (key,) = transaction.execute("SELECT key FROM source_key WHERE id=?", (source.id,)).fetchone()
            transaction.execute("INSERT INTO source VALUES(?,?,?)", (key, source.url, msgspec.json.encode(source)))
            transaction.execute("INSERT INTO source_hot VALUES(?,?)", (key, encode_hot(state.hot)))
            transaction.execute("INSERT INTO source_base VALUES(?,?)", (key, state.base or b""))

        await self._writer.submit(job, rows=3)

    async def update(self, source: Source, lease: Lease) -> None:
        """Replace what the user asked for; see Sources."""

        def job(transaction: Transaction) -> None:
            transaction.fence(lease)
            existing = _by_url(transaction.connection, source.url)
            if existing is not None and existing.id != source.id:
                raise Duplicate(existing)
            update = "UPDATE source SET url=?, body=? WHERE key=(SELECT key FROM source_key WHERE id=?)"
            transaction.execute(update, (source.url, msgspec.json.encode(source), source.id))

        await self._writer.submit(job)

    async def delete(self, source: SourceId, lease: Lease) -> None:
        """Forget a source and its state; see Sources."""

        def job(transaction: Transaction) -> None:
            transaction.fence(lease)
            transaction.execute("DELETE FROM source WHERE key=(SELECT key FROM source_key WHERE id=?)", (source,))

        await self._writer.submit(job, rows=3)

    async def get(self, source: SourceId) -> Watched | None:
        """Return one source; see Sources."""
        row = await self._readers.run(lambda c: c.execute(_WATCHED + "WHERE k.id=?", (source,)).fetchone())
        return None if row is None else _watched(row)

    async def by_url(self, url: str) -> Source | None:
        """Return the source of a URL; see Sources."""
        return await self._readers.run(lambda connection: _by_url(connection, url))

    async def page(self, after: SourceId | None, limit: int) -> Sequence[Watched]:
        """Return sources in id order; see Sources."""

        def look(connection: sqlite3.Connection) -> Sequence[Watched]:
            rows = connection.execute(_WATCHED + "WHERE k.id>? ORDER BY k.id LIMIT ?", (after or "", limit))
            return [_watched(row) for row in rows.fetchall()]

        return await self._readers.run(look)


def _by_url(connection: sqlite3.Connection, url: str) -> Source | None:
    row = connection.execute("SELECT body FROM source WHERE url=?", (url,)).fetchone()
    return None if row is None else _decode(row[0])


def _watched(row: tuple[bytes, bytes, bytes]) -> Watched:
    return Watched(_decode(row[0]), decode_hot(row[1]), row[2])
