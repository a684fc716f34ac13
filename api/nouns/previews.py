"""Detection, previews and picks: the events that watching a URL would produce, the blocks to choose from."""

from __future__ import annotations

from typing import Annotated, Literal

from msgspec import UNSET, Meta, Struct, UnsetType

from actors import previews
from actors.messages.declaring import Declared, Time, mirrored, part_of
from actors.messages.requests import DetectRequest, Ignore, Selector
from actors.previews import ActName, BlockKind, PickWish, Press, ReachName
from api.fields.sources import PreviewRequest
from api.nouns import sources, versions
from api.route import Answer, Call, Route
from storage.records.event import ValueType
from storage.records.identity import given, rfc3339
from storage.records.secrecy import where_it_led
from storage.records.tiers import SourceType


class DraftEvent(Struct, frozen=True):
    """An event as a check would emit it, `content` cut to 500 characters.

    `identity`: the property that identifies it (guid, link, hash, or two of them). `told`: false for a push source's
    frame that no alert or `filter` wants.
    """

    title: str
    url: str
    author: str
    content: str
    published_at: Time | None
    tags: tuple[str, ...]
    identity: str
    told: bool


class FeedPreview(Struct, frozen=True):
    """A feed: `newest` has its newest 10 entries, newest first; `backfill: n` would emit the first n of them.

    `undated`: entries without a readable date. `identities`: the number of entries by identifying property.
    `backfill`: the most entries that a backfill would emit. `damaged`: malformed, but recovered. `hubs` (WebSub) and
    `paging` (RFC 5005) are shown, not followed.
    """

    title: str
    format: str
    url: str
    entries: int
    undated: int
    identities: dict[str, int]
    newest: tuple[DraftEvent, ...]
    backfill: int
    damaged: bool
    hubs: tuple[str, ...]
    paging: dict[str, str]


class PreviewBlock(Struct, frozen=True):
    """A paragraph, item, cell or heading. `why`: furniture or control if it is ignored, else ""."""

    text: str
    watched: bool
    why: str


class Ignored(Struct, frozen=True):
    """The number of elements that one selector of `ignore` removes."""

    selector: str
    elements: int


class ListedItem(Struct, frozen=True):
    """An item of a list: its title there, and its link."""

    title: str
    url: str


class PagePreview(Struct, frozen=True):
    """A page: its first 40 blocks, and the numbers of watched and left-out blocks. `listed`: its number of items as a
    list (`follow`); `items` are the first 20.

    `matched`: the number of elements that `selector` keeps, null without one. `partial`: the page is too long and was
    read in part.
    """

    title: str
    author: str
    published_at: Time | None
    content: str
    blocks: tuple[PreviewBlock, ...]
    watched: int
    left_out: int
    matched: int | None
    ignored: tuple[Ignored, ...]
    partial: bool
    listed: int = 0
    items: tuple[ListedItem, ...] = ()


class ShownPart(Struct, frozen=True):
    """The shown part of a page: `selector` and `ignore`, including inherited values. `inherited`: the tags that each
    comes from; a missing one is the source's own.
    """

    selector: str | None
    ignore: tuple[str, ...]
    inherited: dict[str, tuple[str, ...]]


class PushPreview(Struct, frozen=True):
    """The handshake and the first frames of up to 3 seconds. `ended`: the reason if the server closed by then."""

    subprotocol: str | None
    waited_s: float
    received: int
    frames: tuple[DraftEvent, ...]
    ended: str | None


class PacePreview(Struct, frozen=True):
    """The time of the second check, and the origin's own hints; hours and days (0 is Monday) in UTC."""

    interval_s: float
    next_look_at: Time
    max_age_s: float
    ttl_s: float
    skip_hours: tuple[int, ...]
    skip_days: tuple[int, ...]


class RobotsVerdict(Struct, frozen=True):
    """The verdict of robots.txt on a page; it does not apply to feeds and WebSockets."""

    allowed: bool
    crawl_delay_s: float | None
    says: str


class FilledBy(Struct, frozen=True):
    """JSON that filled the rendered page, with its `size` in bytes. A check of its `url` is a plain one."""

    url: str
    size: int


class Rendering(Struct, frozen=True):
    """How a browser is involved; null for a page that is read as sent. `says` is the sentence for people.

    `empty`: the sign that the page is empty without JavaScript, "" if rendering was requested. `done`: the preview
    shows the rendered page. `costs`: plain checks that a rendered one costs.
    """

    says: str
    empty: str
    done: bool
    costs: int
    filled_by: tuple[FilledBy, ...]


