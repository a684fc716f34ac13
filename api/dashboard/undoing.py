"""Changes that can be undone: the browser's next page has a button for it.

They are in memory, bounded, for ten minutes. A restart loses the button; deleted sources can still be restored on their
page. Pure.
"""

from __future__ import annotations

from collections import OrderedDict
from typing import Literal, NamedTuple

MOST = 50
"""Changes of all browsers together; one may cover 10,000 sources."""
KEPT = 600_000
"""Milliseconds."""


class Undo(NamedTuple):
    """The undo action for these sources."""

    act: Literal["restore", "resume"]
    ids: tuple[str, ...]


class _Kept(NamedTuple):
    who: str
    undo: Undo
    until: int


class Undos:
    """The newest undoable changes, by keys that work only in the same browser."""

    def __init__(self) -> None:
        self._kept: OrderedDict[str, _Kept] = OrderedDict()
        self._given = 0

    def __repr__(self) -> str:
        return f"<Undos of {len(self._kept)} changes>"

    def keep(self, who: str, undo: Undo, now: int) -> str:
        """Store a change; return its key."""
        self._given += 1
        key = str(self._given)
        self._kept[key] = _Kept(who, undo, now + KEPT)
        if len(self._kept) > MOST:
            self._kept.popitem(last=False)
        return key

    def take(self, who: str, key: str, now: int) -> Undo | None:
        """Return and remove a change of this browser."""
        kept = self._kept.get(key)
        if kept is None or kept.who != who:
            return None
        del self._kept[key]
        return kept.undo if kept.until > now else None
