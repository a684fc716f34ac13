"""The trail of a source's last 200 checks, and the notes why a check reported some differences and not others. Pure.

The trail records every check in a few bytes. Consecutive checks with the same result are one row with a count, so a
quiet source's trail is a single row. It travels in the source's lazily saved state, so a check that found nothing
writes nothing.

A note has details of a check whose body changed. Notes share one envelope with the tier's memory and are written with
it. They are read only on request and are not part of the state held in RAM.
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Mapping
from enum import IntEnum
from typing import Literal, NamedTuple

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from storage.records.identity import Millis

MOST_LOOKS = 200
_VERSION = b"\x01"
_ROW = struct.Struct(">IIHHIHB")
_MOST_16, _MOST_32 = 0xFFFF, 0xFFFFFFFF


class Verdict(IntEnum):
    """The result of a check. The numbers are stored, so they never change their meaning."""

    UNCHANGED = 0
    CHANGED = 1
    NOTHING_TO_TELL = 2
    """The body changed without a reportable change: churn, held entries, a doubt."""
    REMOTE_TRANSIENT = 3
    """It and the verdicts below are failures, for the reason of the `Blame` with the same name."""
    THROTTLED = 4
    REMOTE_PERMANENT = 5
    CONTENT = 6
    LOCAL = 7


class Row(Struct, frozen=True):
    """Consecutive checks with the same result. looks: how many. size (bytes on the wire), ms: of the last."""

    first_at: Millis
    last_at: Millis
    looks: int
    status: int | None
    size: int
    ms: int
    verdict: Verdict


def check_row(at: Millis, verdict: Verdict, status: int | None, *, size: int = 0, ms: int = 0) -> Row:
    return Row(at, at, 1, status, size, ms, verdict)


def add_row(trail: bytes, row: Row) -> bytes:
    """Add a check and drop those before the last 200."""
    rows = read_rows(trail)
    if rows and (rows[-1].verdict, rows[-1].status) == (row.verdict, row.status) and row.verdict != Verdict.CHANGED:
        rows[-1] = replace(row, first_at=rows[-1].first_at, looks=rows[-1].looks + 1)
    else:
        rows.append(row)
    spare = sum(each.looks for each in rows) - MOST_LOOKS
    while spare > 0 and spare >= rows[0].looks:
        spare -= rows.pop(0).looks
    if spare > 0:
        rows[0] = replace(rows[0], looks=rows[0].looks - spare)
    packed = [_VERSION]
    for each in rows:
        size, ms = min(each.size, _MOST_32), min(each.ms, _MOST_16)
        first, last = each.first_at // 1000, each.last_at // 1000
        packed.append(_ROW.pack(first, last, each.looks, each.status or 0, size, ms, each.verdict))
    return b"".join(packed)


def read_rows(trail: bytes) -> list[Row]:
    """Return the rows, oldest first; none for a trail of another version."""
    if trail[:1] != _VERSION or (len(trail) - 1) % _ROW.size:
        return []
    return [
        Row(Millis(first * 1000), Millis(last * 1000), looks, status or None, size, ms, Verdict(verdict))
        for first, last, looks, status, size, ms, verdict in _ROW.iter_unpack(trail[1:])
    ]


MOST_NOTES = 40
MOST_BYTES = 6 * 1024
MOST_PARTS = 16  # most parts in a note; others are only counted
EXCERPT = 160  # most characters of a part's text, rule and key
_MOST_RAW = 1 << 20
_ENVELOPE = b"\xc1\x01"
"""No tier's memory starts so: MessagePack never uses byte 0xC1, and a feed's memory starts with a small number."""
_THREE = b"\xc1\x02"  # the same for three parts; the second has a length too
_LENGTH = struct.Struct(">I")

NoteOutcome = Literal["told", "baseline", "churn", "held", "failed", "stretch"]
"""The result of a noted check. stretch: a period of listening to a push source."""


class Part(Struct, frozen=True, array_like=True):
    """A block or entry, with the rule that decided it. text: its start. key: its identity. came: False if it went."""

    text: str
    rule: str
    key: str = ""
    came: bool = True
    score: float = 0.0
    told: bool = False


class Note(Struct, frozen=True, array_like=True):
    """One check: a sentence and numbers. since: the check it was compared with. bar: the threshold. counts: numbers by
    name (new, held, edited, ...; for a stretch: frames, told, filtered, duplicates). until: the end of a stretch.
    """

    at: Millis
    came: NoteOutcome
    reason: str
    since: Millis | None = None
    score: float | None = None
    bar: float | None = None
    parts: tuple[Part, ...] = ()
    counts: Mapping[str, int] = {}
    until: Millis | None = None


class StoredMemory(NamedTuple):
    """tier: the tier's own bytes. notes: packed. waiting: unread items, only for a source that follows links."""

    tier: bytes
    notes: bytes = b""
    waiting: bytes = b""


