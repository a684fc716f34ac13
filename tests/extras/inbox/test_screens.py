"""The screens of bins: make, fill, inspect, attach to an alert, delete; captured data is only shown as text."""

from __future__ import annotations

import pytest

from actors.destination_kinds.bins import BODY, LIFETIME
from storage.records.alert import Alert
from storage.records.bin import Bin
from storage.records.identity import Millis
from tests.api.dashboard.browser import Browser
from tests.api.house import House
from tests.support.build import NOW

HOSTILE = "<script>alert(1)</script>\"'><img src=x onerror=alert(1)>"


async def minted(browser: Browser) -> Bin:
    await browser.get("/webhook-bins")
    await browser.submit("/webhook-bins")
    (*_, bin) = await browser.house.storage.bins.all()
    return bin


async def send(house: House, bin: Bin, content: bytes = b"hello", *, behind: str = "", **headers: str) -> None:
    async with house.stranger() as stranger:
        answer = await stranger.post(f"/bins/{bin.token}{behind}", content=content, headers=headers)
        assert answer.status_code == 200


async def an_alert(house: House, id: str = "019db0a4-7d20-7000-8000-0000000000b1", name: str = "Prices") -> Alert:
    alert = Alert(id, name, "price", "en", (), NOW, NOW)
    await house.storage.alerts.put(alert)
    return alert


async def test_the_empty_list_of_bins_explains_them(browser: Browser) -> None:
    await browser.get("/webhook-bins")
    assert "No test inbox yet" in browser.text
    assert "Make a test inbox" in browser.text


async def test_a_bin_is_made_and_shows_its_address_and_how_to_try_it(browser: Browser) -> None:
    bin = await minted(browser)
    assert browser.path == f"/webhook-bins/{bin.id}"
    assert f"http://sanderling.test/bins/{bin.token}" in browser.text
    assert "curl -d 'hello'" in browser.text
    assert "Nothing yet" in browser.text


async def test_the_list_names_each_bin_when_it_was_used_and_its_pages(browser: Browser, house: House) -> None:
    bin = await minted(browser)
    await send(house, bin)
    await browser.get("/webhook-bins")
    assert "1 inbox," in browser.text and "no destination" in browser.text
    assert browser.page.xpath("//tbody//time")
    for number in range(30):
        await house.storage.bins.add(Bin(f"bin{number}", f"token{number}", NOW, Millis(NOW + LIFETIME)))
    await browser.get("/webhook-bins")
    assert len(browser.page.xpath("//tbody/tr")) == 25
    await browser.get(browser.page.xpath("//a[@rel='next']/@href")[0])
    assert len(browser.page.xpath("//tbody/tr")) == 6


async def test_a_page_beyond_the_last_leads_back(browser: Browser) -> None:
    await minted(browser)
    await browser.get("/webhook-bins?page=9")
    assert "To the first page" in browser.text


async def test_a_capture_shows_headers_body_and_the_verdict_on_both_signatures(browser: Browser, house: House) -> None:
    bin = await minted(browser)
    await send(house, bin, b'{"a":1}', behind="/in?x=1", **{"X-Note": "it's"})
    await browser.get(f"/webhook-bins/{bin.id}")
    await browser.get(browser.page.xpath("//tbody//a/@href")[0])
    assert "it's" in browser.text and "Body, 7 bytes" in browser.text
    assert browser.page.xpath("//pre")[0].text_content() == '{\n  "a": 1\n}'
    assert "not checked" in browser.text and "none of the headers of a delivery" in browser.text
    assert "/in?x=1" in browser.text
    assert f"http://sanderling.test/bins/{bin.token}/in?x=1" in browser.text  # in the curl command


async def test_a_body_that_is_no_text_can_only_be_downloaded(browser: Browser, house: House) -> None:
    bin = await minted(browser)
    await send(house, bin, b"\xff\x00<script>")
    await browser.get(f"/webhook-bins/{bin.id}")
    await browser.get(browser.page.xpath("//tbody//a/@href")[0])
    assert "not UTF-8 text" in browser.text
    answer = await browser.get(browser.page.xpath("//a[text()='Download']/@href")[0])
    assert answer.content == b"\xff\x00<script>"
    assert answer.headers["content-disposition"].startswith("attachment")
    assert answer.headers["content-type"] == "application/octet-stream"


