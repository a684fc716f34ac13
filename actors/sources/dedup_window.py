"""The frame ids that a push source has recently admitted, to drop duplicates, and the newest id. Pure.

Memory holds the newest `SPAN` marks. The number saved with each harvest depends on its frames: `LEAST_SAVED` marks, or
`SAVED_A_FRAME` for each frame. So a busy source saves its whole window, and a slow one does not rewrite sixty
kilobytes for each frame. The rest is saved at a stop and lost in a crash. The notes on listening are stored with the
marks, which saves them separate writes.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

import msgspec
from msgspec import Struct

from actors.content.bodies.frames import MARK
from storage.records.checks import Note, StoredMemory, pack_memory, unpack_memory
from storage.records.checks import add_note as noted

SPAN: Final = 10_000
LEAST_SAVED: Final = 2_000
SAVED_A_FRAME: Final = 40


class _StoredWindow(Struct, frozen=True, array_like=True):
    marks: bytes
    last_id: str
    place: str = ""


class DedupWindow:
    """Marks of admitted frames, oldest first, and the id of the last frame that had one."""

    def __init__(self, marks: Iterable[bytes] = (), last_id: str = "", notes: bytes = b"", place: str = "") -> None:
        self._marks = dict.fromkeys(marks)
        self._notes, self.last_id = notes, last_id
        self.position = place
        """The event id after which a stream over HTTP resumes: the last one read, admitted or not."""
        self.is_saved = self.is_position_saved = True
        """Whether the last `encode` was complete."""

    def __len__(self) -> int:
        return len(self._marks)

    def __contains__(self, mark: bytes) -> bool:
        return mark in self._marks

    def add(self, mark: bytes, own_id: str) -> None:
        self._marks[mark] = None
        self.last_id = own_id or self.last_id
        if len(self._marks) > SPAN:
            del self._marks[next(iter(self._marks))]

    def move_to(self, position: str | None) -> None:
        """Resume after this event from now on; None: unknown."""
        if position is not None and position != self.position:
            self.position, self.is_saved, self.is_position_saved = position, False, False

    def add_note(self, stretch: Note) -> None:
        self._notes = noted(self._notes, stretch)
        self.is_saved = False

    def encode(self, fresh: int) -> bytes:
        """Return the bytes to save with a harvest of `fresh` frames: the newest marks."""
        most = min(SPAN, max(LEAST_SAVED, SAVED_A_FRAME * fresh))
        self.is_saved = most >= len(self._marks)
        self.is_position_saved = True
        marks = b"".join(list(self._marks)[-most:])
        window = msgspec.msgpack.encode(_StoredWindow(marks, self.last_id, self.position))
        return pack_memory(StoredMemory(window, self._notes))


def decode(saved: bytes) -> DedupWindow:
    """Return the window from the bytes of `encode`; an empty one for any other bytes."""
    stored = unpack_memory(saved)
    try:
        window = msgspec.msgpack.decode(stored.tier, type=_StoredWindow)
    except (msgspec.DecodeError, UnicodeDecodeError):
        return DedupWindow(notes=stored.notes)
    marks = (window.marks[at : at + MARK] for at in range(0, len(window.marks) - len(window.marks) % MARK, MARK))
    return DedupWindow(marks, window.last_id, stored.notes, window.place)
