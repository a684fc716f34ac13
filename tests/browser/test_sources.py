"""Sources in a real browser: paste, see, try a selector, watch, look at it; a list of feeds in."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import trio

from actors.settings import Settings
from sanderling import keyring
from tests.browser.test_dashboard import PASSWORD, in_chromium, pytestmark
from tests.e2e.origin import Origin
from tests.e2e.service import a_service

__all__ = ["pytestmark"]


def fits(page: Any) -> bool:
    return bool(page.evaluate("document.documentElement.scrollWidth <= innerWidth"))


def paste_see_and_watch(page: Any, link: str, place: str) -> None:
    page.goto(link)
    page.fill("#f-password", PASSWORD)
    page.fill("#f-again", PASSWORD)
    page.click("text=Set the password")
    page.locator("h1", has_text="Today").wait_for()
    page.keyboard.press("g")
    page.keyboard.press("s")
    page.click("text=Add the first source")
    page.fill("#f-urls", f"{place}/page")
    page.click("button:text-is('Look at it')")
    page.locator("#found", has_text="2 blocks").wait_for()
    page.fill("#f-selector", "main p:first-child")
    page.click("button:text-is('Try these selectors')")
    page.locator("#found", has_text="The selector keeps 1 element").wait_for()
    assert page.input_value("#f-title") == "The beach" and fits(page)
    page.click("button:text-is('Watch it')")
    page.locator("h1", has_text="The beach").wait_for()
    page.locator("#now", has_text="Next look in").wait_for()
    assert fits(page)
    page.click("button:text-is('Check now')")
    page.locator("[role=alert]", has_text="It was looked at just now").wait_for()
    page.goto(page.url.rpartition("/")[0] + "/import")
    lines = f'<outline xmlUrl="{place}/feed" text="Notes" category="sea"/>'
    page.fill("#f-text", f'<opml version="2.0"><body>{lines}</body></opml>')
    page.click("button:text-is('Show what is in it')")
    page.click("button:text-is('Add 1')")
    page.locator("#import", has_text="1 of 1 done: 1 new").wait_for()  # without a reload
    page.goto(page.url.replace("/import", "?tag=sea"))
    assert page.locator("tbody tr").count() == 1 and fits(page)


async def test_a_page_is_pasted_seen_tried_and_watched_and_a_list_comes_in(tmp_path: Path) -> None:
    origin = Origin()
    async with trio.open_nursery() as nursery:
        await nursery.start(origin.serve)
        async with a_service(tmp_path) as service:
            link = keyring.set_up_link(Settings(data=str(tmp_path), base_url=service.url))
            place = f"http://{origin.place}"
            said = await trio.to_thread.run_sync(in_chromium, paste_see_and_watch, link, place)
        nursery.cancel_scope.cancel()
    assert said == []
