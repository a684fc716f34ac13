"""Look-ups of single rows, gathered: one visit is under way, and all that are asked for meanwhile go in the next.

None joins a visit that is under way, which may have begun before a key was revoked; so what is revoked is refused by
the very next request. What is asked for several times in one visit is asked of the server once.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import trio

from storage.errors import StorageError
from storage.postgres.engine.connection import PostgresConnection
from storage.postgres.engine.readers import LinePool

_Key = tuple[str, tuple[Any, ...]]


class _Asked:
    """One question of a visit, and what came of it."""

    __slots__ = ("answered", "error", "row")

    def __init__(self) -> None:
        self.answered = False
        self.row: Any = None
        self.error: StorageError | None = None

    def take(self, row: Any, error: StorageError | None = None) -> None:
        self.answered, self.row, self.error = True, row, error


class GatheredLookups:
    """See `storage.sql.transaction.Lookups`."""

    def __init__(self, pool: LinePool) -> None:
        self._pool = pool
        self._turn = trio.Lock()
        self._next: dict[_Key, _Asked] = {}

    def __repr__(self) -> str:
        return f"GatheredLookups(waiting={len(self._next)})"

    async def one(self, query: str, given: Sequence[Any] = ()) -> Any:
        """Return the first row; see Lookups."""
        key = (query, tuple(given))
        asked = self._next.setdefault(key, _Asked())
        async with self._turn:
            if not asked.answered:
                self._next[key] = asked  # whoever had taken it along was cancelled
                await self._visit()
        if asked.error is not None:
            raise asked.error
        return asked.row

    async def _visit(self) -> None:
        batch, self._next = self._next, {}
        try:
            rows = await self._pool.visit(lambda connection: _rows(connection, list(batch)))
        except StorageError as error:
            for asked in batch.values():
                asked.take(None, error)
        else:
            for asked, row in zip(batch.values(), rows, strict=True):
                asked.take(row)

    async def aclose(self) -> None:
        """Close the line."""
        await self._pool.aclose()


def _rows(connection: PostgresConnection, keys: Sequence[_Key]) -> list[Any]:
    if len(keys) == 1:
        return [connection.execute(*keys[0]).fetchone()]
    with connection.raw.pipeline():
        cursors = [connection.execute(*key) for key in keys]
        return [cursor.fetchone() for cursor in cursors]
