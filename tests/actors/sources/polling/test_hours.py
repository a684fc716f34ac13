"""A source's hours: no check outside them, except on request."""

from __future__ import annotations

import pytest
import trio

from actors.errors import Unprocessable
from actors.hours import open_from, read_hours
from actors.messages.requests import SourcePatch
from actors.messages.sources import EditSource
from storage.records.identity import Millis
from tests.actors.sources.harness import SITE, Watching, page, rss, watching

TEXT = "A paragraph that is long enough to count as text of a page, with a dozen words or more in it, at 10 euros."
URL, HOURS = f"https://{SITE}/prices", "weekdays 08-18 Europe/Stockholm"


async def shut(service: Watching) -> None:
    """Wait until the hours are over."""
    for _ in range(48):
        if open_from(read_hours(HOURS), service.world.now()) != service.world.now():
            return
        await trio.sleep(3600)


async def test_it_is_checked_only_in_its_hours_or_on_request(autojump_clock: object) -> None:
    async with watching() as (service, origin):
        origin.bodies["/prices"] = page(TEXT)
        source = (await service.add(URL, hours=HOURS)).view.source
        start, looks = service.world.now(), list[Millis]()
        for _ in range(14 * 24):
            seen = service.registry.table.describe(source.id).hot
            await trio.sleep(3600)
            after = service.registry.table.describe(source.id).hot
            if after.looks > seen.looks and after.last_look_at is not None:
                looks.append(after.last_look_at)
        hours = read_hours(HOURS)
        assert len(looks) > 60
        assert [at for at in looks if open_from(hours, at) != at and at - start > 1000] == []
        await shut(service)
        before = service.registry.table.describe(source.id)
        assert before.hot.next_look_at == open_from(hours, service.world.now())
        await trio.sleep(1)
        await service.check(source.id)
        await trio.sleep(10)
        assert service.registry.table.describe(source.id).hot.looks == before.hot.looks + 1


async def test_hours_that_are_lifted_are_waited_for_no_more(autojump_clock: object) -> None:
    async with watching() as (service, origin):
        origin.bodies["/feed"] = rss("a")
        source = (await service.add(f"https://{SITE}/feed", hours=HOURS)).view.source.id
        await shut(service)
        looks = service.registry.table.describe(source).hot.looks
        await service.registry_box.ask(lambda reply: EditSource(source, SourcePatch(hours=None), reply))
        await trio.sleep(3600)
        assert service.registry.table.describe(source).hot.looks > looks


async def test_invalid_hours_are_refused(autojump_clock: object) -> None:
    async with watching() as (service, origin):
        origin.bodies["/prices"] = page(TEXT)
        with pytest.raises(Unprocessable, match="hours: 'office' is no day"):
            await service.add(URL, hours="office hours please")
        source = (await service.add(URL)).view.source.id
        with pytest.raises(Unprocessable, match="no time zone"):
            await service.registry_box.ask(lambda reply: EditSource(source, SourcePatch(hours="08-18 Mars"), reply))
        with pytest.raises(Unprocessable, match="only a feed or a page"):
            await service.add(f"wss://{SITE}/live", hours=HOURS)
