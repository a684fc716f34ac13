"""The stream page: sources by name, events that are new to the reader, and exports."""

from __future__ import annotations

import csv
import io

import httpx
import msgspec
import pytest
import trio

from api.streams import export as module
from tests.api.dashboard.browser import Browser, signed_in
from tests.api.dashboard.rows import HOOK
from tests.api.dashboard.sources.test_listing import put
from tests.api.dashboard.test_hostile import ids, publish
from tests.api.dashboard.test_languages import furnished
from tests.api.house import House
from tests.support.build import a_source_id


def titles(browser: Browser) -> list[str]:
    return [link.text_content() for link in browser.page.xpath("//ol[@id='events']/li/p[1]/a")]


def marked(browser: Browser) -> list[str]:
    return [
        item.xpath("p[1]/a")[0].text_content()
        for item in browser.page.xpath("//ol[@id='events']/li[.//*[contains(@class,'badge') and text()='new']]")
    ]


def asked_of_stream(browser: Browser) -> list[str]:
    (live,) = browser.page.xpath("//ol[@data-live]/@data-live")
    return [part.removeprefix("source=") for part in live.partition("?")[2].split("&") if part]


@pytest.mark.parametrize(
    ("typed", "numbers"),
    [
        ("northwind PRICES", [1]),
        ("Northwind", [1, 2, 3]),
        ("Northwind, prices and terms", [3]),
        ("prices, careers", [1, 3, 2]),
        ("site2.test", [2]),
        ("أسعار", [4]),
        (a_source_id(9), [9]),
        (f"{a_source_id(9)}, careers", [9, 2]),
    ],
)
async def test_sources_are_named_as_people_call_them(
    house: House, browser: Browser, typed: str, numbers: list[int]
) -> None:
    put(house, 1, title="Northwind prices")
    put(house, 2, found_title="Careers at Northwind")
    put(house, 3, title="Northwind, prices and terms")
    put(house, 4, title="أسعار")
    await browser.get(f"/stream?source={typed}")
    assert browser.answer.status_code == 200, browser.text
    assert asked_of_stream(browser) == [a_source_id(number) for number in numbers]
    assert browser.page.xpath("//input[@name='source']/@value") == [typed]
    assert "Careers at Northwind" in browser.page.xpath("//datalist/option/@value")


async def test_a_source_that_is_called_so_is_meant_and_not_those_that_also_have_its_words(
    house: House, browser: Browser
) -> None:
    put(house, 1, title="Team")
    put(house, 2, title="Team news")
    await browser.get("/stream?source=team")
    assert asked_of_stream(browser) == [a_source_id(1)]


async def test_too_many_or_unknown_sources_are_reported_next_to_the_field(house: House, browser: Browser) -> None:
    for number in range(51):
        put(house, number + 1)
    await browser.get("/stream?source=test/feed")
    assert browser.answer.status_code == 400
    assert "Sources: more than 50 sources fit; type more of a name, or filter by a tag." in browser.text
    await browser.get(f"/stream?source={'a,' * 50}")
    assert browser.answer.status_code == 400 and "Sources: at most 50 names." in browser.text
    await browser.get("/stream?source=site2.test,zebra")
    assert browser.answer.status_code == 400 and "Sources: no source is called “zebra”." in browser.text
    assert "curl" not in browser.text and "Download" not in browser.text, "they would be of all events"


async def test_the_page_does_without_names_while_the_registry_is_silent(
    house: House, browser: Browser, autojump_clock: object
) -> None:
    await publish(house, ["Rope"])
    put(house, 1, title="Ropes")
    house.registry.silent.add("ListSources")
    await browser.get("/stream")
    assert titles(browser) == ["Rope"] and not browser.page.xpath("//datalist/option")


async def test_events_after_marking_all_as_read_are_new(house: House, browser: Browser) -> None:
    await publish(house, ["Rope 1", "Rope 2"])
    await browser.get("/stream?keyword=rope")
    assert not marked(browser) and "since you marked" not in browser.text
    await publish(house, ["Rope 3"])  # after the page, so the reader has not seen it
    await browser.submit("/stream/read")
    assert browser.path == "/stream?keyword=rope" and "marked as read" in browser.text
    assert marked(browser) == ["Rope 3"] and "1 new since you marked all as read" in browser.text
    await publish(house, ["Net"])
    (only,) = browser.page.xpath("//a[text()='Show only these']/@href")
    await browser.get("/stream?keyword=rope+2")
    assert "Nothing new matches these filters since you marked all as read." in browser.text
    await browser.get(only)
    assert titles(browser) == ["Rope 3"] and "Show all" in browser.text
    (back,) = browser.page.xpath("//form[@action='/stream/read']//input[@name='back']/@value")
    assert back == "/stream?keyword=rope"
    await browser.get("/stream")
    assert titles(browser)[:2] == marked(browser) == ["Net", "Rope 3"]
    await browser.submit("/stream/read")
    assert not marked(browser) and "Nothing new since you marked all as read." in browser.text
    assert not [form for form in browser.page.forms if form.get("action") == "/stream/read"]


