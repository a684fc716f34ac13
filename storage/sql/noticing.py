"""The writer, the readers and the look-ups as the stores use them: damage that they meet is noted."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from storage.append import Lease
from storage.damage import Damage
from storage.secrets.connection import Connection
from storage.sql.transaction import Job, Lookups, Readers, Row, Transaction, Writer

T = TypeVar("T")


class NoticingWriter:
    """See Writer."""

    def __init__(self, writer: Writer, damage: Damage) -> None:
        self._writer, self._damage = writer, damage

    async def submit(self, job: Job[T], *, events: int = 0, rows: int = 1, holds: Sequence[Row] = ()) -> T:
        """Run a job in the next transaction; see Writer."""
        with self._damage.noted():
            return await self._writer.submit(job, events=events, rows=rows, holds=holds)


class FencedWriter:
    """See Writer. Each job is refused once another start owns the data."""

    def __init__(self, writer: Writer, lease: Lease) -> None:
        self._writer, self._lease = writer, lease

    async def submit(self, job: Job[T], *, events: int = 0, rows: int = 1, holds: Sequence[Row] = ()) -> T:
        """Run a job in the next transaction; see Writer."""

        def fenced(transaction: Transaction) -> T:
            transaction.fence(self._lease)
            return job(transaction)

        return await self._writer.submit(fenced, events=events, rows=rows, holds=holds)


class NoticingReaders:
    """See Readers."""

    def __init__(self, readers: Readers, damage: Damage) -> None:
        self._readers, self._damage = readers, damage

    async def run(self, look: Callable[[Connection], T]) -> T:
        """Return what `look` finds; see Readers."""
        with self._damage.noted():
            return await self._readers.run(look)


class NoticingLookups:
    """See Lookups."""

    def __init__(self, lookups: Lookups, damage: Damage) -> None:
        self._lookups, self._damage = lookups, damage

    async def one(self, query: str, given: Sequence[Any] = ()) -> Any:
        """Return the first row; see Lookups."""
        with self._damage.noted():
            return await self._lookups.one(query, given)
