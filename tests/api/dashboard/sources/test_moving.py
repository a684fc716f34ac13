from __future__ import annotations

from typing import Any
from xml.etree import ElementTree

import msgspec
import pytest
from trio.testing import wait_all_tasks_blocked

from actors.errors import UrlRefused
from actors.messages.requests import NewSource
from actors.messages.sources import AddSource
from actors.messages.views import FeedLine
from storage.records.source import SourceRuntime, SourceState
from tests.actors.content.bodies.test_outlines import feed, opml
from tests.api.dashboard.browser import Browser
from tests.api.dashboard.sources.test_listing import put
from tests.api.house import House
from tests.support.build import a_source

LIST = opml(
    f'<outline text="Sea">{feed("https://a.test/1", text="Tides")}{feed("https://a.test/2", text="Ports")}</outline>'
    f"{feed('https://there.test/', text='There')}{feed('ftp://b.test/', text='Old')}"
    '<outline type="link" url="https://c.test/more.opml" text="more"/>'
)


async def upload(browser: Browser, body: bytes) -> None:
    await browser.get("/sources/import")
    await browser.post("/sources/import/read", {}, files={"file": ("feeds.opml", body, "text/x-opml")})


async def watched(house: House, url: str) -> None:
    source = a_source(9, url=url)
    await house.storage.sources.add(source, SourceState(source.id, SourceRuntime()), house.storage.lease)
    put(house, 9, url=url)


def added(house: House) -> list[NewSource]:
    return [message.new for message in house.registry.seen if isinstance(message, AddSource)]


async def test_a_list_is_previewed_before_it_is_added(house: House, browser: Browser) -> None:
    await watched(house, "https://there.test/")
    await upload(browser, LIST)
    for words in ("My feeds é", "2 would be added", "1 there already", "1 refused", "not followed", "Sea"):
        assert words in browser.text
    assert "ftp" in browser.text and not added(house)
    await browser.submit("/sources/import", {"tags": "mine"})
    await wait_all_tasks_blocked()
    assert {(one.url, one.title, one.tags) for one in added(house)} == {
        ("https://a.test/1", "Tides", ("label:mine", "label:Sea")),
        ("https://a.test/2", "Ports", ("label:mine", "label:Sea")),
    }
    await browser.get("/sources/import")
    assert "2 of 2 done: 2 new" in browser.text and not browser.page.xpath("//*[@data-refresh]")


async def test_pasted_addresses_are_previewed_too(browser: Browser) -> None:
    await browser.get("/sources/import")
    await browser.submit("/sources/look", {"urls": "https://a.test/1\nhttps://b.test/2"})
    assert "https://a.test/1" in browser.text and "https://b.test/2" in browser.text


async def test_a_pasted_list_is_read_alike_and_folders_may_be_left(house: House, browser: Browser) -> None:
    await browser.get("/sources/import")
    await browser.submit("/sources/import/read", {"text": LIST.decode()}, files={"file": ("", b"", "text/plain")})
    fields = dict(browser.form("/sources/import").form_values())
    await browser.post("/sources/import", {"lines": fields["lines"]})
    await wait_all_tasks_blocked()
    assert {one.tags for one in added(house)} == {()} and len(added(house)) == 3


@pytest.mark.parametrize(
    ("body", "words"),
    [
        (b"<html><p>no list</p></html>", "not a list of feeds"),
        (b"", "Choose a file, or paste"),
        (opml(""), "contains no feed"),
    ],
)
async def test_an_invalid_list_is_refused_at_its_field(browser: Browser, body: bytes, words: str) -> None:
    await upload(browser, body)
    assert browser.answer.status_code == 422
    assert words in browser.page.xpath("//small[@id='e-file']/text()")[0]


async def test_while_a_list_is_added_the_page_says_how_far_and_a_stop_ends_it(house: House, browser: Browser) -> None:
    house.registry.silent.add("https://a.test/1")
    await upload(browser, LIST)
    await browser.submit("/sources/import")
    assert "3 feeds are being added" in browser.text and browser.page.xpath("//*[@data-refresh='3']")
    assert "2 of 3 done" in browser.text
    await browser.submit("/sources/import/stop")
    await browser.get("/sources/import")
    assert "The import was stopped before its turn came" in browser.text
    house.registry.silent.clear()
    await browser.submit("/sources/import/again")
    await wait_all_tasks_blocked()
    await browser.get("/sources/import")
    assert "1 of 1 done: 1 new" in browser.text


async def test_a_second_list_waits_and_a_refusal_has_its_reason(house: House, browser: Browser) -> None:
    house.registry.silent.add("https://a.test/1")
    house.registry.refusals["https://a.test/2"] = UrlRefused("address-private", "10.0.0.1 is not public")
    await upload(browser, LIST)
    lines = dict(browser.form("/sources/import").form_values())["lines"]
    await browser.submit("/sources/import")
    await browser.post("/sources/import", {"lines": lines})
    assert browser.answer.status_code == 422 and "A list is being imported" in browser.text
    await browser.submit("/sources/import/stop")
    await browser.get("/sources/import")
    assert "10.0.0.1 is not public (rule: address-private)" in browser.text


@pytest.mark.parametrize(
    ("lines", "words"),
    [
        ("[]", "nothing to add"),
        ("{}", "Upload the list again"),
        ('[{"url": 3}]', "Upload the list again"),
        (msgspec.json.encode([FeedLine("https://a.test/", "x", ("kind:mine",))]).decode(), "service's own"),
    ],
)
async def test_a_forged_list_is_refused(house: House, browser: Browser, lines: str, words: str) -> None:
    await browser.get("/sources/import")
    await browser.post("/sources/import", {"lines": lines, "folders": "true"})
    assert browser.answer.status_code == 422 and words in browser.text and not added(house)


async def test_the_library_is_taken_along_as_a_file(house: House, browser: Browser) -> None:
    put(house, 2, title="<Tides> & more", tags=("label:sea", "template:x"))
    put(house, 1)
    await browser.get("/sources/export")
    answer = browser.answer
    assert answer.headers["Content-Disposition"] == "attachment; filename*=UTF-8''sanderling.opml"
    assert answer.headers["Content-Type"].startswith("text/x-opml")
    found: list[Any] = list(ElementTree.fromstring(answer.content).iter("outline"))
    assert [one.get("xmlUrl") for one in found] == ["https://site1.test/feed", "https://site2.test/feed"]
    assert (found[1].get("text"), found[1].get("category")) == ("<Tides> & more", "sea")


async def test_the_text_of_a_list_stays_text(browser: Browser) -> None:
    hostile = "&lt;script&gt;alert(1)&lt;/script&gt;&quot;&gt;{{7919*7927}}"
    await upload(browser, opml(f'<outline text="{hostile}">{feed("javascript:alert(1)", text=hostile)}</outline>'))
    assert "<script>alert(1)</script>" in browser.text and "62773913" not in browser.text
    assert not browser.page.xpath("//main//script | //@onerror")
    assert not [href for href in browser.page.xpath("//@href") if href.startswith("javascript")]