async def test_a_long_body_is_shown_by_its_beginning(browser: Browser, house: House) -> None:
    bin = await minted(browser)
    await send(house, bin, b"a" * (BODY + 10))
    await browser.get(f"/webhook-bins/{bin.id}")
    await browser.get(browser.page.xpath("//tbody//a/@href")[0])
    assert "These are its first 6,000 characters" in browser.text
    assert len(browser.answer.content) < 60_000
    assert "Send it again" not in browser.text


async def test_x12_any_request_to_a_bin_stays_text(browser: Browser, house: House) -> None:
    bin = await minted(browser)
    await send(house, bin, HOSTILE.encode(), behind=f"/{HOSTILE}", **{"X-Bad": HOSTILE})
    for path in (f"/webhook-bins/{bin.id}", f"/webhook-bins/{bin.id}/captures/1"):
        await browser.get(path)
        assert browser.answer.status_code == 200
        assert not browser.page.xpath("//img[@onerror] | //script[not(@src)]")
    assert HOSTILE in browser.page.text_content()


async def test_captures_go_on_page_by_page(browser: Browser, house: House) -> None:
    bin = await minted(browser)
    for number in range(23):
        await send(house, bin, str(number).encode())
    await browser.get(f"/webhook-bins/{bin.id}")
    assert len(browser.page.xpath("//tbody/tr")) == 20
    assert browser.page.xpath("//*[@id='captures']/@data-refresh") == ["3"]
    await browser.get(browser.page.xpath("//a[@rel='next']/@href")[0])
    assert len(browser.page.xpath("//tbody/tr")) == 3
    assert not browser.page.xpath("//*[@id='captures']/@data-refresh")


async def test_an_alert_is_given_the_bin_and_its_secret_is_shown_once(browser: Browser, house: House) -> None:
    bin, alert = await minted(browser), await an_alert(house)
    await browser.get(f"/webhook-bins/{bin.id}")
    await browser.submit(f"/webhook-bins/{bin.id}/attach", {"alert": alert.id})
    assert "The matches of Prices now go to this inbox." in browser.text
    assert "whsec_" in browser.text
    (destination,) = await house.storage.alerts.destinations()
    assert destination.url.endswith(f"/bins/{bin.token}")
    await browser.get(f"/webhook-bins/{bin.id}")
    assert "whsec_" not in browser.text
    assert "test inbox of the alert Prices, at once" in browser.text
    assert "Send a sample" in browser.text


async def test_without_an_alert_the_bin_links_to_the_alert_form(browser: Browser) -> None:
    await minted(browser)
    assert browser.page.xpath("//a[@href='/alerts/new']")


async def test_a_missing_choice_is_reported_next_to_the_field(browser: Browser, house: House) -> None:
    bin = await minted(browser)
    await an_alert(house)
    await browser.get(f"/webhook-bins/{bin.id}")
    await browser.submit(f"/webhook-bins/{bin.id}/attach", {"alert": ""})
    assert browser.answer.status_code == 422
    assert browser.page.xpath("//select[@name='alert']/@aria-invalid") == ["true"]


async def test_a_bin_is_deleted_by_a_typed_word(browser: Browser, house: House) -> None:
    bin = await minted(browser)
    await browser.submit(f"/webhook-bins/{bin.id}/delete", {"confirm": "no"})
    assert browser.answer.status_code == 422 and "To confirm, type: delete" in browser.text
    await browser.submit(f"/webhook-bins/{bin.id}/delete", {"confirm": "delete"})
    assert browser.path == "/webhook-bins"
    assert await house.storage.bins.all() == []
    await browser.get(f"/webhook-bins/{bin.id}")
    assert browser.answer.status_code == 404


@pytest.mark.parametrize("number", ["2", "x", "99999999999999999999", "-1"])
async def test_a_capture_that_is_not_there_is_404(browser: Browser, house: House, number: str) -> None:
    bin = await minted(browser)
    await send(house, bin)
    await browser.get(f"/webhook-bins/{bin.id}/captures/{number}")
    assert browser.answer.status_code == 404
