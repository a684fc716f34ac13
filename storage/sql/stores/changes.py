"""The changes of sources that nodes follow, in SQL. An engine shared by nodes has the table `source_change`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from storage.interface.sharing import Newest, SourceChange
from storage.records.identity import SourceId
from storage.secrets.connection import Connection
from storage.secrets.vault import Vault
from storage.sql.stores.sources import watched_of
from storage.sql.transaction import Readers

_NEWEST = """SELECT (SELECT coalesce(max(number), 0) FROM source_change),
    (SELECT value FROM fact WHERE name='tag_defaults')"""
_AFTER = """SELECT c.number, k.id, s.body, s.sealed, h.body, h.version, h.jar FROM source_change c
    JOIN source_key k ON k.key=c.key LEFT JOIN source s ON s.key=c.key LEFT JOIN source_hot h ON h.key=c.key
    WHERE c.number>? ORDER BY c.number LIMIT ?"""


class SqlChanges:
    """See `storage.interface.sharing.Sharing`."""

    def __init__(self, readers: Readers, vault: Vault) -> None:
        self._readers, self._vault = readers, vault

    async def newest(self) -> Newest:
        change, tags = await self._readers.run(lambda connection: connection.execute(_NEWEST).fetchone())
        return Newest(int(change), int(tags))

    async def changes(self, after: int, limit: int) -> Sequence[SourceChange]:
        def look(connection: Connection) -> Sequence[SourceChange]:
            return [self._change(row) for row in connection.execute(_AFTER, (after, limit)).fetchall()]

        return await self._readers.run(look)

    def _change(self, row: Any) -> SourceChange:
        number, source, body, sealed, hot, version, jar = row
        watched = None if body is None else watched_of((body, sealed, hot, b"", version, jar), self._vault)
        return SourceChange(number, SourceId(source), watched)
