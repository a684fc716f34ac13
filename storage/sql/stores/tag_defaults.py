"""Tags' defaults in SQL."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from storage.interface.tag_defaults import Change
from storage.records.source import TagDefaults
from storage.sql.transaction import Readers, Transaction, Writer

_decode = msgspec.json.Decoder(TagDefaults).decode
_ONE = "SELECT body FROM tag_defaults WHERE tag=?"
_PUT = "INSERT INTO tag_defaults(tag, body) VALUES(?,?) ON CONFLICT(tag) DO UPDATE SET body=excluded.body"
_REVISE = "UPDATE fact SET value=value+1 WHERE name='tag_defaults'"
_REVISION = "SELECT value FROM fact WHERE name='tag_defaults'"


class SqlTagDefaults:
    """See `storage.interface.TagsDefaults`."""

    def __init__(self, writer: Writer, readers: Readers) -> None:
        self._writer, self._readers = writer, readers

    async def all(self) -> Sequence[TagDefaults]:
        """Return all of them; see TagsDefaults."""
        every = "SELECT body FROM tag_defaults ORDER BY tag"
        rows = await self._readers.run(lambda connection: connection.execute(every).fetchall())
        return [_decode(body) for (body,) in rows]

    async def get(self, tag: str) -> TagDefaults | None:
        row = await self._readers.run(lambda connection: connection.execute(_ONE, (tag,)).fetchone())
        return None if row is None else _decode(row[0])

    async def edit(self, tag: str, change: Change) -> TagDefaults | None:
        def job(transaction: Transaction) -> TagDefaults | None:
            transaction.execute(_REVISE)  # first: whoever else changes one waits for it
            row = transaction.execute(_ONE, (tag,)).fetchone()
            changed = change(None if row is None else _decode(row[0]))
            if changed is None:
                transaction.execute("DELETE FROM tag_defaults WHERE tag=?", (tag,))
            else:
                transaction.execute(_PUT, (tag, msgspec.json.encode(changed)))
            return changed

        return await self._writer.submit(job)

    async def revision(self) -> int:
        return await self._readers.run(lambda connection: int(connection.execute(_REVISION).fetchone()[0]))
