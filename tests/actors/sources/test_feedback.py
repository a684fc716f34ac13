"""Changes marked as noise stop, changes marked as real return, and the user sets the threshold."""

from __future__ import annotations

import pytest
import trio

from actors.errors import Unprocessable
from actors.messages.requests import SourcePatch
from actors.messages.sources import EditSource, Teach
from actors.messages.views import TeachResult
from storage.records.identity import SourceId
from storage.records.source import MOST_NOISE
from tests.actors.sources.harness import Watching, page, rss, watching
from tests.storage.records.test_note import PROSE, notes_in
from tests.support.in_loop import Disk

URL = "https://site.example/page"
OFFER = "Our newest offer this week is a set of 3 chairs and a table for your own garden and balcony."
NEWS = "The library opens on Sundays from next month on, after two years in which it had been closed."


async def teach(service: Watching, source: SourceId, *texts: str, noise: bool = True) -> TeachResult:
    return await service.registry_box.ask(lambda reply: Teach(source, texts, noise, reply))


async def test_an_ignored_block_is_never_reported_again_and_other_changes_are(autojump_clock: object) -> None:
    disk = Disk()
    async with watching(disk=disk) as (service, origin):
        origin.bodies["/page"] = page(*PROSE)
        source = (await service.add(URL)).view.source.id
        learned = await teach(service, source, OFFER)
        assert learned.blocks == len(learned.view.source.noise) > 0
        assert (await teach(service, source, OFFER)).blocks == 0
        origin.bodies["/page"] = page(*PROSE, OFFER.replace("3", "4"))
        await trio.sleep(3600)
        assert await service.events() == []
        (withheld,) = [part for part in notes_in(disk, source)[-1].parts if part.text.startswith("Our newest")]
        assert "noise" in withheld.rule
    async with watching(origin, disk=disk) as (service, origin):
        origin.bodies["/page"] = page(*PROSE, OFFER.replace("3", "4"), NEWS)
        await trio.sleep(3600)
        (event,) = await service.events()
        assert NEWS in event["diff"]["added"]


async def test_a_block_unmarked_as_noise_is_reported_again(autojump_clock: object) -> None:
    async with watching() as (service, origin):
        origin.bodies["/page"] = page(*PROSE)
        source = (await service.add(URL)).view.source.id
        taught = (await teach(service, source, OFFER, NEWS)).blocks
        back = await teach(service, source, OFFER, noise=False)
        assert 0 < back.blocks < taught
        assert len(back.view.source.noise) == taught - back.blocks
        origin.bodies["/page"] = page(*PROSE, OFFER)
        await trio.sleep(3600)
        assert len(await service.events()) == 1


async def test_the_newest_noise_wins(autojump_clock: object) -> None:
    async with watching() as (service, origin):
        origin.bodies["/page"] = page(*PROSE)
        source = (await service.add(URL)).view.source.id
        await teach(service, source, *(f"An offer that nobody wants, the {n}th" for n in range(600)))
        last = (await teach(service, source, NEWS)).view.source.noise
        assert len(last) == MOST_NOISE
        assert (await teach(service, source, NEWS)).view.source.noise == last


async def test_only_a_page_learns(autojump_clock: object) -> None:
    async with watching() as (service, origin):
        origin.bodies["/page"] = rss("a")
        source = (await service.add(URL)).view.source.id
        with pytest.raises(Unprocessable, match="only pages learn"):
            await teach(service, source, "a")


async def test_a_higher_bar_reports_less_and_null_restores_the_default(autojump_clock: object) -> None:
    async with watching() as (service, origin):
        origin.bodies["/page"] = page(*PROSE)
        source = (await service.add(URL, bar=0.9)).view.source.id
        small = "Open daily except on Mondays."
        origin.bodies["/page"] = page(*PROSE, small)
        await trio.sleep(3600)
        assert await service.events() == []
        last = notes_in(service.disk, source)[-1]
        assert last.bar == 0.9 and last.score is not None and 0.5 <= last.score < 0.9
        edit = SourcePatch(bar=None)
        view = await service.registry_box.ask(lambda reply: EditSource(source, edit, reply))
        assert view.source.bar is None
        origin.bodies["/page"] = page(*PROSE, "Closed on every Tuesday, too.")
        await trio.sleep(3600)
        assert len(await service.events()) == 1