class Preview(Struct, frozen=True):
    """The result of a check at `fetched_at`: one of `feed`, `page` and `push` is set. Only pages have a `part`."""

    fetched_at: Time
    feed: FeedPreview | None
    page: PagePreview | None
    push: PushPreview | None
    pace: PacePreview | None
    robots: RobotsVerdict | None
    rendering: Rendering | None
    part: ShownPart | None


class DetectAnswer(Struct, frozen=True):
    """The answer to a detection. `source_id`: the existing source with this URL.

    `final_url`: the URL after redirects, with tokens and keys in its query hidden.
    `supported` and `discovered_feed_url` are twins.
    """

    url: str
    type: SourceType
    confidence: Literal["high", "medium", "low"]
    evidence: str
    final_url: str
    content_type: str
    feed_url: str | None
    supported: bool
    discovered_feed_url: str | None
    source_id: str | None
    preview: Preview


_First = Annotated[int, Meta(ge=0, le=100_000, description="The number of blocks to skip; an answer has 100")]
_Find = Annotated[str, Meta(max_length=200, description="Only blocks with all of these words", examples=["day ticket"])]
_Act = Annotated[
    ActName,
    Meta(description="`only` this; this `also`, in addition to `selector`; all `without` this"),
]
_Reach = Annotated[
    ReachName,
    Meta(description="`this` block alone; all blocks `like` it; the `part` of the page around it"),
]


class PressedBlock(Struct, frozen=True, forbid_unknown_fields=True):
    """A block of an earlier answer, by its `number` and `mark`, and the effect of choosing it. `cell`: the number of
    one of its `cells`; 0 for the block itself.
    """

    number: Annotated[int, Meta(ge=0, le=100_000)]
    mark: Annotated[str, Meta(min_length=1, max_length=16)]
    act: _Act = "only"
    reach: _Reach = "this"
    cell: Annotated[int, Meta(ge=0, le=10_000)] = 0


@part_of(DetectRequest, ("url", "selector", "ignore", "headers", "render", "wait_for", "tags", "own_only"))
class UrlBlocksRequest(Declared, frozen=True, forbid_unknown_fields=True):
    """The URL of a page to split into blocks; the fields are those of POST /v1/sources."""

    first: _First = 0
    find: _Find = ""
    press: PressedBlock | None = None

    def __repr__(self) -> str:
        return f"UrlBlocksRequest({self.url!r})"


class SourceBlocksRequest(Struct, frozen=True, forbid_unknown_fields=True):
    """The blocks of a watched page to show. Omitted `selector` and `ignore` have the source's values."""

    selector: Selector | UnsetType | None = UNSET
    ignore: Ignore | UnsetType = UNSET
    first: _First = 0
    find: _Find = ""
    press: PressedBlock | None = None


class BlockValue(Struct, frozen=True):
    """A value of a block. `condition`: its name in an alert's query: the subject (`price`) and, if known, `label:` or
    `path:`. `number` has `scale` decimal places; null if the value is no number.
    """

    text: str
    type: ValueType
    number: int | None
    scale: int
    unit: str
    subject: str
    condition: str


class BlockCell(Struct, frozen=True):
    """A cell of a row of a CSV document: its number from 1, its column header, and its text."""

    number: int
    column: str
    text: str


class PageBlock(Struct, frozen=True):
    """A block: `number` counts from 0, `mark` identifies it later. `text` is cut at 2,000 of `length` characters.

    `heading` is the one above it; `row` and `column` are labels of its table. `why`: furniture or control if a page
    watched as a whole ignores it. `watched`: by the choice of the request. `selector` chooses only this block, "" if
    none can. `item`: it links to an item of the list (`follow`). `cells`: for a row of CSV; press one by its number.
    """

    number: int
    mark: str
    text: str
    length: int
    kind: BlockKind
    heading: str
    row: str
    column: str
    why: str
    watched: bool
    selector: str
    item: bool
    values: tuple[BlockValue, ...]
    cells: tuple[BlockCell, ...] = ()


class HeldVersions(Struct, frozen=True):
    """A selector tried on the earlier `versions` of a page that contain the block, at most 10. In `same` of them it
    chooses the same place, in `nothing` of them nothing, in the others another place. `since`: the start of the oldest.

    Only the texts of earlier versions are stored. They are filled into the present page, so a redesign goes unnoticed.
    """

    versions: int
    same: int
    nothing: int
    since: Time


