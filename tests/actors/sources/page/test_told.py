"""A page as it was last told: asked of the registry, read from its memory."""

from __future__ import annotations

import pytest
import trio

from actors.content.changes.memory import SettledState, encode, pack
from actors.content.pages.places import Place
from actors.content.pages.traits import CELL, FURNITURE, HEADING
from actors.errors import NotFound
from actors.messages.sources import ShowTold
from actors.messages.views import ToldBlock, ToldPage
from actors.sources.page.told import told_page
from storage.records.identity import SourceId
from tests.actors.sources.harness import Watching, page, rss, watching
from tests.support.build import a_source_id

URL = "https://site.example/prices"
TEXT = "The basic plan holds up to ten projects and one gigabyte of storage for each of them, at {} euros a month."


def test_a_memory_says_what_each_block_is_and_how_many_it_has_not() -> None:
    state = SettledState(("A", "10", "Home"), ("1" * 16, "2" * 16, "3" * 16, "4" * 16), (HEADING, CELL, FURNITURE, 0))
    placed = SettledState(state.texts, state.keys, state.traits, (None, Place("Team", "Seats")))
    assert told_page(encode(pack(placed))) == ToldPage(
        (
            ToldBlock("A", True, False, False, "", ""),
            ToldBlock("10", False, False, False, "Team", "Seats"),
            ToldBlock("Home", False, False, True, "", ""),
        ),
        1,
        0,
    )
    assert told_page(b"\x00rubbish") is None


async def shown(service: Watching, source: SourceId) -> ToldPage | None:
    return await service.registry_box.ask(lambda reply: ShowTold(source, reply))


async def test_what_was_told_last_is_shown_and_of_feeds_nothing(autojump_clock: object) -> None:
    async with watching() as (service, origin):
        origin.bodies["/prices"] = page(TEXT.format(19))
        origin.bodies["/feed"] = rss("a")
        source = (await service.add(URL)).view.source.id
        feed = (await service.add("https://site.example/feed")).view.source.id
        origin.bodies["/prices"] = page(TEXT.format(29))
        await trio.sleep(3 * 3600)
        told = await shown(service, source)
        assert told is not None and TEXT.format(29) in [block.text for block in told.blocks]
        assert await shown(service, feed) is None
        with pytest.raises(NotFound):
            await shown(service, a_source_id(9))
