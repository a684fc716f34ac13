"""The loop's own read-only connection, for look-ups of microseconds: no thread, no queue that a flood could fill."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from typing import Any

from storage.sqlite.engine.connection import translated


class OwnConnection:
    """See `storage.sql.transaction.Lookups`."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection

    async def one(self, query: str, given: Sequence[Any] = ()) -> Any:
        """Not a checkpoint."""
        with translated():
            return self._connection.execute(query, given).fetchone()
