"""The dashboard in a real browser: from the set-up link to an event that slides in, without an error."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

import pytest
import trio

from actors.settings import Settings
from sanderling import keyring
from sanderling.environment import environ
from tests.e2e.origin import Origin
from tests.e2e.service import a_key, a_service, run_command

CHROMIUM = Path("/usr/bin/chromium")
PASSWORD = "correct horse battery staple"
pytestmark = [pytest.mark.real, pytest.mark.browser]
if environ().get("CI") != "true":
    pytestmark.append(pytest.mark.skipif(not CHROMIUM.exists(), reason="there is no /usr/bin/chromium"))
    pytest.importorskip("playwright", reason="playwright is not installed")


def in_chromium(journey: Any, *args: Any) -> list[str]:
    """Run a journey on a new page, in a thread; return what the console said."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=str(CHROMIUM), args=["--no-sandbox"])
        page = chromium.new_context(timezone_id="Europe/Stockholm", viewport={"width": 360, "height": 740}).new_page()
        said: list[str] = []
        page.on("console", lambda message: said.append(message.text))
        page.on("pageerror", lambda error: said.append(str(error)))
        try:
            journey(page, *args)
        finally:
            chromium.close()
    return said


def set_up_and_wait_for_news(page: Any, link: str, publish: Any) -> None:
    page.goto(link)
    page.fill("#f-password", PASSWORD)
    assert page.inner_text("#s-password") == "Strong."
    page.fill("#f-again", PASSWORD)
    page.click("text=Set the password")
    page.locator("h1", has_text="Today").wait_for()
    page.locator("#state", has_text="Live").wait_for()
    publish()
    page.locator("#events a", has_text="the first note").wait_for()
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    page.keyboard.press("?")
    page.locator("dialog h2", has_text="Keys").wait_for()
    page.keyboard.press("Escape")
    page.keyboard.press("g")
    page.keyboard.press("k")
    page.locator("h1", has_text="API keys").wait_for()
    assert {cookie["name"].partition("-")[0]: cookie["httpOnly"] for cookie in page.context.cookies()} == {
        "session": True,
        "visitor": True,
        "tz": False,
    }


async def test_from_the_set_up_link_to_an_event_that_slides_in(tmp_path: Path) -> None:
    origin, key = Origin(), a_key(tmp_path)
    async with trio.open_nursery() as nursery:
        await nursery.start(origin.serve)
        async with a_service(tmp_path) as service:
            link = keyring.set_up_link(Settings(data=str(tmp_path), base_url=service.url))
            to = {"SANDERLING_URL": service.url, "SANDERLING_KEY": key}
            add = partial(run_command, "sources", "add", f"http://{origin.place}/feed", "--backfill", "1", **to)
            publish = partial(trio.from_thread.run, add)
            said = await trio.to_thread.run_sync(in_chromium, set_up_and_wait_for_news, link, publish)
        nursery.cancel_scope.cancel()
    assert said == []