class BlockReach(Struct, frozen=True):
    """A possible reach of a choice, its selector, and the number of blocks that this chooses. `held`: the selector's
    result on earlier versions of the source; null if no stored version contains the block.
    """

    name: ReachName
    selector: str
    blocks: int
    held: HeldVersions | None


class KeptBlocks(Struct, frozen=True):
    """The texts that a choice watches, as a check would read them: the first 100 `texts` of `count`.

    `digest` identifies the watched texts; running counters do not change it. `items`: its number of items as a list
    (`follow`).
    """

    selector: str | None
    ignore: tuple[str, ...]
    texts: tuple[str, ...]
    count: int
    digest: str
    items: int


class BlockChoice(Struct, frozen=True):
    """The pressed block as it is now, the possible reaches of the choice, its present reach, and the texts that it
    watches: null if no selector can choose the block.
    """

    block: PageBlock
    reaches: tuple[BlockReach, ...]
    reach: ReachName
    kept: KeptBlocks | None


class PageBlocks(Struct, frozen=True):
    """A page to choose from. `blocks`: at most 100 from `first` on. `found`: blocks with the words. `total`: all
    blocks.

    `no_parts`: the reason why no part of this document can be chosen, else "". `now`: the texts of the present choice,
    null if it is empty. `choice`: null unless you pressed a block. `gone`: the pressed block no longer exists. `part`:
    the choice, including inherited values. `listed`: items of the page as a list. `partial`: the page is too long and
    was read in part.
    """

    fetched_at: Time
    title: str
    format: str
    total: int
    found: int
    first: int
    blocks: tuple[PageBlock, ...]
    no_parts: str
    now: KeptBlocks | None
    choice: BlockChoice | None
    gone: bool
    listed: int
    part: ShownPart
    partial: bool


def _draft(event: previews.DraftEvent) -> DraftEvent:
    return DraftEvent(**mirrored(event, DraftEvent))


def _feed(feed: previews.FeedPreview) -> FeedPreview:
    newest = tuple(map(_draft, feed.newest))
    return FeedPreview(**mirrored(feed, FeedPreview) | {"newest": newest})


def _page(page: previews.PagePreview) -> PagePreview:
    blocks = tuple(PreviewBlock(**mirrored(block, PreviewBlock)) for block in page.blocks)
    ignored = tuple(Ignored(**mirrored(removed, Ignored)) for removed in page.ignored)
    items = tuple(ListedItem(item.title, item.url) for item in page.items)
    lists = {"blocks": blocks, "ignored": ignored, "items": items}
    return PagePreview(**mirrored(page, PagePreview) | lists)


def _push(push: previews.PushPreview) -> PushPreview:
    frames = tuple(map(_draft, push.frames))
    return PushPreview(push.subprotocol, push.waited, push.received, frames, push.ended)


def _pace(pace: previews.PacePreview) -> PacePreview:
    due = rfc3339(pace.next_look_at)
    return PacePreview(round(pace.interval, 1), due, pace.max_age, pace.ttl, pace.skip_hours, pace.skip_days)


def _rendering(rendering: previews.Rendering) -> Rendering:
    filled_by = tuple(FilledBy(one.url, one.size) for one in rendering.filled_by)
    return Rendering(**mirrored(rendering, Rendering) | {"filled_by": filled_by})


def preview_of(shown: previews.Preview) -> Preview:
    robots = shown.robots
    return Preview(
        fetched_at=rfc3339(shown.fetched_at),
        feed=None if shown.feed is None else _feed(shown.feed),
        page=None if shown.page is None else _page(shown.page),
        push=None if shown.push is None else _push(shown.push),
        pace=None if shown.pace is None else _pace(shown.pace),
        robots=None if robots is None else RobotsVerdict(robots.allowed, robots.crawl_delay, robots.says),
        rendering=None if shown.rendering is None else _rendering(shown.rendering),
        part=None if shown.part is None else ShownPart(**mirrored(shown.part, ShownPart)),
    )


def detection_of(url: str, found: previews.Previewed) -> DetectAnswer:
    """Return a URL's detected type and its preview in the wire format."""
    detection = found.detection
    return DetectAnswer(
        url=url,
        supported=True,
        discovered_feed_url=detection.feed_url,
        source_id=found.source,
        preview=preview_of(found.preview),
        **mirrored(detection, DetectAnswer) | {"final_url": where_it_led(detection.final_url, url)},
    )


