"""The blocks of a page to choose from, as JSON: routes, requests and answers."""

from __future__ import annotations

from typing import Annotated

from msgspec import UNSET, Meta, Struct, UnsetType

from actors.messages.declaring import Declared, Time, made_of, part_of, record_of, shown_whole
from actors.messages.requests import DetectRequest, Ignore, Selector, ShownPart
from api.nouns import sources
from api.route import Answer, Call, Routes
from extras.picking import operations, records
from extras.picking.records import BlockCell, PickWish, PressedBlock
from storage.records.event import ValueType
from storage.records.identity import given_fields

_First = Annotated[int, Meta(ge=0, le=100_000, description="The number of blocks to skip; an answer has 100")]
_Find = Annotated[str, Meta(max_length=200, description="Only blocks with all of these words", examples=["day ticket"])]


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


@shown_whole(records.PickBlock)
class PageBlock(Declared, frozen=True):
    """A block: `number` counts from 0, `mark` identifies it later. `text` is cut at 2,000 of `length` characters.

    `heading` is the one above it; `row` and `column` are labels of its table. `why`: furniture or control if a page
    watched as a whole ignores it. `watched`: by the choice of the request. `selector` chooses only this block, "" if
    none can. `item`: it links to an item of the list (`follow`). `cells`: for a row of CSV; press one by its number.
    """

    values: tuple[BlockValue, ...]
    cells: tuple[BlockCell, ...] = ()


@shown_whole(records.PickReach)
class BlockReach(Declared, frozen=True):
    """A possible reach of a choice, its selector, and the number of blocks that this chooses."""


@shown_whole(records.PickChoice)
class BlockChoice(Declared, frozen=True):
    """The pressed block as it is now, the possible reaches of the choice, its present reach, and the texts that it
    watches: null if no selector can choose the block.
    """

    block: PageBlock
    reaches: tuple[BlockReach, ...]


@record_of(
    records.PickPage, "fetched_at title format total found first blocks no_parts now choice gone listed part partial"
)
class PageBlocks(Declared, frozen=True):
    """A page to choose from. `blocks`: at most 100 from `first` on. `found`: blocks with the words. `total`: all
    blocks.

    `no_parts`: the reason why no part of this document can be chosen, else "". `now`: the texts of the present choice,
    null if it is empty. `choice`: null unless you pressed a block. `gone`: the pressed block no longer exists. `part`:
    the choice, including inherited values. `listed`: items of the page as a list. `partial`: the page is too long and
    was read in part.
    """

    fetched_at: Time
    blocks: tuple[PageBlock, ...]
    choice: BlockChoice | None
    part: ShownPart


def _value(found: records.PickedValue) -> BlockValue:
    condition = f"{found.place} {found.subject}".strip()
    number = found.value.number if isinstance(found.value.number, int) else None
    return made_of(BlockValue, found.value, found, number=number, condition=condition)


def _block(block: records.PickBlock) -> PageBlock:
    return made_of(PageBlock, block, values=tuple(map(_value, block.values)))


def _picked_page(picked: records.Picked) -> PageBlocks:
    page, pressed = picked.page, picked.page.choice
    return made_of(
        PageBlocks,
        picked,
        page,
        blocks=tuple(map(_block, page.blocks)),
        choice=None if pressed is None else made_of(BlockChoice, pressed, block=_block(pressed.block)),
        part=made_of(ShownPart, picked),
    )


ROUTES = Routes("/v1/sources", "sources")


@ROUTES("POST", "/blocks", {200: PageBlocks}, body=(UrlBlocksRequest,), refuses=("url-refused", "unprocessable"))
async def of_url(call: Call) -> Answer:
    """List the blocks of a URL's page, each with its selector."""
    asked: UrlBlocksRequest = call.body
    request = DetectRequest(**given_fields(asked, DetectRequest) | {"type": "html", "selector": None, "ignore": ()})
    wish = PickWish(asked.selector, asked.ignore, asked.first, asked.find, asked.press, selectors=True)
    return Answer(_picked_page(await operations.of_url(call, request, wish)))


@ROUTES(
    "POST",
    "/{id}/blocks",
    {200: PageBlocks},
    beside=("sources:read",),
    body=(SourceBlocksRequest,),
    refuses=("not-found", "url-refused", "unprocessable"),
)
async def of_source(call: Call) -> Answer:
    """List the blocks of a watched page, each with its selector."""
    asked: SourceBlocksRequest = call.body
    now = (await sources.view(call, call.path["id"])).source
    wish = PickWish(
        now.selector if asked.selector is UNSET else asked.selector,
        now.ignore if asked.ignore is UNSET else asked.ignore,
        asked.first,
        asked.find,
        asked.press,
        selectors=True,
    )
    return Answer(_picked_page(await operations.of_source(call, now.id, wish)))
