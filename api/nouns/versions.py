"""The stored versions of a page, their differences and the newest picture.

They are not stored separately: the source's memory has the newest reported texts, and each event the change that led to
them. Before a break in that chain, only the event's text remains. Unknown differences are refused, not guessed.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Literal, NamedTuple

import msgspec
import trio
from msgspec import UNSET, Meta, Struct, UnsetType

from actors.errors import Conflict, NotFound
from actors.messages.declaring import Declared, made_of, record_of
from actors.versions import DiffParagraph, Paragraph, aligned, compared, undo
from api.nouns import sources
from api.nouns.context import OperationContext, existing
from api.nouns.events import END, NO_SCREENSHOT
from api.route import Answer, Call, Routes
from storage.records.event import Context, Delta, Filter, Picture, Spans
from storage.records.identity import Millis, Seq, SourceId, millis_of
from storage.records.tiers import Kind

_Id = Annotated[str, Meta(max_length=40)]


class CompareQuery(Struct, frozen=True, forbid_unknown_fields=True, rename={"from_": "from"}):
    """The versions to compare, in any order, and the amount of text."""

    from_: _Id = ""
    to: _Id = ""
    show: Literal["changes", "text"] = "changes"


Kept = Literal["whole", "main_text", "part"]
"""All watched texts; the main text, as the event has it; a part of that, if it is too long."""


class Version(NamedTuple):
    """A version. event: the id of its event. at: its time, or None if unknown."""

    id: str
    at: Millis | None
    event: str
    says: str
    kept: Kept


@record_of(Version, "version at event_id says kept")
class KeptVersion(Declared, frozen=True, kw_only=True):
    """A version of a page."""

    version: str
    event_id: str | None


class Versions(Struct, frozen=True, kw_only=True):
    """The stored versions of a page, newest first; empty for other sources."""

    id: str
    versions: tuple[KeptVersion, ...]


class VersionStep(Struct, frozen=True, kw_only=True):
    """A text that was added (`insert`), removed (`delete`), changed (`replace`) or stayed (`keep`), and its place."""

    op: Literal["insert", "delete", "replace", "keep"]
    before: str | UnsetType = UNSET
    after: str | UnsetType = UNSET
    context: Context | UnsetType = UNSET
    spans: Spans | UnsetType = UNSET


class VersionComparison(Struct, frozen=True, kw_only=True, rename={"from_": "from"}):
    """The differences between two versions, from the earlier to the later, in the later one's order."""

    id: str
    from_: KeptVersion
    to: KeptVersion
    partial: bool
    truncated: bool
    steps: tuple[VersionStep, ...]


MOST_VERSIONS = 100  # events of a page to read back; older versions are unknown
START, NOW = "start", "now"
"""The ids of the text before the oldest change, and of the current text that belongs to no event."""
_KINDS = (Kind.HTML, Kind.PRACTICE, Kind.NOTICE)
_PAGE = 50


class Comparison(NamedTuple):
    """Two versions, the earlier one first, and the paragraphs of both in the order of the later one."""

    source: SourceId
    earlier: Version
    later: Version
    partial: bool
    steps: Sequence[DiffParagraph]


class DiffedEvent(Struct):
    """The fields to read from a change's event."""

    id: str
    delta: Delta | None = None
    content: str = ""
    content_truncated: bool = False
    title: str = ""
    summary: str = ""


class _KnownVersion(NamedTuple):
    """texts: all paragraphs, or None if unknown. lines: the text in its event."""

    version: Version
    texts: Sequence[Paragraph] | None
    lines: Sequence[str]


_decode = msgspec.json.Decoder(DiffedEvent).decode


async def versions(call: OperationContext, id: str) -> Sequence[Version]:
    """Return a source's stored versions, newest first; none if it is no page. Raises NotFound, StorageError."""
    return [known.version for known in await _known(call, sources.parse_id(id))]


def chosen(kept: Sequence[Version], first: str = "", other: str = "") -> tuple[str, str]:
    """Return the two versions to compare: by default the newest, and the one before it. Equal, or "", without two."""
    ids = [each.id for each in kept]
    other = other or next((id for id in ids if id != first), "")
    before = ids.index(other) + 1 if other in ids else 0
    return first or (ids[before] if before < len(ids) else other), other


async def compare(call: OperationContext, id: str, first: str = "", other: str = "") -> Comparison:
    """Compare two versions, by default as `chosen`. Raises NotFound, Conflict if too little of them is stored."""
    source = sources.parse_id(id)
    known = await _known(call, source)
    first, other = chosen([each.version for each in known], first, other)
    places = {each.version.id: place for place, each in enumerate(known)}
    for name in (first, other):
        if name not in places:
            says = f"There is no version {name!r} of this source, or it is no longer kept."
            raise NotFound(says if name else "There are no versions of this source.")
    earlier, later = (known[place] for place in sorted((places[first], places[other]), reverse=True))
    before, after, partial = _sides(earlier, later)
    return Comparison(source, earlier.version, later.version, partial, compared(before, after))


