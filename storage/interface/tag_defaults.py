"""The store of tags' defaults."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol

from storage.records.tag_defaults import TagDefaults

Change = Callable[[TagDefaults | None], TagDefaults | None]
"""Gets what a tag has and returns what it is to have; None: nothing. What it raises leaves all as it was."""


class TagsDefaults(Protocol):
    """Defaults, at most one record a tag."""

    async def all(self) -> Sequence[TagDefaults]:
        """Return all of them, by their tags."""

    async def get(self, tag: str) -> TagDefaults | None:
        """Return a tag's defaults."""

    async def edit(self, tag: str, change: Change) -> TagDefaults | None:
        """Set, replace or take away a tag's defaults in one transaction; return what it has then."""

    async def revision(self) -> int:
        """Return a number that grows with each change of any of them, by whatever node."""
