"""Choosing the watched part of a page from its blocks, without JavaScript."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace

from actors.errors import TooSoon, Unprocessable
from actors.messages.sources import DetectUrl, EditSource
from api.dashboard.rendering import environment
from extras.picking.operations import PickFromSource, PickFromUrl
from extras.picking.records import (
    BlockCell,
    KeptBlocks,
    PickBlock,
    PickChoice,
    Picked,
    PickedValue,
    PickPage,
    PickReach,
    PressedBlock,
)
from storage.records.event import Value
from storage.records.identity import SourceId
from tests.api.dashboard.browser import Browser
from tests.api.dashboard.hostile import PAYLOADS, shape, stays_text
from tests.api.dashboard.sources.previews import of_a_page
from tests.api.dashboard.sources.test_listing import put
from tests.api.house import House
from tests.support.build import NOW

URL = "https://a.test/prices"
PRICE = PickedValue(Value("14.50 €", "money", 1450, 2, "EUR"), "price", 'label:"Adult · Price"')


def a_block(number: int, text: str, **more: Any) -> PickBlock:
    usual = {"kind": "text", "heading": "Prices", "row": "", "column": "", "why": "", "watched": True, "selector": ""}
    usual |= {"item": False, "values": (), "length": len(text), "mark": f"{number:08x}"}
    return PickBlock(number=number, text=text, **usual | more)


BLOCKS = (
    a_block(0, "Home", watched=False, why="furniture"),
    a_block(1, "14.50 €", row="Adult", column="Price", values=(PRICE,)),
    a_block(2, "The harbour is open", item=True),
    a_block(3, "word " * 100),
)
WHOLE = KeptBlocks(None, (), ("14.50 €", "The harbour is open"), 3, "aaaa", 0)
KEPT = KeptBlocks("#adult", (), ("14.50 €",), 1, "bbbb", 0)
PAGE = PickPage("Tickets", "html", 240, 240, 0, BLOCKS, "", WHOLE)
REACHES = (PickReach("this", "#adult", 1), PickReach("like", "table td", 2))
PRESSED = replace(PAGE, choice=PickChoice(BLOCKS[1], REACHES, "this", KEPT))


def wishes(house: House, kind: Any = PickFromSource) -> list[Any]:
    return [message.wish for message in house.registry.seen if isinstance(message, kind)]


def edits(house: House) -> list[Any]:
    return [message.patch for message in house.registry.seen if isinstance(message, EditSource)]


async def opened(house: House, browser: Browser, page: PickPage = PAGE, **source: Any) -> SourceId:
    house.registry.picked = Picked(NOW, page)
    id = put(house, 1, url=URL, type="html", **source)
    await browser.get(f"/sources/{id}/pick")
    return id


async def test_a_page_is_shown_as_numbered_blocks_with_actions(house: House, browser: Browser) -> None:
    await opened(house, browser)
    assert [each.get("value") for each in browser.page.xpath("//ol[@class='pressed']/li")] == ["1", "2", "3", "4"]
    words = [[button.text.strip() for button in each.xpath(".//button")] for each in browser.page.xpath("//ol/li")]
    plain = ["Only this", "Leave this out"]
    assert words == [plain, [*plain, "This is the price"], [*plain, "Follow these links"], plain]
    for said in (
        "left out: boilerplate, such as",
        "Prices · Adult · Price",
        "1 to 4 of 240 blocks",
        "without menus and the like",
    ):
        assert said in browser.text
    assert browser.page.xpath("//li[4]//details"), "a long block opens"


async def test_a_pressed_block_shows_the_remaining_text_until_saved(house: House, browser: Browser) -> None:
    id = await opened(house, browser)
    house.registry.picked = Picked(NOW, PRESSED)
    await browser.submit(f"/sources/{id}/pick", {"pick.only": "1-00000001"})
    assert wishes(house)[-1].press == PressedBlock(1, "00000001", "only", "this")
    assert "1 block remains" in browser.text and "#adult" in browser.text and not edits(house)
    assert browser.page.xpath("//mark/text()") == ["14.50 €"]
    house.registry.picked = Picked(NOW, replace(PAGE, now=KEPT))
    await browser.submit(f"/sources/{id}/pick/save")
    assert wishes(house)[-1].selector == "#adult"
    assert (edits(house)[0].selector, edits(house)[0].ignore) == ("#adult", ())
    assert browser.path == f"/sources/{id}" and "Saved." in browser.text


@pytest.mark.parametrize("name", ["also", "without"])
async def test_another_block_is_added_to_the_choice(house: House, browser: Browser, name: str) -> None:
    unwatched = replace(PAGE, blocks=(replace(BLOCKS[1], watched=False),))
    id = await opened(house, browser, unwatched, selector="h1", ignore=(".ad",))
    assert "This too" in browser.text
    house.registry.picked = Picked(NOW, PRESSED)
    await browser.submit(f"/sources/{id}/pick", {f"pick.{name}": "1-00000001"})
    wish = wishes(house)[-1]
    assert (wish.selector, wish.ignore, wish.press.act) == ("h1", (".ad",), name)


async def test_how_far_a_choice_reaches_is_a_button(house: House, browser: Browser) -> None:
    id = await opened(house, browser)
    house.registry.picked = Picked(NOW, PRESSED)
    await browser.submit(f"/sources/{id}/pick", {"pick.only": "1-00000001"})
    assert browser.page.xpath("//button[@aria-pressed='true']/text()")[0].strip() == "This block alone"
    await browser.submit(f"/sources/{id}/pick", {"pick.reach": "like", "pick.only": "1-00000001"})
    assert wishes(house)[-1].press.reach == "like"


async def test_links_are_followed_in_the_part_that_they_stand_in(house: House, browser: Browser) -> None:
    id = await opened(house, browser)
    kept = replace(KEPT, items=3)
    house.registry.picked = Picked(NOW, replace(PAGE, choice=PickChoice(BLOCKS[2], REACHES, "part", kept)))
    await browser.submit(f"/sources/{id}/pick", {"pick.links": "2-00000002"})
    assert wishes(house)[-1].press == PressedBlock(2, "00000002", "only", "part")
    assert "It has 3 items. Each new item is reported once" in browser.text
    house.registry.picked = Picked(NOW, replace(PAGE, now=kept))
    await browser.submit(f"/sources/{id}/pick/save")
    assert edits(house)[0].follow == "new_links"


async def test_a_page_that_has_changed_since_is_shown_before_it_is_saved(house: House, browser: Browser) -> None:
    id = await opened(house, browser)
    house.registry.picked = Picked(NOW, PRESSED)
    await browser.submit(f"/sources/{id}/pick", {"pick.only": "1-00000001"})
    house.registry.picked = Picked(NOW, replace(PAGE, now=replace(KEPT, digest="cccc")))
    await browser.submit(f"/sources/{id}/pick/save")
    assert "The page has changed since you chose" in browser.text and not edits(house)
    await browser.submit(f"/sources/{id}/pick", to=f"/sources/{id}/pick/save")
    assert edits(house)[0].selector == "#adult", "who has seen it may save it"


async def test_a_choice_that_matches_nothing_any_more_is_not_saved(house: House, browser: Browser) -> None:
    id = await opened(house, browser)
    house.registry.picked = Picked(NOW, PRESSED)
    await browser.submit(f"/sources/{id}/pick", {"pick.only": "1-00000001"})
    house.registry.picked = Picked(NOW, replace(PAGE, now=None))
    await browser.submit(f"/sources/{id}/pick/save")
    assert "matches nothing on this page" in browser.text and not edits(house)
    assert not browser.page.xpath(f"//button[@formaction='/sources/{id}/pick/save']")


async def test_a_source_changed_by_another_user_is_not_overwritten(house: House, browser: Browser) -> None:
    id = await opened(house, browser)
    house.registry.picked = Picked(NOW, PRESSED)
    await browser.submit(f"/sources/{id}/pick", {"pick.only": "1-00000001"})
    house.registry.picked = Picked(NOW, replace(PAGE, now=KEPT))
    view = house.registry.views[id]
    house.registry.views[id] = view.__class__(replace(view.source, title="Mine", updated_at=NOW + 1), view.hot)
    await browser.submit(f"/sources/{id}/pick/save")
    assert "changed in another place" in browser.text


async def test_a_missing_block_is_reported_and_the_blocks_are_shown_again(house: House, browser: Browser) -> None:
    id = await opened(house, browser)
    house.registry.picked = Picked(NOW, replace(PAGE, gone=True))
    await browser.submit(f"/sources/{id}/pick", {"pick.only": "9-00000009"})
    assert "this block is gone" in browser.text and "14.50 €" in browser.text


async def test_a_page_that_can_not_be_fetched_says_why_and_leads_on(house: House, browser: Browser) -> None:
    id = put(house, 1, url=URL, type="html")
    house.registry.refusals[id] = TooSoon("it was checked just now, or asked us to wait: again in 9 s", 9)
    await browser.get(f"/sources/{id}/pick")
    assert "again in 9 s" in browser.text and "Write selectors yourself" in browser.text


async def test_a_document_without_parts_says_so_and_offers_nothing(house: House, browser: Browser) -> None:
    await opened(house, browser, replace(PAGE, format="pdf", no_parts="it has no elements"))
    assert "No part of this document can be chosen here" in browser.text
    assert not browser.page.xpath("//ol[@class='pressed']//button")


async def test_an_empty_page_and_words_that_none_has_say_so(house: House, browser: Browser) -> None:
    id = await opened(house, browser, replace(PAGE, blocks=(), total=0, found=0, now=None))
    assert "There is no text on this page" in browser.text
    await browser.submit(f"/sources/{id}/pick", {"pick.find": "zebra"})
    assert wishes(house)[-1].find == "zebra" and "No block has these words" in browser.text


async def test_many_blocks_are_turned_page_by_page(house: House, browser: Browser) -> None:
    id = await opened(house, browser, replace(PAGE, first=100))
    assert browser.page.xpath("//button[@name='pick.first']/@value") == ["0", "104"]
    await browser.submit(f"/sources/{id}/pick", {"pick.first": "104"})
    assert wishes(house)[-1].first == 104


@pytest.mark.parametrize(
    "more", [{"pick.only": "x"}, {"pick.only": "1-zz"}, {"pick.reach": "far"}, {"pick.x": "1"}, {"pick.first": "-1"}]
)
async def test_a_value_that_no_button_sends_is_refused(house: House, browser: Browser, more: dict[str, str]) -> None:
    id = await opened(house, browser)
    before = len(wishes(house))
    await browser.post(f"/sources/{id}/pick", more)
    assert "This form is out of date" in browser.text
    assert len(wishes(house)) == before


def of_text(text: str) -> tuple[PickPage, PickPage]:
    """A page of blocks, and the result of pressing one, with this text in every field."""
    value = replace(PRICE, value=replace(PRICE.value, text=text), place=text)
    block = a_block(0, text, heading=text, row=text, column=text, values=(value,))
    kept = replace(KEPT, selector=text, texts=(text,))
    choice = PickChoice(block, (PickReach("this", text, 1),), "this", kept)
    page = replace(PAGE, title=text, blocks=(block,))
    return page, replace(page, choice=choice)


async def pages_of(house: House, browser: Browser, id: SourceId, text: str) -> list[Any]:
    blocks, pressed = of_text(text)
    found = []
    house.registry.picked = Picked(NOW, blocks)
    await browser.get(f"/sources/{id}/pick")
    found.append(browser.page)
    house.registry.picked = Picked(NOW, pressed)
    for name in ("only", "price"):
        await browser.post(f"/sources/{id}/pick", {f"pick.{name}": "0-00000000"})
        found.append(browser.page)
    return found


async def test_hostile_page_text_stays_text(house: House, browser: Browser) -> None:
    id = await opened(house, browser)
    harmless = [shape(page) for page in await pages_of(house, browser, id, "harmless")]
    for payload in PAYLOADS[::5]:
        for page, plain in zip(await pages_of(house, browser, id, payload), harmless, strict=True):
            stays_text(page, plain)


async def test_when_adding_a_choice_returns_to_the_preview_with_all_input(house: House, browser: Browser) -> None:
    house.registry.preview = of_a_page()
    house.registry.picked = Picked(NOW, PAGE)
    await browser.get("/sources/add")
    await browser.submit("/sources/look", {"urls": URL, "type": "html"})
    typed = {"title": "Mine", "tags": "sea", "schedule": "2h", "wait_for": "#x", "headers": "Cookie: a=b"}
    await browser.submit("/sources/add", typed, to="/sources/pick")
    request = next(message for message in house.registry.seen if isinstance(message, PickFromUrl)).request
    assert (request.url, request.type, request.headers, request.wait_for) == (URL, "html", "Cookie: a=b", "#x")
    house.registry.picked = Picked(NOW, PRESSED)
    await browser.submit("/sources/pick", {"pick.only": "1-00000001"})
    await browser.submit("/sources/pick/use")
    wish = [message.request for message in house.registry.seen if isinstance(message, DetectUrl)][-1]
    assert (wish.selector, wish.headers) == ("#adult", "Cookie: a=b")
    values = {one.get("name"): one.get("value") for one in browser.page.xpath("//form[@action='/sources/add']//input")}
    assert (values["title"], values["tags"], values["schedule"], values["selector"]) == ("Mine", "sea", "2h", "#adult")


@pytest.mark.parametrize("extra_pages", [{"/sources/pick", "/sources/{id}/pick"}, frozenset()], ids=["with", "without"])
async def test_pages_lead_to_the_blocks_only_with_the_extra(
    extra_pages: frozenset[str], house: House, browser: Browser, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(environment().globals, "extra_pages", extra_pages)
    house.registry.preview = of_a_page()
    id = put(house, 1, url=URL, type="html")
    for path in (f"/sources/{id}", f"/sources/{id}/edit", "/sources/add"):
        await browser.get(path)
        if path == "/sources/add":
            await browser.submit("/sources/look", {"urls": "https://b.test/prices", "type": "html"})
        leads = browser.page.xpath("//@href[contains(., '/pick')] | //@formaction[contains(., '/pick')]")
        assert bool(leads) is bool(extra_pages), path


async def test_an_unreadable_page_is_reported_next_to_its_url_when_adding(house: House, browser: Browser) -> None:
    house.registry.refusals[URL] = Unprocessable("this is a feed", "body.url")
    await browser.get("/sources/add")
    await browser.post("/sources/pick", {"urls": URL})
    assert "This is a feed" in browser.text
    await browser.post("/sources/pick", {"urls": f"{URL}\nhttps://b.test/"})
    assert "This form adds one URL" in browser.text


async def test_a_value_from_a_tag_is_marked_and_a_choice_replaces_it(house: House, browser: Browser) -> None:
    house.registry.picked = of_tags = Picked(
        NOW, PAGE, "main", (".ad",), {"selector": ("label:shop",), "ignore": ("label:shop",)}
    )
    id = put(house, 1, url=URL, type="html")
    await browser.get(f"/sources/{id}/pick")
    said = " ".join(browser.text.split())
    assert "Settings from its tags:" in said
    assert "Only this part: main from the tag shop" in said and "Not these parts: .ad from the tag shop" in said
    assert "This too" in said and "blocks are watched" in said
    assert browser.page.xpath("//a[@href='/sources/tags/defaults?tag=label%3Ashop']")
    house.registry.picked = replace(of_tags, page=PRESSED)
    await browser.submit(f"/sources/{id}/pick", {"pick.only": "1-00000001"})
    said = " ".join(browser.text.split())
    assert "becomes the source's own setting and replaces the part set by its tag" in said
    assert "Only this part: main" not in said and "Not these parts: .ad from the tag shop" in said


async def test_a_cell_of_a_row_is_pressed_alone(house: House, browser: Browser) -> None:
    cells = (BlockCell(1, "name", "Team <b>"), BlockCell(2, "price", "10"), BlockCell(3, "", "x"))
    row = a_block(1, "Team <b> | 10 | x", kind="cell", cells=cells)
    id = await opened(house, browser, replace(PAGE, format="csv", blocks=(row,)))
    buttons = browser.page.xpath("//details//button[@name='pick.only']")
    assert [(one.get("value"), " ".join(one.text_content().split())) for one in buttons] == [
        ("1-00000001-1", "name: Team <b>"),
        ("1-00000001-2", "price: 10"),
        ("1-00000001-3", "x"),
    ]
    house.registry.picked = Picked(NOW, replace(PAGE, choice=PickChoice(row, REACHES, "this", KEPT)))
    await browser.submit(f"/sources/{id}/pick", {"pick.only": "1-00000001-2"})
    assert wishes(house)[-1].press == PressedBlock(1, "00000001", "only", "this", 2)
    assert "Cell of this row: 10 price" in " ".join(browser.text.split())
    assert browser.page.xpath("//input[@name='pick.only']/@value") == ["1-00000001-2"]
