"""The writer, the readers and the loop's own connection, as the stores use them: damage that they meet is noted."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from storage.damage import Damage
from storage.sqlite.engine.connection import translated
from storage.sqlite.engine.readers import Readers
from storage.sqlite.engine.writer import Job, Writer

T = TypeVar("T")


class NoticingWriter:
    """See Writer."""

    def __init__(self, writer: Writer, damage: Damage) -> None:
        self._writer, self._damage = writer, damage

    async def submit(self, job: Job[T], *, events: int = 0, rows: int = 1) -> T:
        """Run a job in the next transaction; see Writer."""
        with self._damage.noted():
            return await self._writer.submit(job, events=events, rows=rows)


class NoticingReaders:
    """See Readers."""

    def __init__(self, readers: Readers, damage: Damage) -> None:
        self._readers, self._damage = readers, damage

    async def run(self, look: Callable[[sqlite3.Connection], T]) -> T:
        """Return what `look` finds; see Readers."""
        with self._damage.noted():
            return await self._readers.run(look)


class OwnConnection:
    """The loop's own connection, for looks of microseconds."""

    def __init__(self, connection: sqlite3.Connection, damage: Damage) -> None:
        self._connection, self._damage = connection, damage

    def one(self, query: str, given: Sequence[Any] = ()) -> Any:
        """Return the first row, None when there is none. Not a checkpoint. Raises Corrupt, Unavailable."""
        with self._damage.noted(), translated():
            return self._connection.execute(query, given).fetchone()