async def test_another_browser_shares_the_read_mark_and_an_invalid_one_is_refused(
    house: House, browser: Browser
) -> None:
    await publish(house, ["Rope"])
    await browser.get("/stream")
    await browser.submit("/stream/read")
    assert "Nothing new" in browser.text
    other = await signed_in(house)
    await other.get("/stream")
    assert "Nothing new" in other.text and not marked(other)
    await publish(house, ["Net"])
    await other.get("/stream")
    assert marked(other) == ["Net"]
    await other.client.aclose()
    await browser.post("/stream/read", {"id": "nonsense"})
    assert browser.path == "/stream" and "Nothing was marked" in browser.text and "1 new" in browser.text
    await browser.post("/stream/read", {"id": a_source_id(1), "back": "//evil.test"}, follow=False)
    assert browser.answer.headers["Location"] == "/"


async def test_the_filter_for_new_events_continues_across_pages(house: House, browser: Browser) -> None:
    (old,) = ids(await publish(house, ["Rope"]))
    await publish(house, [f"Net {n}" for n in range(60)])
    await browser.get(f"/stream?after={old}")
    (more,) = browser.page.xpath("//a[@rel='next']/@href")
    await browser.get(more)
    assert titles(browser) == [f"Net {n}" for n in reversed(range(10))]


async def test_the_session_takes_the_events_of_the_page_as_a_file(house: House, browser: Browser) -> None:
    put(house, 1, title="Ropes")
    events = await publish(house, ["Rope 1", "Net", "Rope 2"])
    await browser.get("/stream?keyword=rope&source=ropes")
    sheet, lines = browser.page.xpath("//a[starts-with(@href,'/stream/download')]/@href")
    answer = await browser.get(sheet)
    assert answer.headers["Content-Type"].startswith("text/csv")
    assert answer.headers["Content-Disposition"].startswith("attachment;")
    assert [row["title"] for row in csv.DictReader(io.StringIO(answer.text))] == ["Rope 1", "Rope 2"]
    answer = await browser.get(lines)
    assert answer.content == events[0].body + b"\n" + events[2].body + b"\n"
    answer = await browser.get(f"/stream/download?format=ndjson&after={ids(events)[1]}")
    assert [msgspec.json.decode(line)["title"] for line in answer.content.splitlines()] == ["Rope 2"]
    for wrong in ("format=exe", "source=zebra", "after=nonsense", f"after={'x' * 200}", f"keyword={'a,' * 60}"):
        assert (await browser.get(f"/stream/download?{wrong}")).status_code == 400


async def test_many_sources_with_long_names_do_not_make_the_page_heavy(house: House, browser: Browser) -> None:
    for number in range(300):
        put(house, number + 1, title=f"{number} {'潮' * (60 if number % 2 else 300)}")
    await browser.get("/stream")
    assert len(browser.page.xpath("//datalist/option")) == 100
    assert len(browser.answer.content) <= 60_000


async def test_a_session_that_ends_cuts_its_file(
    house: House, browser: Browser, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "KEY_CHECK", 0.0)
    monkeypatch.setattr(module, "PIECE", 1)
    await publish(house, [f"Rope {n}" for n in range(300)])
    (mine,) = await house.storage.people.sessions()
    with pytest.raises(httpx.RemoteProtocolError), trio.fail_after(20):
        async with browser.client.stream("GET", "/stream/download") as answer:
            assert answer.status_code == 200
            await house.storage.people.sign_out(mine.id)
            async for _ in answer.aiter_bytes():
                pass


async def test_filters_that_hold_stand_as_chips_each_with_the_list_without_it(house: House, browser: Browser) -> None:
    await furnished(house)
    places = {
        "/stream?keyword=rope&source_type=feed": ["Words: rope", "Kind: Feeds"],
        "/sources?q=site&state=ok&sort=name": ["Words: site", "State: ok"],
        "/destinations?q=hooks&state=failing": ["Label or address: hooks", "State: failing"],
        f"/destinations/{HOOK}/deliveries?result=retry": ["Result: failed, will retry"],
    }
    for path, says in places.items():
        await browser.get(path)
        (fold,) = browser.page.xpath("//details[@class='fold']")
        assert fold.xpath(".//form") and fold.xpath("summary")
        shown = browser.page.xpath("//ul[@class='chips']//a")
        assert [" ".join(one.text_content().split()).partition(" ×")[0] for one in shown] == says
        await browser.get(shown[0].get("href"))
        left = browser.page.xpath("//ul[@class='chips']//a")
        assert browser.answer.status_code == 200 and len(left) == len(says) - 1
    await browser.get("/sources")
    assert not browser.page.xpath("//ul[@class='chips']") and browser.page.xpath("//details[@class='fold']")
