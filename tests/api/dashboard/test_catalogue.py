"""The template screens: read, fill in, preview, attach, and the reason for each failure."""

from __future__ import annotations

import pytest

from actors.catalogue import Catalogue, Entry
from actors.errors import Unprocessable
from actors.templates.template import read_template
from tests.actors.templates.samples import PAGE, a_template
from tests.api.dashboard.browser import Browser, signed_in
from tests.api.house import House, make_house, running

WATCH = "/templates/gtm-competitor-watch"
PUBLIC = "/templates/swedish-public-sector"


async def previewed(browser: Browser, domain: str) -> None:
    await browser.get(WATCH)
    await browser.submit(f"{WATCH}/preview", {"params.domain": domain})


async def test_the_catalogue_lists_the_sources_and_parameters_of_each_template(browser: Browser) -> None:
    await browser.get("/templates")
    assert len(browser.page.xpath("//section[@class='card']")) == 18
    assert "4 sources for each domain that you name." in browser.text
    assert "5 sources." in browser.text
    assert browser.page.xpath(f"//a[@href='{WATCH}']")


async def test_one_shows_help_and_an_example_for_each_parameter_and_everything_in_words(browser: Browser) -> None:
    await browser.get(WATCH)
    field = browser.page.xpath("//textarea[@name='params.domain']")[0]
    assert field.get("placeholder") == "example.com"
    assert "1 to 10 values, one a line." in browser.text
    assert "https://{domain}/pricing" in browser.text and "a page" in browser.text
    assert "pricing OR price OR plan" in browser.text and "English" in browser.text


async def test_a_template_that_is_not_there_is_404(browser: Browser) -> None:
    assert (await browser.get("/templates/nothing")).status_code == 404


async def test_the_preview_lists_new_and_existing_sources_and_changes_nothing(browser: Browser, house: House) -> None:
    await previewed(browser, domain="example.com\nexample.org\n")
    assert "8 new sources; 2 new alerts." in browser.text
    assert "https://example.org/careers" in browser.text
    assert house.registry.views == {}
    assert await house.storage.alerts.all() == []


async def test_a_template_and_its_preview_name_the_alerts_part_of_a_page() -> None:
    own = '[[alerts]]\nkey = "k"\nname = "N"\nquery = "x"\nmatch = "removed"'
    catalogue = Catalogue([Entry(a_template(PAGE, own), "own.toml")])
    async with running(make_house(catalogue=catalogue)) as house:
        browser = await signed_in(house)
        await browser.get("/templates/own")
        assert "Only removed text" in browser.text
        await browser.submit("/templates/own/preview")
        assert "Only removed text" in browser.text
        await browser.client.aclose()


async def test_without_alerts_none_are_previewed(browser: Browser) -> None:
    await browser.get(WATCH)
    await browser.post(f"{WATCH}/preview", {"params.domain": "example.com"})
    assert "4 new sources." in browser.text and "Leadership" not in browser.text


@pytest.mark.parametrize(
    ("typed", "says"),
    [
        ("", "domain required, but missing"),
        ("example.com\nhttps://example.org/x", "value 2 has a scheme"),
        ("a.test\n" * 11, "domain takes 1 to 10 values, not 11"),
        ("localhost\n10.0.0.1", "value 2 "),
    ],
)
async def test_errors_appear_next_to_their_fields_and_the_input_stays(browser: Browser, typed: str, says: str) -> None:
    await previewed(browser, domain=typed)
    assert browser.answer.status_code == 422
    assert says in browser.page.xpath("//*[@id='e-params.domain']")[0].text_content()
    assert browser.page.xpath("//*[@id='faults']//a/text()") == ["Domain"]
    assert (browser.page.xpath("//textarea[@name='params.domain']")[0].text or "").strip("\n") == typed.strip("\n")


