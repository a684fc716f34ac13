"""The dashboard's saved views, in SQL."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from storage.append import Lease
from storage.records.saved_view import SavedView
from storage.secrets.connection import Connection
from storage.sql.transaction import Readers, Transaction, Writer

_decode = msgspec.json.Decoder(SavedView).decode
_PUT = """INSERT INTO saved_view(id, created_at, body) VALUES(?,?,?)
    ON CONFLICT(id) DO UPDATE SET created_at=excluded.created_at, body=excluded.body"""


class SqlSavedViews:
    """See `storage.interface.SavedViews`."""

    def __init__(self, writer: Writer, readers: Readers, lease: Lease) -> None:
        self._writer, self._readers, self._lease = writer, readers, lease

    async def all(self) -> Sequence[SavedView]:
        """Return all views; see SavedViews."""

        def look(connection: Connection) -> Sequence[SavedView]:
            rows = connection.execute("SELECT body FROM saved_view ORDER BY created_at, id").fetchall()
            return [_decode(body) for (body,) in rows]

        return await self._readers.run(look)

    async def put(self, view: SavedView) -> None:
        """Add or replace a view; see SavedViews."""

        def job(transaction: Transaction) -> None:
            transaction.fence(self._lease)
            transaction.execute(_PUT, (view.id, view.created_at, msgspec.json.encode(view)))

        await self._writer.submit(job)

    async def delete(self, view_id: str) -> bool:
        """Delete a view; see SavedViews."""

        def job(transaction: Transaction) -> bool:
            transaction.fence(self._lease)
            return transaction.execute("DELETE FROM saved_view WHERE id=?", (view_id,)).rowcount > 0

        return await self._writer.submit(job)
