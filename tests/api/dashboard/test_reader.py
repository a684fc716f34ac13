"""The reader: a list of entries, the open entry, and marks of read ones."""

from __future__ import annotations

import pytest

from api.dashboard import stream
from storage.records.event import Stored
from storage.sql.stores import people
from tests.api.dashboard.browser import Browser, signed_in
from tests.api.dashboard.sources.test_listing import put
from tests.api.house import House, ids
from tests.support.build import a_draft, a_source, a_source_id


def unread(browser: Browser) -> list[str]:
    return [link.text for link in browser.page.xpath("//ol[@data-reader]/li[@class='unread']/p[1]/a")]


def counts(browser: Browser) -> dict[str, str]:
    links = browser.page.xpath("//nav[contains(@class,'wide-only')]//li/a[bdi]")
    return {link.xpath("bdi")[0].text: (link.xpath("b/text()") or [""])[0] for link in links}


def button(browser: Browser) -> str:
    return "".join(browser.page.xpath("//form[@action='/stream/read']/button/text()"))


async def three(house: House) -> list[Stored]:
    drafts = [a_draft("Ferry", tags=("label:sea",)), a_draft("Tides", tags=("label:sea",)), a_draft("Bread", tags=())]
    return await house.publish(*drafts)


async def test_an_entry_is_read_when_it_opens_and_can_be_kept_unread(house: House, browser: Browser) -> None:
    events = await three(house)
    first = ids(events)[0]
    await browser.get("/stream/read")
    assert unread(browser) == ["Bread", "Tides", "Ferry"] and counts(browser)["sea"] == "2"
    await browser.get(f"/stream/read?entry={first}")
    (entry,) = browser.page.xpath("//article[@id='entry']")
    assert "Ferry" in entry.text_content() and entry.xpath(".//a[@target='_blank']")
    assert unread(browser) == ["Bread", "Tides"] and counts(browser)["sea"] == "1"
    assert not browser.page.xpath("//article//a[text()='Next']"), "it is the last one"
    await browser.get(f"/stream/read?entry={ids(events)[1]}")
    assert browser.page.xpath("//article//a[text()='Next']/@href") == [f"/stream/read?entry={first}"]
    await browser.post("/stream/read/entries", {"ids": ids(events)[1]})
    await browser.get("/stream/read")
    assert unread(browser) == ["Bread", "Tides"]
    await browser.get(f"/stream/read?entry={first}")
    await browser.submit("/stream/read/entries")
    assert browser.path == "/stream/read" and unread(browser) == ["Bread", "Tides", "Ferry"]


async def test_a_tag_is_marked_as_read_alone_and_everything_at_once(house: House, browser: Browser) -> None:
    await three(house)
    await browser.get("/stream/read?tag=sea")
    assert unread(browser) == ["Tides", "Ferry"] and button(browser) == "Mark 2 as read"
    await browser.submit("/stream/read")
    assert unread(browser) == [] and counts(browser)["sea"] == "" and "2 marked as read." in browser.text
    await browser.get("/stream/read")
    assert unread(browser) == ["Bread"]
    await browser.submit("/stream/read")
    assert unread(browser) == [] and "Mark" not in browser.text
    await house.publish("Later")
    await browser.get("/stream/read")
    assert unread(browser) == ["Later"]


async def test_a_source_is_marked_as_read_beyond_its_page_and_not_what_came_later(
    house: House, browser: Browser, monkeypatch: pytest.MonkeyPatch
) -> None:
    put(house, 1, title="Harbour log")
    await house.publish(*(f"Tide {number}" for number in range(70)))
    await house.publish("Bread", source=2)
    await browser.get(f"/sources/{a_source_id(1)}")
    (path,) = browser.page.xpath("//a[text()='Read its entries']/@href")
    await browser.get(path)
    assert len(unread(browser)) == 50 and button(browser) == "Mark 70 as read"
    assert browser.page.xpath("//h1/bdi/text()") == [a_source(1).called]
    await house.publish("Tide 70")  # after the page, so nobody has seen it
    await browser.submit("/stream/read")
    assert unread(browser) == ["Tide 70"]
    await browser.get("/stream/read")
    assert unread(browser) == ["Tide 70", "Bread"]
    monkeypatch.setattr(stream, "COUNTED", 1)
    await browser.get("/stream/read")
    assert button(browser) == "Mark 1+ as read"
    await browser.get(f"{path}&tag=none")
    assert not button(browser)


async def test_the_count_of_unread_entries_reads_a_bounded_part_of_the_log(
    house: House, browser: Browser, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(stream, "SEARCHES", 1)
    await house.publish(*(f"Tide {number}" for number in range(250)))
    await browser.get("/stream/read")
    assert button(browser) == "Mark 200+ as read"


async def test_a_tag_with_more_entries_than_marks_is_read_as_a_whole(
    house: House, browser: Browser, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in (stream, people):
        monkeypatch.setattr(module, "MOST_MARKS", 20)
    await house.publish(*(a_draft(f"Tide {number}", tags=("label:sea",)) for number in range(50)))
    await browser.get("/stream/read?tag=sea")
    await browser.submit("/stream/read")
    assert not unread(browser)


async def test_older_entries_open_on_their_own_page(house: House, browser: Browser) -> None:
    await house.publish(*(f"entry {number}" for number in range(60)))
    await browser.get("/stream/read")
    (older,) = browser.page.xpath("//a[@rel='next']/@href")
    await browser.get(older)
    assert unread(browser)[0] == "entry 9"
    await browser.get(browser.page.xpath("//ol[@data-reader]/li[1]//a/@href")[0])
    assert browser.answer.status_code == 200 and unread(browser)[0] == "entry 8"


@pytest.mark.parametrize("ids", ["", "nonsense", "a,b"])
async def test_marks_of_no_event_are_refused(house: House, browser: Browser, ids: str) -> None:
    events = await three(house)
    await browser.get(f"/stream/read?entry={events[0].body and seq_text(events[0])}")
    await browser.submit("/stream/read/entries", {"ids": ids})
    assert browser.answer.status_code in (400, 422)


def seq_text(event: Stored) -> str:
    return ids([event])[0]


async def test_an_unknown_entry_is_not_found(browser: Browser) -> None:
    await browser.get("/stream/read?entry=019db0a4-a060-7000-8000-0000000000f1")
    assert browser.answer.status_code == 404


async def test_a_second_device_shows_the_same_unread_entries(house: House, browser: Browser) -> None:
    events = await three(house)
    phone = await signed_in(house)
    await browser.get(f"/stream/read?entry={ids(events)[0]}")
    await phone.get("/stream/read")
    assert unread(phone) == ["Bread", "Tides"]
    await phone.submit("/stream/read")
    await browser.get("/stream/read")
    assert unread(browser) == []
    await browser.get(f"/stream/read?entry={ids(events)[1]}")
    await browser.submit("/stream/read/entries")
    await phone.get("/stream/read")
    assert unread(phone) == ["Tides"], "also an entry from before *Mark all as read* can be kept unread"
    await phone.client.aclose()


async def test_entries_of_a_deleted_source_stay_as_they_were_read(house: House, browser: Browser) -> None:
    events = await three(house)  # the registry knows none of their sources
    await browser.get(f"/stream/read?entry={ids(events)[2]}")
    await browser.get("/stream/read")
    assert unread(browser) == ["Tides", "Ferry"]


async def test_nothing_to_read_is_said(browser: Browser) -> None:
    await browser.get("/stream/read")
    assert "Nothing to read" in browser.text and not unread(browser)
