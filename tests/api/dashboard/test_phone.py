"""The dashboard on a phone: a bar of four places, the way to all others, and the offline page."""

from __future__ import annotations

import re

from api.dashboard.rendering import BY_NAME, asset
from tests.api.dashboard.browser import Browser


async def test_the_bar_has_four_places_and_more_has_the_others_and_the_way_out(browser: Browser) -> None:
    await browser.get("/keys")
    bar = [one.text_content() for one in browser.page.xpath("//nav//li[contains(@class,'first')]")]
    assert bar == ["Today", "Sources", "Alerts", "Stream", "More"]
    assert [one.text_content() for one in browser.page.xpath("//nav//a[@aria-current]")] == ["API keys", "More"]
    await browser.get("/more")
    listed = {one.text_content() for one in browser.page.xpath("//main//a")}
    assert listed == {one.text_content() for one in browser.page.xpath("//nav//a")} - set(bar)
    await browser.post("/sign-out")
    assert "You have signed out." in browser.text


async def test_the_offline_page_needs_no_session_and_only_its_own_files(
    stranger: Browser,
) -> None:
    await stranger.get("/offline")
    assert stranger.answer.status_code == 200 and "The service can't be reached" in stranger.text
    named = re.findall(r'(?:href|src)="(/assets/[^"]+\.(?:css|svg))"', stranger.answer.text)
    assert {path.rpartition("/")[2] for path in named} == {"style.css", "icon.svg"}
    assert not stranger.page.xpath("//form")


async def test_the_worker_is_at_the_root_so_that_it_is_for_all_pages(stranger: Browser) -> None:
    assert "/service-worker.js" in BY_NAME
    answer = await stranger.client.get("/service-worker.js?sv")
    assert answer.status_code == 200 and answer.headers["Content-Type"].startswith("text/javascript")
    assert answer.content == asset("service-worker.js").body
