"""A database's connection as secrets and stores use it, whichever engine it is of."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Protocol


class Rows(Protocol):
    """The rows that a statement has found, and how many it has changed."""

    @property
    def rowcount(self) -> int:
        """How many rows were changed."""

    def __iter__(self) -> Iterator[Any]:
        """Return the rows that are left, one by one."""

    def close(self) -> None:
        """Do without the rows that are left."""

    def fetchmany(self, size: int = 1, /) -> list[Any]:
        """Return at most so many of the rows that are left."""

    def fetchone(self) -> Any:
        """Return the next row, None after the last."""

    def fetchall(self) -> list[Any]:
        """Return the rows that are left."""


class Connection(Protocol):
    """Where statements run, inside whatever transaction is open: a database's connection. `?` holds a place."""

    def execute(self, statement: str, parameters: Sequence[Any] = (), /) -> Rows:
        """Run a statement."""

    def executemany(self, statement: str, rows: Iterable[Sequence[Any]], /) -> Rows:
        """Run a statement for each of some rows; `rowcount` is of all of them together."""
