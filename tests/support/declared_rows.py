"""Finds jobs that change an undeclared row: on a shared database two of them can deadlock."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import wraps
from typing import Any
from unittest.mock import patch

from storage.sql.writing import Job, Row, Transaction
from tests.support.in_loop import LoopWriter

_IDS = {
    "alert": "OLD.id",
    "cursor": "OLD.name",
    "destination": "OLD.id",
    "fact": "OLD.name",
    "publication": "OLD.id",
    "source": "(SELECT id FROM source_key WHERE key=OLD.key)",
}


class Undeclared(AssertionError):
    """A job changed a row that its `holds` does not name."""


@contextmanager
def declared_rows() -> Iterator[None]:
    """Check every job of the in-loop engine during the block."""
    right = LoopWriter.submit

    async def submit(self: LoopWriter, job: Job[Any], *, holds: Sequence[Row] = (), **more: Any) -> Any:
        @wraps(getattr(job, "func", job))
        def checked(transaction: Transaction) -> Any:
            changed: list[Row] = []
            _watch(self._disk.connection, changed)
            result = job(transaction)
            cascades = {row for row in changed if row[0] == "destination"} if "drops" in dict(holds) else set()
            if undeclared := set(changed) - set(holds) - cascades:
                raise Undeclared(f"{checked.__qualname__} changes {sorted(undeclared)}")
            return result

        return await right(self, checked, holds=holds, **more)

    with patch.object(LoopWriter, "submit", submit):
        yield


def _watch(connection: sqlite3.Connection, changed: list[Row]) -> None:
    connection.create_function("changed", 2, lambda table, id: changed.append((table, id)))
    for table, id in _IDS.items():
        which = f"WHEN {id} IN ('alerts', 'captured', 'retractions', 'tag_defaults') " if table == "fact" else ""
        for act in ("UPDATE",) if table == "source" else ("UPDATE", "DELETE"):  # deletes of sources hold the log's lock
            connection.execute(
                f"CREATE TEMP TRIGGER IF NOT EXISTS declared_{act}_{table} BEFORE {act} ON main.{table} {which}"
                f"BEGIN SELECT changed('{table}', {id}); END"
            )
