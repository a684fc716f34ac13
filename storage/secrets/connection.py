"""The database connection that secrets and stores use, of any engine."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Protocol


class Rows(Protocol):
    """The result of a statement: the rows found, and the number of rows changed."""

    @property
    def rowcount(self) -> int:
        """Number of changed rows."""

    def __iter__(self) -> Iterator[Any]:
        """Iterate over the remaining rows."""

    def close(self) -> None:
        """Discard the remaining rows."""

    def fetchmany(self, size: int = 1, /) -> list[Any]:
        """Return at most `size` of the remaining rows."""

    def fetchone(self) -> Any:
        """Return the next row, None after the last."""

    def fetchall(self) -> list[Any]:
        """Return the remaining rows."""


class Connection(Protocol):
    """Runs statements inside the caller's transaction. The placeholder is `?`."""

    def execute(self, statement: str, parameters: Sequence[Any] = (), /) -> Rows:
        """Run a statement."""

    def executemany(self, statement: str, rows: Iterable[Sequence[Any]], /) -> Rows:
        """Run a statement once per row; `rowcount` is the total."""