async def test_attaching_reports_on_each_source_and_each_alert(browser: Browser, house: House) -> None:
    house.registry.refusals["https://example.com/careers"] = Unprocessable("it can't be watched now: 404", "body.url")
    await previewed(browser, domain="example.com")
    await browser.submit(f"{WATCH}/attach")
    assert browser.answer.status_code == 200
    assert "Some parts failed." in browser.text
    assert "3 new, 0 watched already, 1 failed; 2 alerts made." in browser.text
    (row,) = browser.page.xpath("//tr[contains(., '/careers')]")
    assert "failed" in row.text_content() and "it can't be watched now: 404" in row.text_content()
    assert len(house.registry.views) == 3
    assert len(await house.storage.alerts.all()) == 2
    assert house.matcher.changes == 1


async def test_attaching_again_does_the_rest(browser: Browser, house: House) -> None:
    house.registry.refusals["https://example.com/careers"] = Unprocessable("not now", "body.url")
    await previewed(browser, domain="example.com")
    await browser.submit(f"{WATCH}/attach")
    house.registry.refusals.clear()
    await previewed(browser, domain="example.com")
    await browser.submit(f"{WATCH}/attach")
    assert "Everything is attached." in browser.text
    assert "1 new, 3 watched already, 0 failed; 0 alerts made." in browser.text
    assert "there already" in browser.text


async def test_when_nothing_could_be_attached_it_says_so(browser: Browser, house: House) -> None:
    await browser.get(PUBLIC)
    for url in browser.page.xpath("//tbody//th/code/text()"):
        house.registry.refusals[url] = Unprocessable("out of reach", "body.url")
    await browser.submit(f"{PUBLIC}/preview", {})
    await browser.submit(f"{PUBLIC}/attach")
    assert "Nothing could be attached; the reasons are below." in browser.text
    assert browser.text.count("out of reach") == 5


HOSTILE = "<script>alert(1)</script><img src=x onerror=alert(1)>"
ODD = f"""
id = "odd"
version = 1
name = '{HOSTILE}'
summary = '{HOSTILE}'
category = "odd"

[[parameters]]
key = "word"
type = "string"
description = '{HOSTILE}'
example = '{HOSTILE}'

[[sources]]
url = "https://a.test/{{word}}"
type = "html"
tags = ['label:{HOSTILE}']

[[alerts]]
key = "odd"
name = '{HOSTILE}'
query = '<script>alert'
"""


async def test_x12_any_text_of_a_template_stays_text(autojump_clock: object) -> None:
    catalogue = Catalogue([Entry(read_template(ODD, "odd.toml"), "odd.toml")])
    async with running(make_house(catalogue=catalogue)) as house:
        browser = await signed_in(house)
        house.registry.refusals["https://a.test/x"] = Unprocessable(HOSTILE, "body.url")
        for path in ("/templates", "/templates/odd"):
            await browser.get(path)
            inert(browser)
        await browser.submit("/templates/odd/preview", {"params.word": "x"})
        inert(browser)
        await browser.submit("/templates/odd/attach")
        inert(browser)
        await browser.client.aclose()


def inert(browser: Browser) -> None:
    assert browser.answer.status_code == 200, browser.text
    assert HOSTILE in browser.page.text_content()
    assert not browser.page.xpath("//main//script | //main//img")


async def test_the_values_of_a_query_are_in_the_preview_and_in_the_alert(browser: Browser, house: House) -> None:
    await browser.get("/templates/price-below")
    typed = {"params.page": "https://shop.example/kettle", "params.below": "cheap"}
    await browser.submit("/templates/price-below/preview", typed)
    assert "must be a number, such as 300" in browser.text
    await browser.submit("/templates/price-below/preview", typed | {"params.below": "300"})
    assert "price<300" in browser.text and "Price below 300" in browser.text
    await browser.submit("/templates/price-below/attach")
    assert [alert.filter_query for alert in await house.storage.alerts.all()] == ["price<300"]