def unpack_memory(stored: bytes) -> StoredMemory:
    """Split a stored memory; one older than notes is the tier's alone."""
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


def pack_memory(kept: StoredMemory) -> bytes:
    """Join a memory for storage; without notes and waiting items, that is the tier's bytes unchanged."""
    tier, notes, waiting = kept
    if waiting:
        return b"".join((_THREE, _LENGTH.pack(len(tier)), tier, _LENGTH.pack(len(notes)), notes, waiting))
    if not notes:
        return tier
    return b"".join((_ENVELOPE, _LENGTH.pack(len(tier)), tier, notes))


def new_memory(kept: StoredMemory, tier: bytes | None, note: Note | None, waiting: bytes | None = None) -> bytes | None:
    """Return the memory to store after a check, None if it is stored already. tier, waiting: None keeps the old."""
    notes = kept.notes if note is None else add_note(kept.notes, note)
    then = StoredMemory(kept.tier if tier is None else tier, notes, kept.waiting if waiting is None else waiting)
    if tier is None and then == kept:
        return None
    return pack_memory(then)


def read_notes(packed: bytes) -> list[Note]:
    """Return the notes, oldest first; none if damaged or from another version."""
    if not packed:
        return []
    try:
        raw = zlib.decompressobj().decompress(packed, _MOST_RAW)
        return msgspec.msgpack.decode(raw, type=list[Note])
    except (zlib.error, msgspec.MsgspecError, UnicodeDecodeError):
        return []


def add_note(packed: bytes, note: Note) -> bytes:
    """Add a note, drop the oldest; `packed` itself if it repeats the last. A longer stretch replaces its beginning."""
    notes = read_notes(packed)
    parts = tuple(
        Part(part.text[:EXCERPT], part.rule[:EXCERPT], part.key[:EXCERPT], part.came, part.score, part.told)
        for part in note.parts[:MOST_PARTS]
    )
    note = replace(note, reason=note.reason[:400], parts=parts)
    if notes and _says_the_same(notes[-1], note):
        return packed
    if notes and note.came == "stretch" and (notes[-1].came, notes[-1].at) == ("stretch", note.at):
        notes.pop()
    notes = [*notes, note][-MOST_NOTES:]
    while len(packed := zlib.compress(msgspec.msgpack.encode(notes), 6)) > MOST_BYTES:
        first, *rest = notes
        notes = rest or [replace(first, parts=first.parts[: len(first.parts) // 2])]
    return packed


def _says_the_same(last: Note, note: Note) -> bool:
    """Return whether a check repeats the last noted one; the trail counts those. Coming and going are the same."""
    if note.came not in ("churn", "failed") or last.came != note.came:
        return False
    if note.parts or last.parts:
        return {part.key for part in last.parts} == {part.key for part in note.parts}
    return (last.reason, last.counts) == (note.reason, note.counts)
