"""Look-ups of single rows, gathered: while one round trip runs, new look-ups wait for the next one.

No look-up joins a running round trip, which may have begun before a key was revoked; so the very next request refuses a
revoked key. Equal look-ups of one round trip are sent to the server once.
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
    """One look-up and its result."""

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
        key = (query, tuple(given))
        asked = self._next.setdefault(key, _Asked())
        async with self._turn:
            if not asked.answered:
                self._next[key] = asked  # the task that had taken it was cancelled
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
        await self._pool.aclose()


def _rows(connection: PostgresConnection, keys: Sequence[_Key]) -> list[Any]:
    if len(keys) == 1:
        return [connection.execute(*keys[0]).fetchone()]
    with connection.raw.pipeline():
        cursors = [connection.execute(*key) for key in keys]
        return [cursor.fetchone() for cursor in cursors]
