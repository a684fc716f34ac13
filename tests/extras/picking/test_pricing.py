"""The way from a pressed price to an alert."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from actors.messages.sources import AddSource
from actors.query import parse
from api.dashboard.forms import InvalidForm
from extras.picking.records import Picked, PickedValue
from extras.picking.screens import PriceForm, query_of
from storage.records.event import Value
from tests.api.dashboard.browser import Browser
from tests.api.dashboard.sources.previews import of_a_page
from tests.api.house import House
from tests.extras.picking.test_screens import BLOCKS, PAGE, PRESSED, PRICE, URL, edits, opened
from tests.support.build import NOW

SHARE = PickedValue(Value("12 %", "percent", 12, 0, "%"), "percent", "")
SIZE = PickedValue(Value("5 GB", "number", 5, 0, "GB"), "number", "")
DAY = PickedValue(Value("May 1 2027", "date", value="2027-05-01"), "date", 'label:"Ends"')
RELEASE = PickedValue(Value("v2.1", "version", value="2.1"), "version", "")
STOCK = PickedValue(Value("in stock", "availability", value="in_stock"), "availability", "")
BARE = PickedValue(Value("9.5", "money", 95, 1), "price", 'path:"$.plans[Solo].price"')


@pytest.mark.parametrize(
    ("found", "wanted", "query"),
    [
        (PRICE, PriceForm(0, "below", "14.50"), 'label:"Adult · Price" price<14.50EUR'),
        (PRICE, PriceForm(0, "below", "14,50", narrow=True), "price<14.50EUR"),
        (PRICE, PriceForm(0, "drop", "10%"), 'label:"Adult · Price" price.drop>=10%'),
        (PRICE, PriceForm(0, "any"), 'label:"Adult · Price" kind:price'),
        (BARE, PriceForm(0, "above", "10"), 'path:"$.plans[Solo].price" price>10'),
        (SHARE, PriceForm(0, "above", "20"), "percent>20"),
        (SHARE, PriceForm(0, "any"), "kind:number"),
        (SIZE, PriceForm(0, "above", "1 000"), "number>1000GB"),
        (DAY, PriceForm(0, "below", "2027-01-01"), 'label:"Ends" date<2027-01-01'),
        (DAY, PriceForm(0, "drop", "2027-01-01"), 'label:"Ends" date<2027-01-01'),
        (RELEASE, PriceForm(0, "above", "2.1.3"), "version>2.1.3"),
        (STOCK, PriceForm(0, "below", "x"), "kind:availability"),
    ],
)
def test_a_value_becomes_a_query_that_can_be_read(found: PickedValue, wanted: PriceForm, query: str) -> None:
    assert query_of(found, wanted) == query
    parse(query, "simple")


@pytest.mark.parametrize("amount", ["", "abc", "1e9", "-3", "10 OR x", '5" OR "'])
def test_an_invalid_amount_is_refused(amount: str) -> None:
    with pytest.raises(InvalidForm):
        query_of(PRICE, PriceForm(0, "below", amount))


async def test_a_price_leads_to_an_alert_over_its_source(house: House, browser: Browser) -> None:
    id = await opened(house, browser)
    house.registry.picked = Picked(NOW, PRESSED)
    await browser.submit(f"/sources/{id}/pick", {"pick.price": "1-00000001"})
    assert browser.page.xpath("//input[@name='price.amount']/@value") == ["14.50"]
    assert "14.50 € price · EUR" in " ".join(browser.text.split())
    await browser.submit(f"/sources/{id}/pick/price", {"price.amount": "12"})
    (query,) = browser.page.xpath("//*[@name='filter_query']")
    assert (query.value or query.text).strip() == 'label:"Adult · Price" price<12EUR'
    assert browser.page.xpath(f"//input[@name='source_ids'][@value='{id}'][@checked]")
    assert not edits(house), "the whole page is still watched"


async def test_only_the_price_is_watched_without_a_name_for_its_place(house: House, browser: Browser) -> None:
    unnamed = replace(BLOCKS[1], values=(replace(PRICE, place=""),))
    id = await opened(house, browser)
    assert PRESSED.choice is not None
    house.registry.picked = Picked(NOW, replace(PRESSED, choice=replace(PRESSED.choice, block=unnamed)))
    await browser.submit(f"/sources/{id}/pick", {"pick.price": "1-00000001"})
    assert browser.page.xpath("//input[@name='price.narrow']/@checked")
    await browser.submit(f"/sources/{id}/pick/price", {"price.amount": "12", "price.narrow": "true"})
    assert edits(house)[0].selector == "#adult"


async def test_a_wrong_amount_is_reported_next_to_its_field_and_changes_nothing(house: House, browser: Browser) -> None:
    id = await opened(house, browser)
    house.registry.picked = Picked(NOW, PRESSED)
    await browser.submit(f"/sources/{id}/pick", {"pick.price": "1-00000001"})
    await browser.submit(f"/sources/{id}/pick/price", {"price.amount": "cheap"})
    assert "Write a number" in browser.text and browser.page.xpath("//input[@name='price.amount']/@value") == ["cheap"]
    assert not edits(house)


async def test_a_missing_value_is_reported(house: House, browser: Browser) -> None:
    id = await opened(house, browser)
    house.registry.picked = Picked(NOW, PRESSED)
    await browser.submit(f"/sources/{id}/pick", {"pick.price": "1-00000001"})
    house.registry.picked = Picked(NOW, replace(PAGE, gone=True))
    await browser.submit(f"/sources/{id}/pick/price", {"price.amount": "12"})
    assert "this block is gone" in browser.text


async def test_at_adding_the_page_is_watched_and_the_alert_is_over_it(house: House, browser: Browser) -> None:
    house.registry.preview = of_a_page()
    house.registry.picked = Picked(NOW, PRESSED)
    await browser.get("/sources/add")
    await browser.submit("/sources/look", {"urls": URL, "type": "html"})
    await browser.submit("/sources/add", {"title": "Mine", "pick.price": "1-00000001"}, to="/sources/pick")
    await browser.submit("/sources/pick/price", {"price.amount": "12", "price.narrow": "true"})
    added = next(message for message in house.registry.seen if isinstance(message, AddSource)).new
    assert (added.url, added.type, added.title, added.selector) == (URL, "html", "Mine", "#adult")
    assert "This is the alert for it" in browser.text
