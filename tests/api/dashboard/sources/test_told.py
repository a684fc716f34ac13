"""The current text of a page: the last reported texts, in page order."""

from __future__ import annotations

from actors.messages.views import ReportedBlock, ReportedPage
from tests.api.dashboard.browser import Browser
from tests.api.dashboard.sources.test_listing import put
from tests.api.dashboard.sources.test_one import told
from tests.api.house import House
from tests.support.build import NOW, a_draft

PLAIN = ReportedBlock("For <b>all</b>", False, True, False, "", "")
PAGE = ReportedPage(
    (
        PLAIN._replace(text="Plans", heading=True, item=False),
        PLAIN,
        PLAIN._replace(text="10", item=False, row="Team", column="Seats"),
        PLAIN._replace(text="Home", item=False, aside=True),
    ),
    1,
    2,
)


async def test_it_shows_the_reported_texts_in_order_with_their_kind(house: House, browser: Browser) -> None:
    id = put(house, type="html", title="Prices")
    house.registry.told[id] = PAGE
    await browser.get(f"/sources/{id}/text")
    texts = [" ".join(one.text_content().split()) for one in browser.page.xpath("//article/*")]
    assert texts == ["Plans", "• For <b>all</b>", "Team · Seats: 10", "around the content: Home"]
    assert browser.page.xpath("//article/h2") and "1 more texts" in browser.text
    assert "Nothing has changed since" in browser.text and "2 texts changed since" in browser.text


async def test_it_shows_when_it_was_reported_and_that_it_was_reverted(house: House, browser: Browser) -> None:
    id = put(house, type="html", title="Prices")
    house.registry.told[id] = PAGE
    await told(house, a_draft("Prices", source_type="html", tags=("change:updated", "change:reverted"), fetched_at=NOW))
    await browser.get(f"/sources/{id}/text")
    assert "it reverted to its earlier text" in browser.text
    await browser.get(f"/sources/{id}")
    assert browser.page.xpath(f"//a[@href='/sources/{id}/text']")


async def test_a_source_without_a_read_page_has_no_text(house: House, browser: Browser) -> None:
    id = put(house)
    assert (await browser.get(f"/sources/{id}/text")).status_code == 404
    assert (await browser.get(f"/sources/{'0' * 8}/text")).status_code == 404