def _sides(earlier: _KnownVersion, later: _KnownVersion) -> tuple[Sequence[Paragraph], Sequence[Paragraph], bool]:
    if earlier.texts is not None and later.texts is not None:
        return earlier.texts, later.texts, False
    for side in (earlier, later):
        if not side.lines:
            raise Conflict("These versions can't be compared: one has only its main text, the other only another part.")
        if side.version.kept == "part":
            raise Conflict("These versions can't be compared: one was too long to be stored whole.")
    return *aligned(earlier.lines, later.lines), True


async def _known(call: OperationContext, source: SourceId) -> list[_KnownVersion]:
    told = await sources.reported_page(call, source)
    if told is None:
        return []
    texts: list[Paragraph] | None = None if told.more else [Paragraph(block.text) for block in told.blocks]
    events, all_read = await told_changes(call, source)
    found: list[_KnownVersion] = []
    for number, (at, event) in enumerate(events):
        assert event.delta is not None
        before = None if texts is None else undo(texts, event.delta)
        if before is None and number == 0:
            found.append(_KnownVersion(Version(NOW, None, "", "", "part" if told.more else "whole"), texts, ()))
        whole = None if before is None else texts
        kept: Kept = "whole" if whole is not None else "part" if event.content_truncated else "main_text"
        lines = [line for line in event.content.split("\n") if line.strip()]
        version = Version(event.id, at, event.id, event.summary or event.title, kept)
        found.append(_KnownVersion(version, whole, lines))
        texts = before
        await trio.lowlevel.checkpoint()
    if not events:
        found.append(_KnownVersion(Version(NOW, None, "", "", "part" if told.more else "whole"), texts, ()))
    elif texts is not None and all_read:
        found.append(_KnownVersion(Version(START, None, "", "", "whole"), texts, ()))
    return found


async def told_changes(call: OperationContext, source: SourceId) -> tuple[list[tuple[Millis, DiffedEvent]], bool]:
    found: list[tuple[Millis, DiffedEvent]] = []
    before, where = END, Filter(sources=(source,), kinds=_KINDS)
    while len(found) < MOST_VERSIONS:
        page = await call.context.storage.log.read_back(before, _PAGE, where)
        for stored in page.events:
            event = _decode(stored.body)
            if event.delta is not None:
                found.append((millis_of(stored.seq), event))
            await trio.lowlevel.checkpoint()
        before = Seq(page.scanned)
        if not page.scanned:
            return found[:MOST_VERSIONS], len(found) <= MOST_VERSIONS
    return found[:MOST_VERSIONS], False


async def newest_picture(call: OperationContext, id: str) -> Picture:
    """Return a source's newest picture. Raises NotFound."""
    source, pictures = (await sources.view(call, id)).source, call.context.storage.pictures
    kept = await pictures.newest(source.id)
    return existing(None if kept is None else await pictures.get(source.id, Seq(kept.seq)), NO_SCREENSHOT)


MOST_STEPS = 2_000


def _version(version: Version) -> KeptVersion:
    return made_of(KeptVersion, version, version=version.id, event_id=version.event or None)


def _step(step: DiffParagraph) -> VersionStep:
    context = UNSET if step.context == Context() else step.context
    if step.before is None or step.after is None:
        return VersionStep(
            op="insert" if step.before is None else "delete",
            before=UNSET if step.before is None else step.before,
            after=UNSET if step.after is None else step.after,
            context=context,
        )
    if step.same:
        return VersionStep(op="keep", after=step.after)
    return VersionStep(op="replace", before=step.before, after=step.after, context=context, spans=step.spans or UNSET)


ROUTES = Routes("/v1/sources", "sources")


@ROUTES("GET", "/{id}/versions", {200: Versions})
async def _versions(call: Call) -> Answer:
    """List the stored versions of a page."""
    found = await versions(call, call.path["id"])
    return Answer(Versions(id=sources.parse_id(call.path["id"]), versions=tuple(map(_version, found))))


@ROUTES("GET", "/{id}/compare", {200: VersionComparison}, query=CompareQuery, refuses=("conflict",))
async def _compare(call: Call) -> Answer:
    """Compare two versions of a page."""
    query: CompareQuery = call.query
    found = await compare(call, call.path["id"], query.from_, query.to)
    steps = [step for step in found.steps if query.show == "text" or not step.same]
    answer = VersionComparison(
        id=found.source,
        from_=_version(found.earlier),
        to=_version(found.later),
        partial=found.partial,
        truncated=len(steps) > MOST_STEPS,
        steps=tuple(map(_step, steps[:MOST_STEPS])),
    )
    return Answer(answer)
