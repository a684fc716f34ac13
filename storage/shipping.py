"""Shipping: all commits, in order, for a copy of the whole database elsewhere. One shipper at a time.

A chain begins with the database at one moment; changes follow, each a whole number of transactions. Between `Begun` and
`copied` the database file does not change; commits in that time arrive as changes.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple, Protocol


class Origin(NamedTuple):
    """The database copied. id: of the instance, across restarts. number: rises with each take-over."""

    id: int
    number: int


class Begun(NamedTuple):
    """The start of a chain. size: of the database in bytes. schema: its version. Earlier changes belong elsewhere."""

    size: int
    schema: int


class Change(NamedTuple):
    """Written pages, by number (from 1). size: of the database afterwards, in pages."""

    pages: Mapping[int, bytes]
    size: int


class Shipping(Protocol):
    """The source of a copy. key: 32 bytes derived from the master key, for the copy's MACs."""

    key: bytes

    async def origin(self, drawn: int) -> Origin:
        """Return the database copied; `drawn` becomes its id if it has none. Raises StorageError."""

    async def renew(self) -> None:
        """Ask for a new chain; `Begun` follows among the changes once readers allow it. Repeat until it arrives.

        Raises StorageError.
        """

    async def next(self) -> Begun | Change | None:
        """Return the next change, None if there is none. Raises ChainBroken: only a new chain helps then."""

    async def copy(self, offset: int, size: int) -> bytes:
        """Read the database as of `Begun`, until `copied`. Raises OSError."""

    def broken(self) -> str:
        """Return why only a new chain can continue, "" if the chain is intact."""

    async def copied(self) -> None:
        """Allow writes to the database file. Raises ChainBroken if it was written before, so the copy is torn."""

    def untold(self) -> int:
        """Return approximately how many committed bytes are not shipped yet."""

    async def end(self) -> None:
        """Stop shipping; the database is then as without a shipper."""

    async def give_way(self) -> None:
        """Refuse every write of this start from now on: another has taken over. Raises StorageError."""
