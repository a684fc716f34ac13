"""Notes that the next page of a browser shows once: that a change is done, or a secret that is shown only now.

In memory, bounded, for a few minutes: a restart loses it without harm, and a secret is nowhere else.
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
    """A sentence, a secret, or both. bad: no good news. until: on Trio's clock. undo: the key of what takes it back."""

    says: str
    bad: bool
    secret: Secret | None
    until: float
    undo: str = ""


class Notes:
    """The notes of all browsers that have not shown theirs yet."""

    def __init__(self) -> None:
        self._kept: OrderedDict[str, list[Note]] = OrderedDict()

    def leave(self, who: str, says: str, *, bad: bool = False, secret: Secret | None = None, undo: str = "") -> None:
        """Keep a note for a browser's next page."""
        notes = self._kept.setdefault(who, [])
        notes.append(Note(says, bad, secret, trio.current_time() + KEPT, undo))
        del notes[:-OF_ONE]
        self._kept.move_to_end(who)
        if len(self._kept) > BROWSERS:
            self._kept.popitem(last=False)

    def take(self, who: str) -> list[Note]:
        """Return a browser's notes, for the last time."""
        now = trio.current_time()
        return [note for note in self._kept.pop(who, []) if note.until > now]