async def detect(call: Call) -> Answer:
    """Classify a URL without adding it, and preview its events."""
    return Answer(detection_of(call.body.url, await sources.detect(call, call.body)))


async def preview(call: Call) -> Answer:
    """Preview another part of a watched page."""
    return Answer(preview_of(await sources.preview(call, call.path["id"], call.body)))


def _value(found: previews.PickedValue) -> BlockValue:
    value = found.value
    assert value.type is not UNSET, "a value that was read has a type"
    condition = f"{found.place} {found.subject}".strip()
    number = value.number if isinstance(value.number, int) else None
    return BlockValue(value.text, value.type, number, value.scale, value.unit, found.subject, condition)


def _block(block: previews.PickBlock) -> PageBlock:
    cells = tuple(BlockCell(**mirrored(cell, BlockCell)) for cell in block.cells)
    parts = {"values": tuple(map(_value, block.values)), "cells": cells}
    return PageBlock(**mirrored(block, PageBlock) | parts)


def _kept(kept: previews.PickKept | None) -> KeptBlocks | None:
    return None if kept is None else KeptBlocks(**mirrored(kept, KeptBlocks))


def _choice(choice: previews.PickChoice | None) -> BlockChoice | None:
    if choice is None:
        return None
    return BlockChoice(_block(choice.block), tuple(map(_reach, choice.reaches)), choice.reach, _kept(choice.kept))


def _reach(reach: previews.PickReach) -> BlockReach:
    return BlockReach(**mirrored(reach, BlockReach) | {"held": _held(reach.held)})


def _held(held: previews.PickHeld | None) -> HeldVersions | None:
    return None if held is None else HeldVersions(held.versions, held.same, held.nothing, rfc3339(held.since))


def _picked_page(picked: previews.Picked) -> PageBlocks:
    page = picked.page
    parts = {"blocks": tuple(map(_block, page.blocks)), "now": _kept(page.now), "choice": _choice(page.choice)}
    part = ShownPart(**mirrored(picked, ShownPart))
    return PageBlocks(**mirrored(page, PageBlocks) | parts, fetched_at=rfc3339(picked.fetched_at), part=part)


def _pressed(press: PressedBlock | None) -> Press | None:
    return None if press is None else Press(press.number, press.mark, press.act, press.reach, press.cell)


async def of_url(call: Call) -> Answer:
    """Show the blocks of a URL's page, without watching it."""
    asked: UrlBlocksRequest = call.body
    request = DetectRequest(**given(asked, DetectRequest) | {"type": "html", "selector": None, "ignore": ()})
    wish = PickWish(asked.selector, asked.ignore, asked.first, asked.find, _pressed(asked.press), selectors=True)
    return Answer(_picked_page(await sources.pick_from_url(call, request, wish)))


async def of_source(call: Call) -> Answer:
    asked: SourceBlocksRequest = call.body
    now = (await sources.view(call, call.path["id"])).source
    wish = PickWish(
        now.selector if asked.selector is UNSET else asked.selector,
        now.ignore if asked.ignore is UNSET else asked.ignore,
        asked.first,
        asked.find,
        _pressed(asked.press),
        selectors=True,
    )
    return Answer(_picked_page(await versions.of_source(call, now, wish)))


ROUTES = (
    Route(
        method="POST",
        path="/v1/sources/detect",
        scope="sources:write",
        run=detect,
        says="Classify a URL without watching it, and preview its events.",
        answers={200: DetectAnswer},
        body=(DetectRequest,),
        refuses=("url-refused", "unprocessable"),
    ),
    Route(
        method="POST",
        path="/v1/sources/{id}/preview",
        scope="sources:write",
        beside=("sources:read",),
        run=preview,
        says="Preview another selector on a watched page.",
        answers={200: Preview},
        body=(PreviewRequest,),
        refuses=("not-found", "url-refused", "unprocessable"),
    ),
    Route(
        method="POST",
        path="/v1/sources/blocks",
        scope="sources:write",
        run=of_url,
        says="List the blocks of a URL's page, each with its selector.",
        answers={200: PageBlocks},
        body=(UrlBlocksRequest,),
        refuses=("url-refused", "unprocessable"),
    ),
    Route(
        method="POST",
        path="/v1/sources/{id}/blocks",
        scope="sources:write",
        beside=("sources:read",),
        run=of_source,
        says="List the blocks of a watched page, each with its selector.",
        answers={200: PageBlocks},
        body=(SourceBlocksRequest,),
        refuses=("not-found", "url-refused", "unprocessable"),
    ),
)
