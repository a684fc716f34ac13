"""What a page says now: the texts as they were last told, in the order of the page."""

from __future__ import annotations

from actors.content.changes.memory import SettledState, encode, pack
from actors.content.pages.places import Place
from actors.content.pages.traits import CELL, FURNITURE, HEADING, ITEM
from storage.records.identity import SourceId
from storage.records.note import StoredMemory, sealed
from storage.records.source import SourceRuntime, SourceState
from tests.api.dashboard.browser import Browser
from tests.api.dashboard.sources.test_listing import put
from tests.api.dashboard.sources.test_one import told
from tests.api.house import House
from tests.support.build import NOW, a_draft

STATE = SettledState(
    ("Plans", "For <b>all</b>", "10", "Home"),
    ("1" * 16, "2" * 16, "3" * 16, "4" * 16, "5" * 16),
    (HEADING, ITEM, CELL, FURNITURE, 0),
    (None, None, Place("Team", "Seats"), None),
)


async def watched(house: House, base: bytes | None, type: str = "html", number: int = 1) -> SourceId:
    id = put(house, number, type=type, title="Prices")
    state = SourceState(id, SourceRuntime(), base)
    await house.storage.sources.add(house.registry.views[id].source, state, house.storage.lease)
    return id


async def test_it_shows_the_told_texts_in_order_with_what_each_is(house: House, browser: Browser) -> None:
    id = await watched(house, sealed(StoredMemory(encode(pack(STATE)), b"")))
    await browser.get(f"/sources/{id}/text")
    texts = [" ".join(one.text_content().split()) for one in browser.page.xpath("//article/*")]
    assert texts == ["Plans", "• For <b>all</b>", "Team · Seats: 10", "beside the content: Home"]
    assert browser.page.xpath("//article/h2") and "1 more texts" in browser.text
    assert "nothing has changed since" in browser.text


async def test_it_says_when_it_was_told_and_that_it_went_back(house: House, browser: Browser) -> None:
    id = await watched(house, sealed(StoredMemory(encode(pack(STATE)), b"")))
    await told(house, a_draft("Prices", source_type="html", tags=("change:updated", "change:reverted"), fetched_at=NOW))
    await browser.get(f"/sources/{id}/text")
    assert "it went back to what it had said before" in browser.text
    await browser.get(f"/sources/{id}")
    assert browser.page.xpath(f"//a[@href='/sources/{id}/text']")


async def test_what_is_no_page_or_was_never_read_has_no_text(house: House, browser: Browser) -> None:
    id = await watched(house, b"\x01", type="feed")
    assert (await browser.get(f"/sources/{id}/text")).status_code == 404
    id = await watched(house, None, number=2)
    assert (await browser.get(f"/sources/{id}/text")).status_code == 404
    assert (await browser.get(f"/sources/{'0' * 8}/text")).status_code == 404
