"""Screenshots with their events and on their source's page."""

from __future__ import annotations

from actors.messages.views import SourceView
from storage.records.event import Filter
from storage.records.identity import START
from storage.records.source import SourceRuntime
from tests.api.dashboard.browser import Browser
from tests.api.house import House
from tests.api.nouns.test_screenshots import LOCKED, pictured
from tests.api.nouns.test_why import id_in
from tests.support.build import a_source, a_source_id
from tests.support.pictures import PNG, WEBP


async def test_an_event_shows_both_sides_and_the_dashboard_locks_them_up_too(house: House, browser: Browser) -> None:
    id = id_in(await pictured(house))
    await browser.get(f"/events/{id}")
    sources = [f"/events/{id}/screenshot?side={side}" for side in ("before", "after")]
    assert browser.page.xpath("//figure//img/@src") == sources
    for path, body in zip(sources, (WEBP, PNG), strict=True):
        answer = await browser.client.get(path)
        assert (answer.status_code, answer.content) == (200, body)
        assert {name: answer.headers[name] for name in LOCKED} == LOCKED


async def test_a_source_shows_its_newest_picture(house: House, browser: Browser) -> None:
    await pictured(house)
    house.registry.views[a_source_id()] = SourceView(a_source(type="html"), SourceRuntime())
    await browser.get(f"/sources/{a_source_id()}")
    assert browser.page.xpath("//figure//img/@src") == [f"/sources/{a_source_id()}/screenshot"]
    answer = await browser.client.get(f"/sources/{a_source_id()}/screenshot")
    assert (answer.content, answer.headers["content-type"]) == (PNG, "image/png")
    assert {name: answer.headers[name] for name in LOCKED} == LOCKED


async def test_an_event_without_a_screenshot_shows_none(house: House, browser: Browser) -> None:
    await house.publish("a")
    (event,) = (await house.storage.log.read(START, 1, Filter())).events
    await browser.get(f"/events/{id_in(event)}")
    assert not browser.page.xpath("//figure")
    house.registry.views[a_source_id()] = SourceView(a_source(type="html"), SourceRuntime())
    await browser.get(f"/sources/{a_source_id()}")
    assert not browser.page.xpath("//figure")
    assert (await browser.client.get(f"/sources/{a_source_id()}/screenshot")).status_code == 404
