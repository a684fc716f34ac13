"""Wrappers of writer, readers and look-ups for the stores, which record damage."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from storage.append import Lease
from storage.damage import Damage
from storage.secrets.connection import Connection
from storage.sql.transaction import Job, Lookups, Readers, Row, Transaction, Writer

T = TypeVar("T")


class NoticingWriter:
    """A Writer that records damage."""

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
    """Readers that record damage."""

    def __init__(self, readers: Readers, damage: Damage) -> None:
        self._readers, self._damage = readers, damage

    async def run(self, look: Callable[[Connection], T]) -> T:
        with self._damage.noted():
            return await self._readers.run(look)


class NoticingLookups:
    """Lookups that record damage."""

    def __init__(self, lookups: Lookups, damage: Damage) -> None:
        self._lookups, self._damage = lookups, damage

    async def one(self, query: str, given: Sequence[Any] = ()) -> Any:
        with self._damage.noted():
            return await self._lookups.one(query, given)
