"""Notes of looks: why a look told what it told, and withheld the rest. Pure.

The trail (`trail`) says what became of every look in a few bytes; a note says more about those whose body changed. The
notes lie beside the tier's own memory in one envelope, so they are written when that memory is, and a look that found
nothing writes nothing. They are read when somebody asks, and are no part of the state that is kept in RAM.
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Mapping, Sequence
from typing import Literal, NamedTuple

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from storage.records.identity import Millis

MOST_NOTES = 40
MOST_BYTES = 6 * 1024
MOST_PARTS = 16
"""Parts of one note; the rest is only counted."""
EXCERPT = 160
"""Characters of a part's text, its rule and its key."""
_MOST_RAW = 1 << 20
_ENVELOPE = b"\xc1\x01"
"""No tier's memory begins so: MessagePack never uses the byte 0xC1, and a feed's memory begins with a small number."""
_THREE = b"\xc1\x02"
"""The same with a third part, which has its length, too."""
_LENGTH = struct.Struct(">I")

Came = Literal["told", "baseline", "churn", "held", "failed", "stretch"]
"""What a noted look came to. stretch: not a look, but a time of listening to a push source."""


class Part(Struct, frozen=True, array_like=True):
    """A block of a page or an entry of a feed: what became of it and by which rule.

    text: its beginning. key: the block's key, or the entry's identity. came: it came (False: it went). score: what a
    block weighed.
    """

    text: str
    rule: str
    key: str = ""
    came: bool = True
    score: float = 0.0
    told: bool = False


class Note(Struct, frozen=True, array_like=True):
    """One look, in words and numbers.

    since: the look that this one was compared with. bar: the score from which it would have been told. counts: numbers
    by name (new, held, edited, ...; of a stretch: frames, told, filtered, duplicates). until: the end of a stretch.
    """

    at: Millis
    came: Came
    reason: str
    since: Millis | None = None
    score: float | None = None
    bar: float | None = None
    parts: tuple[Part, ...] = ()
    counts: Mapping[str, int] = {}
    until: Millis | None = None


class StoredMemory(NamedTuple):
    """What a source's stored memory holds: the tier's own bytes, the packed notes, and the items that wait for their
    pages (of a source that follows).
    """

    tier: bytes
    notes: bytes = b""
    waiting: bytes = b""


def opened(stored: bytes) -> StoredMemory:
    """Return what a stored memory holds; one from before there were notes is the tier's own."""
    if stored.startswith(_THREE):
        tier, rest = _parted(stored[len(_THREE) :])
        return StoredMemory(tier, *_parted(rest))
    if stored.startswith(_ENVELOPE):
        return StoredMemory(*_parted(stored[len(_ENVELOPE) :]))
    return StoredMemory(stored)


def _parted(stored: bytes) -> tuple[bytes, bytes]:
    (length,) = _LENGTH.unpack_from(stored)
    start = _LENGTH.size
    return stored[start : start + length], stored[start + length :]


def sealed(kept: StoredMemory) -> bytes:
    """Return the memory as it is stored; without notes and items that wait, the tier's own bytes as they are."""
    tier, notes, waiting = kept
    if waiting:
        return b"".join((_THREE, _LENGTH.pack(len(tier)), tier, _LENGTH.pack(len(notes)), notes, waiting))
    if not notes:
        return tier
    return b"".join((_ENVELOPE, _LENGTH.pack(len(tier)), tier, notes))


def after(kept: StoredMemory, tier: bytes | None, note: Note | None, waiting: bytes | None = None) -> bytes | None:
    """Return what to store after a look; None when that is what is stored already.

    tier, waiting: the next ones, None to leave them. A note that says no more than the last one is not worth a write.
    """
    notes = kept.notes if note is None else noted(kept.notes, note)
    then = StoredMemory(kept.tier if tier is None else tier, notes, kept.waiting if waiting is None else waiting)
    if tier is None and then == kept:
        return None
    return sealed(then)


def read(packed: bytes) -> list[Note]:
    """Return the notes, oldest first; none from what another version wrote or what is damaged."""
    if not packed:
        return []
    try:
        raw = zlib.decompressobj().decompress(packed, _MOST_RAW)
        return msgspec.msgpack.decode(raw, type=list[Note])
    except (zlib.error, msgspec.MsgspecError, UnicodeDecodeError):
        return []


def noted(packed: bytes, note: Note) -> bytes:
    """Return the notes with one more, and without the oldest beyond the bounds; as they are when it says nothing new.

    A stretch that goes on takes the place of its beginning.
    """
    notes = read(packed)
    note = _cut(note)
    if notes and _says_the_same(notes[-1], note):
        return packed
    if notes and note.came == "stretch" and (notes[-1].came, notes[-1].at) == ("stretch", note.at):
        notes.pop()
    notes = [*notes, note][-MOST_NOTES:]
    while len(packed := _packed(notes)) > MOST_BYTES:
        first, *rest = notes
        notes = rest or [replace(first, parts=first.parts[: len(first.parts) // 2])]
    return packed


def _packed(notes: Sequence[Note]) -> bytes:
    return zlib.compress(msgspec.msgpack.encode(notes), 6)


def _cut(note: Note) -> Note:
    parts = tuple(
        Part(part.text[:EXCERPT], part.rule[:EXCERPT], part.key[:EXCERPT], part.came, part.score, part.told)
        for part in note.parts[:MOST_PARTS]
    )
    return replace(note, reason=note.reason[:400], parts=parts)


def _says_the_same(last: Note, note: Note) -> bool:
    """Return whether a look went as the last noted one: the trail counts such looks, and that is enough.

    What comes and goes by turns is one thing, whichever way it went last.
    """
    if note.came not in ("churn", "failed") or last.came != note.came:
        return False
    if note.parts or last.parts:
        return {part.key for part in last.parts} == {part.key for part in note.parts}
    return (last.reason, last.counts) == (note.reason, note.counts)
