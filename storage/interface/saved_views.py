"""The store of the dashboard's saved views."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from storage.records.session import SavedView


class SavedViews(Protocol):
    """Filters of lists, under names."""

    async def all(self) -> Sequence[SavedView]:
        """Return all of them, oldest first."""

    async def put(self, view: SavedView) -> None:
        """Add or replace a view."""

    async def delete(self, view_id: str) -> bool:
        """Delete a view; return whether there was one."""
