"""The stored versions of a page, their differences and pictures; picking a part of a page.

They are not stored separately: the source's memory has the newest reported texts, and each event the change that led to
them. Before a break in that chain, only the event's text remains. Unknown differences are refused, not guessed.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, NamedTuple

import msgspec
import trio
from msgspec import Struct
from msgspec.structs import replace

from actors.errors import Conflict, NotFound
from actors.previews import PastChange, PastPage, Picked, PickWish
from actors.versions import Paragraph, Step, aligned, compared, undone
from api.operations import events, sources
from api.operations.context import OperationContext
from api.operations.events import END
from storage.records.event import Delta, Filter
from storage.records.identity import Millis, Seq, SourceId, millis_of
from storage.records.picture import KeptPicture, Picture, Side
from storage.records.source import Source
from storage.records.tiers import Kind

MOST_VERSIONS = 100
"""Events of a page to read back; older versions are unknown."""
START, NOW = "start", "now"
"""The ids of the text before the oldest change, and of the current text that belongs to no event."""
Kept = Literal["whole", "main_text", "part"]
"""All watched texts; the main text, as the event has it; a part of that, if it is too long."""
_KINDS = (Kind.HTML, Kind.PRACTICE, Kind.NOTICE)
_PAGE = 50


class Version(NamedTuple):
    """A version. event: the id of its event. at: its time, or None if unknown."""

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
    """The fields to read from a change's event."""

    id: str
    delta: Delta | None = None
    content: str = ""
    content_truncated: bool = False
    title: str = ""
    summary: str = ""


class _Known(NamedTuple):
    """texts: all paragraphs, or None if unknown. lines: the text in its event."""

    version: Version
    texts: Sequence[Paragraph] | None
    lines: Sequence[str]


_decode = msgspec.json.Decoder(Told).decode


async def versions(call: OperationContext, id: str) -> Sequence[Version]:
    """Return a source's stored versions, newest first; none if it is no page. Raises NotFound, StorageError."""
    return [known.version for known in await _known(call, sources.known(id))]


def chosen(kept: Sequence[Version], one: str = "", other: str = "") -> tuple[str, str]:
    """Return the ids of the two versions to compare: by default the newest for `other`, its predecessor for `one`.

    Both are equal, or "", if there are not two.
    """
    ids = [each.id for each in kept]
    other = other or next((id for id in ids if id != one), "")
    before = ids.index(other) + 1 if other in ids else 0
    return one or (ids[before] if before < len(ids) else other), other


async def compare(call: OperationContext, id: str, one: str = "", other: str = "") -> Comparison:
    """Compare two versions, named in any order; by default as `chosen` does.

    Raises NotFound for an unknown version, Conflict if too little of them is stored.
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
            raise Conflict("These versions can't be compared: one has only its main text, the other only another part.")
        if side.version.kept == "part":
            raise Conflict("These versions can't be compared: one was too long to be stored whole.")
    return *aligned(earlier.lines, later.lines), True


async def _known(call: OperationContext, source: SourceId) -> list[_Known]:
    """Return each stored version with its texts, newest first."""
    told = await sources.reported_page(call, source)
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
    """Return a page's change events, newest first, and whether these are all."""
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


class EventPictures(NamedTuple):
    """A page's stored pictures around an event; None if not stored."""

    before: KeptPicture | None = None
    after: KeptPicture | None = None


async def of_event(call: OperationContext, id: str) -> EventPictures:
    """Return the stored pictures around an event. Raises NotFound."""
    event = await events.named(call, id)
    return EventPictures(*await call.context.storage.pictures.around(event.source, event.seq))


async def picture(call: OperationContext, id: str, side: Side) -> Picture:
    """Return the picture of the page before or after an event. Raises NotFound."""
    event = await events.named(call, id)
    kept = EventPictures(*await call.context.storage.pictures.around(event.source, event.seq))
    wanted = kept.before if side == "before" else kept.after
    found = None if wanted is None else await call.context.storage.pictures.get(event.source, wanted.seq)
    if found is None:
        raise NotFound("There is no such screenshot, or it has been deleted.")
    return found


async def newest(call: OperationContext, source: Source) -> KeptPicture | None:
    """Return the record of a source's newest picture."""
    return await call.context.storage.pictures.newest(source.id)


async def newest_picture(call: OperationContext, id: str) -> Picture:
    """Return a source's newest picture. Raises NotFound."""
    source = (await sources.view(call, id)).source
    kept = await newest(call, source)
    found = None if kept is None else await call.context.storage.pictures.get(source.id, Seq(kept.seq))
    if found is None:
        raise NotFound("There is no such screenshot, or it has been deleted.")
    return found


def headers_of(found: Picture, name: str) -> dict[str, str]:
    """Return a picture's headers: display it inline, only on our own site, with no active content."""
    ending = found.media.partition("/")[2]
    return {
        "Content-Disposition": f'inline; filename="{name}.{ending}"',
        "Content-Security-Policy": "default-src 'none'; sandbox",
        "X-Content-Type-Options": "nosniff",
        "Cross-Origin-Resource-Policy": "same-origin",
        "Cache-Control": "private, no-store",
    }


MOST_TRIED = 10
"""Earlier versions that a selection is tried on."""


async def of_source(call: OperationContext, source: Source, wish: PickWish) -> Picked:
    """Show the blocks of a watched page to choose from. Raises as `sources.preview` does, StorageError."""
    past = None if wish.press is None else await past_of(call, source)
    return await sources.pick_from_source(call, source.id, replace(wish, past=past))


async def past_of(call: OperationContext, source: Source) -> PastPage | None:
    """Return the stored versions of a page, or None without any. Raises NotFound, StorageError."""
    told = await sources.reported_page(call, source.id, values=True)
    if told is None or told.more:
        return None
    first = Millis(max(source.created_at, told.standing.began))  # earlier reports were about another part of the page
    changes = [one for one in (await told_changes(call, source.id, MOST_TRIED + 1))[0] if one[0] >= first]
    began = [at for at, _ in changes[1:]] + [first]
    found = [PastChange(at, event.delta) for at, (_, event) in zip(began, changes, strict=False) if event.delta]
    return PastPage(tuple(block.text for block in told.blocks), tuple(found[:MOST_TRIED])) if found else None
