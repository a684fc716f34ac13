from __future__ import annotations

from tests.api.dashboard.browser import Browser
from tests.api.house import BASE_URL, House
from tests.api.nouns.test_versions import reported_page, told
from tests.support.build import a_source_id

HERE = f"/sources/{a_source_id()}/compare"


async def test_it_begins_with_the_newest_change_and_compares_any_two(house: House, browser: Browser) -> None:
    first, second = await told(house)
    await browser.get(HERE)
    assert browser.page.xpath("//select[@name='from']/option[@selected]/@value") == [first]
    assert browser.page.xpath("//select[@name='to']/option[@selected]/@value") == [second]
    assert browser.page.xpath("//div[@class='diff']/del//del/text()") == ["7"]
    assert browser.page.xpath("//div[@class='diff']/p[@class='where']/text()")[0] == "Plans › Team · Seats"
    await browser.get(f"{HERE}?from={second}&to=start")
    assert browser.page.xpath("//div[@class='diff']/del//del/text()") == ["5"], "the earlier one comes first"
    assert f"{BASE_URL}{HERE}?from=start&to={second}" in browser.text, "its address is whole, for a print"
    (whole,) = browser.page.xpath("//a[text()='In the whole text']/@href")
    await browser.get(whole)
    assert browser.page.xpath("//div[@class='diff']/p[not(@class)]/text()") == ["Plans", "Menu of today"]


async def test_an_event_leads_to_its_version_and_the_one_before(house: House, browser: Browser) -> None:
    first, _ = await told(house)
    await browser.get(f"/events/{first}")
    (path,) = browser.page.xpath("//a[text()='Compare versions']/@href")
    await browser.get(path)
    assert browser.page.xpath("//select[@name='from']/option[@selected]/@value") == ["start"]
    assert browser.page.xpath("//div[@class='diff']/del//del/text()") == ["5"]


async def test_a_partial_or_impossible_comparison_is_reported(house: House, browser: Browser) -> None:
    first, second = await told(house, now=("Another part",))
    await browser.get(f"{HERE}?from={first}&to={second}")
    assert "Partial: one of these versions has only the main text" in browser.text
    await browser.get(f"{HERE}?from={second}&to=now")
    assert "one has only its main text, the other only another part" in browser.text
    assert not browser.page.xpath("//div[@class='diff']")


async def test_without_two_versions_there_is_nothing_to_compare(house: House, browser: Browser) -> None:
    await told(house)
    house.registry.told.clear()
    await browser.get(HERE)
    assert "There are no two versions yet" in browser.text
    await browser.get(f"{HERE}?from=x&to=y")
    assert browser.answer.status_code in (200, 404)


async def test_a_version_that_is_gone_is_not_found(house: House, browser: Browser) -> None:
    await told(house)
    house.registry.told[a_source_id()] = reported_page(("Plans", "9 seats", "Menu of today", "A new offer"))
    assert (await browser.get(f"{HERE}?from=start&to=now")).status_code == 404
