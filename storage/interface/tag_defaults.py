"""The store of tags' defaults."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol

from storage.records.source import TagDefaults

Change = Callable[[TagDefaults | None], TagDefaults | None]
"""Gets a tag's defaults and returns the new ones, None for none. If it raises, nothing changes."""


class TagsDefaults(Protocol):
    """Defaults, at most one record per tag."""

    async def all(self) -> Sequence[TagDefaults]:
        """Return all of them, by their tags."""

    async def get(self, tag: str) -> TagDefaults | None:
        """Return a tag's defaults."""

    async def edit(self, tag: str, change: Change) -> TagDefaults | None:
        """Set, replace or remove a tag's defaults in one transaction; return the new ones."""

    async def revision(self) -> int:
        """Return a number that rises with each change of any of them, on any node."""
