"""Pages to choose a part from, for a new URL and for a source."""

from __future__ import annotations

from typing import Any

import pytest
import trio

from actors.errors import TooSoon, Unprocessable
from actors.messages.requests import DetectRequest
from extras.picking.operations import PickFromSource, PickFromUrl
from extras.picking.records import Picked, PickWish, PressedBlock
from tests.actors.sources.harness import SITE, Watching, rss, watching
from tests.actors.sources.registry.test_previewer import ADVERTISED, FEED, PAGE, document

TEXTS = ["Home", "Page", "A paragraph", "A paragraph", "A paragraph", "Buy a boat now", "Imprint and more"]


async def of_url(service: Watching, url: str, wish: PickWish, **request: Any) -> Picked:
    return await service.registry_box.ask(lambda reply: PickFromUrl(DetectRequest(url, **request), wish, reply))


async def of_source(service: Watching, source: Any, wish: PickWish) -> Picked:
    return await service.registry_box.ask(lambda reply: PickFromSource(source, wish, reply))


async def test_a_url_that_advertises_a_feed_is_shown_as_a_page_and_not_added(
    autojump_clock: object,
) -> None:
    async with watching() as (service, origin):
        origin.bodies["/page"] = document(ADVERTISED.format("/feed"))
        origin.bodies["/feed"] = rss("a")
        shown = (await of_url(service, PAGE, PickWish())).page
        assert [block.text[:16].split(" that")[0] for block in shown.blocks] == TEXTS
        pressed = PickWish(press=PressedBlock(5, shown.blocks[5].mark, "without"))
        choice = (await of_url(service, PAGE, pressed)).page.choice
        assert choice is not None
        assert choice.kept is not None
        assert (choice.kept.ignore, choice.kept.count) == (("div.offer",), 4)
        assert len(origin.looks("/page")) == 1, "a page of the last minute will do"
        assert len(service.registry.table) == 0


async def test_a_feed_has_no_parts(autojump_clock: object) -> None:
    async with watching() as (service, origin):
        origin.bodies["/feed"] = rss("a")
        with pytest.raises(Unprocessable, match="each entry is reported by itself"):
            await of_url(service, FEED, PickWish())
        added = await service.add(FEED)
        with pytest.raises(Unprocessable, match="not watched as a page"):
            await of_source(service, added.view.source.id, PickWish())


async def test_a_source_shows_its_page_and_its_watched_part(autojump_clock: object) -> None:
    async with watching() as (service, origin):
        origin.bodies["/page"] = document()
        added = await service.add(PAGE, type="html", selector="#story")
        shown = (await of_source(service, added.view.source.id, PickWish("#story", (".offer",)))).page
        assert [block.number for block in shown.blocks if block.watched] == [1, 2, 3, 4]
        assert shown.now is not None
        assert shown.now.count == 4


async def test_a_selector_that_is_none_and_a_wall_are_refused(autojump_clock: object) -> None:
    async with watching() as (service, origin):
        origin.bodies["/page"] = document()
        with pytest.raises(Unprocessable, match="not a CSS selector"):
            await of_url(service, PAGE, PickWish("p["))
        origin.bodies["/wall"] = b"<html><head><title>Just a moment...</title></head><body>Checking your browser</body>"
        with pytest.raises(Unprocessable):
            await of_url(service, f"https://{SITE}/wall", PickWish())
        with pytest.raises(Unprocessable, match="404"):
            await of_url(service, f"https://{SITE}/none", PickWish())


async def test_a_picker_fetches_once_a_minute_at_most_and_waits_for_a_resting_origin(autojump_clock: object) -> None:
    async with watching() as (service, origin):
        origin.bodies["/page"] = document()
        source = (await service.add(PAGE, schedule="1h")).view.source.id
        await trio.sleep(1000)
        looks = len(origin.looks("/page"))
        for _ in range(3):
            await of_source(service, source, PickWish())
        assert len(origin.looks("/page")) == looks + 1
        origin.status = 500
        await trio.sleep(24 * 3600)
        with pytest.raises(TooSoon):
            await of_source(service, source, PickWish())
