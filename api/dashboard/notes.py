"""Notes that a browser's next page shows once: a completed change, or a secret.

They are in memory, bounded, for a few minutes. Losing them in a restart is harmless. A secret is stored nowhere else.
"""

from __future__ import annotations

from collections import OrderedDict
from typing import NamedTuple

import trio

from api.dashboard.screen import Secret

BROWSERS = 500
OF_ONE = 5
KEPT = 300.0
"""Seconds."""


class Note(NamedTuple):
    """A sentence, a secret, or both. bad: an error. until: on Trio's clock. undo: the key of the undo action."""

    says: str
    bad: bool
    secret: Secret | None
    until: float
    undo: str = ""


class Notes:
    """The notes that no page has shown yet, by browser."""

    def __init__(self) -> None:
        self._kept: OrderedDict[str, list[Note]] = OrderedDict()

    def leave(self, who: str, says: str, *, bad: bool = False, secret: Secret | None = None, undo: str = "") -> None:
        """Store a note for a browser's next page."""
        notes = self._kept.setdefault(who, [])
        notes.append(Note(says, bad, secret, trio.current_time() + KEPT, undo))
        del notes[:-OF_ONE]
        self._kept.move_to_end(who)
        if len(self._kept) > BROWSERS:
            self._kept.popitem(last=False)

    def take(self, who: str) -> list[Note]:
        """Return and remove a browser's notes."""
        now = trio.current_time()
        return [note for note in self._kept.pop(who, []) if note.until > now]
