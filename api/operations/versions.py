"""The versions of a page that are kept, and what differs between two of them.

Nothing is stored for it: the told texts are in the source's memory, and each event tells how they came about. Where
that chain is cut, an earlier version is only what its event carries; what cannot be known is refused, not guessed.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, NamedTuple

import msgspec
import trio
from msgspec import Struct

from actors.errors import Conflict, NotFound
from actors.versions import Paragraph, Step, aligned, compared, undone
from api.operations import sources
from api.operations.context import OperationContext
from api.operations.past import END
from storage.records.cursor import Filter
from storage.records.event import Delta
from storage.records.identity import Millis, Seq, SourceId, millis_of
from storage.records.tiers import Kind

MOST_VERSIONS = 100
"""Events of a page that are read back; what lies before these is not known."""
START, NOW = "start", "now"
"""The id of what stood there before the oldest change, and of what is watched now without being an event's."""
Kept = Literal["whole", "main_text", "part"]
"""All watched texts; the main text, as the event carries it; a part of that, as it is too long."""
_KINDS = (Kind.HTML, Kind.PRACTICE, Kind.NOTICE)
_PAGE = 50


class Version(NamedTuple):
    """A version. event: the id of the event that told it. at: when that was; None where nobody knows."""

    id: str
    at: Millis | None
    event: str
    says: str
    kept: Kept


class Comparison(NamedTuple):
    """Two versions, the earlier one first, and the paragraphs of both in the order of the later one."""

    source: SourceId
    earlier: Version
    later: Version
    partial: bool
    steps: Sequence[Step]


class Told(Struct):
    """What is read of an event that told a change."""

    id: str
    delta: Delta | None = None
    content: str = ""
    content_truncated: bool = False
    title: str = ""
    summary: str = ""


class _Known(NamedTuple):
    """texts: all paragraphs, None where they are not known. lines: of the text that its event carries."""

    version: Version
    texts: Sequence[Paragraph] | None
    lines: Sequence[str]


_decode = msgspec.json.Decoder(Told).decode


async def versions(call: OperationContext, id: str) -> Sequence[Version]:
    """Return the kept versions of a source, newest first; none of what is no page. Raises NotFound, StorageError."""
    return [known.version for known in await _known(call, sources.known(id))]


def chosen(kept: Sequence[Version], one: str = "", other: str = "") -> tuple[str, str]:
    """Return which two are compared: those asked for, else the newest for `other`, and the one before that for `one`.

    Both are the same, or "", when there are not two.
    """
    ids = [each.id for each in kept]
    other = other or next((id for id in ids if id != one), "")
    before = ids.index(other) + 1 if other in ids else 0
    return one or (ids[before] if before < len(ids) else other), other


async def compare(call: OperationContext, id: str, one: str = "", other: str = "") -> Comparison:
    """Return what differs between two versions, in whatever order they are named; by default as `chosen` does.

    Raises NotFound for what is no kept version, Conflict for two of which too little is kept.
    """
    source = sources.known(id)
    known = await _known(call, source)
    one, other = chosen([each.version for each in known], one, other)
    places = {each.version.id: place for place, each in enumerate(known)}
    for name in (one, other):
        if name not in places:
            says = f"There is no version {name!r} of this source, or it is no longer kept."
            raise NotFound(says if name else "There are no versions of this source.")
    earlier, later = (known[place] for place in sorted((places[one], places[other]), reverse=True))
    before, after, partial = _sides(earlier, later)
    return Comparison(source, earlier.version, later.version, partial, compared(before, after))


def _sides(earlier: _Known, later: _Known) -> tuple[Sequence[Paragraph], Sequence[Paragraph], bool]:
    if earlier.texts is not None and later.texts is not None:
        return earlier.texts, later.texts, False
    for side in (earlier, later):
        if not side.lines:
            raise Conflict("Of one of these versions only the main text is kept, and of the other another part.")
        if side.version.kept == "part":
            raise Conflict("Of one of these versions only a part is kept, as its text is too long for an event.")
    return *aligned(earlier.lines, later.lines), True


async def _known(call: OperationContext, source: SourceId) -> list[_Known]:
    """Return what is known of each kept version, newest first."""
    told = await sources.told_page(call, source)
    if told is None:
        return []
    texts: list[Paragraph] | None = None if told.more else [Paragraph(block.text) for block in told.blocks]
    events, all_read = await told_changes(call, source)
    found: list[_Known] = []
    for number, (at, event) in enumerate(events):
        assert event.delta is not None
        before = None if texts is None else undone(texts, event.delta)
        if before is None and number == 0:
            found.append(_Known(Version(NOW, None, "", "", "part" if told.more else "whole"), texts, ()))
        found.append(_of_event(at, event, None if before is None else texts))
        texts = before
        await trio.lowlevel.checkpoint()
    if not events:
        found.append(_Known(Version(NOW, None, "", "", "part" if told.more else "whole"), texts, ()))
    elif texts is not None and all_read:
        found.append(_Known(Version(START, None, "", "", "whole"), texts, ()))
    return found


def _of_event(at: Millis, event: Told, texts: Sequence[Paragraph] | None) -> _Known:
    kept: Kept = "whole" if texts is not None else "part" if event.content_truncated else "main_text"
    lines = [line for line in event.content.split("\n") if line.strip()]
    return _Known(Version(event.id, at, event.id, event.summary or event.title, kept), texts, lines)


async def told_changes(
    call: OperationContext, source: SourceId, most: int = MOST_VERSIONS
) -> tuple[list[tuple[Millis, Told]], bool]:
    """Return the events that tell a change of the page, newest first, and whether these are all that are kept."""
    found: list[tuple[Millis, Told]] = []
    before, where = END, Filter(sources=(source,), kinds=_KINDS)
    while len(found) < most:
        page = await call.context.storage.log.read_back(before, _PAGE, where)
        for stored in page.events:
            event = _decode(stored.body)
            if event.delta is not None:
                found.append((millis_of(stored.seq), event))
            await trio.lowlevel.checkpoint()
        before = Seq(page.scanned)
        if not page.scanned:
            return found[:most], len(found) <= most
    return found[:most], False
