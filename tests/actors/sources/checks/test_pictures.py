"""Screenshots of rendered pages: which checks keep one, and that nothing else is ever stored."""

from __future__ import annotations

import pytest

from actors.errors import Unprocessable
from storage.records.event import KeptPicture
from storage.records.identity import START, SourceId, seq_of
from tests.actors.sources.checks.test_rendering import AFTER, BEFORE, SHELL, URL, a_browser, edited, look
from tests.actors.sources.harness import Watching, watching
from tests.support.pictures import PNG, WEBP
from tests.support.scripted_browser import ScriptedBrowser, rendered


def shows(browser: ScriptedBrowser, html: bytes, picture: bytes) -> None:
    browser.pages[URL] = rendered(html, URL)._replace(screenshot=picture)


async def newest(service: Watching, source: SourceId) -> KeptPicture | None:
    return await service.ports.storage.pictures.newest(source)


async def test_the_first_check_and_each_change_store_a_picture_and_other_checks_none(
    autojump_clock: object,
) -> None:
    browser = a_browser()
    async with watching(browser=browser) as (service, origin):
        origin.bodies["/app"] = SHELL
        shows(browser, BEFORE, WEBP)
        source = (await service.add(URL, render="always", screenshots=True)).view.source.id
        first = await newest(service, source)
        assert first is not None
        assert (first.seq, first.media) == (START, "image/webp")
        await look(service, source)
        assert await newest(service, source) == first, "nothing was told"
        shows(browser, AFTER, PNG)
        await look(service, source)
        (event,) = await service.events()
        after = await newest(service, source)
        assert after is not None
        assert (after.seq, after.media, after.at > first.at) == (seq_of(event["id"]), "image/png", True)
        assert await service.ports.storage.pictures.around(source, after.seq) == (first, after)
        assert all(request.screenshot for request in browser.asked)


async def test_pictures_are_stored_only_on_request(autojump_clock: object) -> None:
    browser = a_browser()
    async with watching(browser=browser) as (service, origin):
        origin.bodies["/app"] = SHELL
        shows(browser, BEFORE, WEBP)
        source = (await service.add(URL, render="always")).view.source.id
        shows(browser, AFTER, WEBP)
        await look(service, source)
        assert await service.news() and await newest(service, source) is None
        assert not any(request.screenshot for request in browser.asked)


@pytest.mark.parametrize("rubbish", [b"", b"<svg onload=alert(1)>", WEBP + b"<script>", PNG[:20]])
async def test_an_invalid_picture_is_discarded_and_the_change_is_still_reported(
    rubbish: bytes, autojump_clock: object
) -> None:
    browser = a_browser()
    async with watching(browser=browser) as (service, origin):
        origin.bodies["/app"] = SHELL
        shows(browser, BEFORE, rubbish)
        source = (await service.add(URL, render="always", screenshots=True)).view.source.id
        shows(browser, AFTER, rubbish)
        await look(service, source)
        assert await service.news() and await newest(service, source) is None


async def test_they_may_be_wanted_later_and_of_pages_only(autojump_clock: object) -> None:
    browser = a_browser()
    async with watching(browser=browser) as (service, origin):
        origin.bodies["/app"] = SHELL
        shows(browser, BEFORE, WEBP)
        source = (await service.add(URL, render="always")).view.source.id
        await edited(service, source, screenshots=True)
        assert await newest(service, source) is None, "the page is known by now"
        shows(browser, AFTER, WEBP)
        await look(service, source)
        assert await newest(service, source) is not None
        with pytest.raises(Unprocessable, match="only a page has them"):
            await service.add("wss://push.example/", screenshots=True)
