"""The dashboard's saved views, in SQL."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from storage.records.session import SavedView
from storage.sql.transaction import Readers, Transaction, Writer

_decode = msgspec.json.Decoder(SavedView).decode
_PUT = """INSERT INTO saved_view(id, created_at, body) VALUES(?,?,?)
    ON CONFLICT(id) DO UPDATE SET created_at=excluded.created_at, body=excluded.body"""


class SqlSavedViews:
    """See `storage.interface.SavedViews`."""

    def __init__(self, writer: Writer, readers: Readers) -> None:
        self._writer, self._readers = writer, readers

    async def all(self) -> Sequence[SavedView]:
        """Return all views; see SavedViews."""
        every = "SELECT body FROM saved_view ORDER BY created_at, id"
        rows = await self._readers.run(lambda connection: connection.execute(every).fetchall())
        return [_decode(body) for (body,) in rows]

    async def put(self, view: SavedView) -> None:
        def job(transaction: Transaction) -> None:
            transaction.execute(_PUT, (view.id, view.created_at, msgspec.json.encode(view)))

        await self._writer.submit(job)

    async def delete(self, view_id: str) -> bool:
        def job(transaction: Transaction) -> bool:
            return transaction.execute("DELETE FROM saved_view WHERE id=?", (view_id,)).rowcount > 0

        return await self._writer.submit(job)
