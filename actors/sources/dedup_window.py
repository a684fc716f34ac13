"""The ids that a push source has admitted lately, so that a repeated one is told once; and the newest id. Pure.

In memory the newest `SPAN` marks are known. What is saved with each harvest is bounded by what the harvest brings:
`LEAST_SAVED` marks, or `SAVED_A_FRAME` for each frame in it, so that a busy source keeps its whole window, which is
soon full, and a slow one does not rewrite sixty kilobytes for each frame. What that leaves out is saved at a stop, and
is forgotten in a crash. Beside the marks lie the notes of listening, which cost no write of their own.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

import msgspec
from msgspec import Struct

from actors.content.bodies.frames import MARK
from storage.records.note import Note, StoredMemory, noted, opened, sealed

SPAN: Final = 10_000
LEAST_SAVED: Final = 2_000
SAVED_A_FRAME: Final = 40


class _Saved(Struct, frozen=True, array_like=True):
    marks: bytes
    last_id: str
    place: str = ""


class DedupWindow:
    """Marks of admitted frames, oldest first, and the id of the last frame that had one."""

    def __init__(self, marks: Iterable[bytes] = (), last_id: str = "", notes: bytes = b"", place: str = "") -> None:
        self._marks = dict.fromkeys(marks)
        self._notes = notes
        self.last_id = last_id
        self.place = place
        """The id behind which a stream over HTTP is resumed: that of the last event that was read, admitted or not."""
        self.is_saved = self.is_place_saved = True
        """Whether the last `encode` had all that there is."""

    def __len__(self) -> int:
        return len(self._marks)

    def __repr__(self) -> str:
        return f"<DedupWindow of {len(self)}>"

    def __contains__(self, mark: bytes) -> bool:
        return mark in self._marks

    def add(self, mark: bytes, own_id: str) -> None:
        """Take a frame in; the oldest goes when there are too many."""
        self._marks[mark] = None
        self.last_id = own_id or self.last_id
        if len(self._marks) > SPAN:
            del self._marks[next(iter(self._marks))]

    def move(self, place: str | None) -> None:
        """Resume behind this event from now on; None where nobody knows."""
        if place is not None and place != self.place:
            self.place, self.is_saved, self.is_place_saved = place, False, False

    def note(self, stretch: Note) -> None:
        """Take in a note of how the listening went."""
        self._notes = noted(self._notes, stretch)
        self.is_saved = False

    def encode(self, fresh: int) -> bytes:
        """Return what to save with a harvest of `fresh` frames: the newest marks."""
        most = min(SPAN, max(LEAST_SAVED, SAVED_A_FRAME * fresh))
        self.is_saved = most >= len(self._marks)
        self.is_place_saved = True
        marks = b"".join(list(self._marks)[-most:])
        return sealed(StoredMemory(msgspec.msgpack.encode(_Saved(marks, self.last_id, self.place)), self._notes))


def decode(saved: bytes) -> DedupWindow:
    """Return the window that `encode` gave; an empty one for any other bytes."""
    kept = opened(saved)
    try:
        found = msgspec.msgpack.decode(kept.tier, type=_Saved)
    except (msgspec.DecodeError, UnicodeDecodeError):
        return DedupWindow(notes=kept.notes)
    marks = (found.marks[at : at + MARK] for at in range(0, len(found.marks) - len(found.marks) % MARK, MARK))
    return DedupWindow(marks, found.last_id, kept.notes, found.place)
