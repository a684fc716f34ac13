"""Shipping: all that is committed, in order, for a copy of the whole database elsewhere. One shipper at a time.

A chain begins with the database as it is at one moment; changes follow, each a whole number of transactions. Between
`Begun` and `copied` the file stands still; what is committed meanwhile is told as changes.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple, Protocol


class Origin(NamedTuple):
    """Whose copy it is. id: of the instance, over all its lives; number: rises with each take-over."""

    id: int
    number: int


class Begun(NamedTuple):
    """A chain begins here: the database has so many bytes, and a schema. Changes before it belong to earlier chains."""

    size: int
    schema: int


class Change(NamedTuple):
    """Pages that were written, by number (from 1), and the database's size in pages behind them."""

    pages: Mapping[int, bytes]
    size: int


class Shipping(Protocol):
    """See above. key: derived from the master key, of 32 bytes: the copy's MACs are made with it."""

    key: bytes

    async def origin(self, drawn: int) -> Origin:
        """Return whose copy it is; `drawn` becomes the id where there is none yet. Raises StorageError."""

    async def renew(self) -> None:
        """Ask for a new chain; `Begun` comes among the changes once readers let it. Ask again until it has come.

        Raises StorageError.
        """

    async def next(self) -> Begun | Change | None:
        """Return what follows, None when all has been told. Raises ChainBroken: then only a new chain helps."""

    async def copy(self, offset: int, size: int) -> bytes:
        """Read the database as it was at `Begun`, until `copied`. Raises OSError."""

    def broken(self) -> str:
        """Return why no more can be told without a new chain, "" while it can."""

    async def copied(self) -> None:
        """Let the database be written again. Raises ChainBroken: it was written before, so the copy is torn."""

    def untold(self) -> int:
        """Return about how many bytes are committed and not told yet."""

    async def end(self) -> None:
        """Ship no more: the database is as without a shipper."""

    async def give_way(self) -> None:
        """Refuse every write of this life from now on: another has taken over. Raises StorageError."""
