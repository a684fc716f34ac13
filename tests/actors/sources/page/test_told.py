"""The last reported version of a page, read from its memory through the registry."""

from __future__ import annotations

import json

import pytest
import trio

from actors.content.changes.memory import SettledState, encode, pack
from actors.content.pages.traits import CELL, FURNITURE, HEADING, CellLabels
from actors.errors import NotFound, Overloaded
from actors.messages.requests import SourcePatch
from actors.messages.sources import EditSource, GetReportedPage
from actors.messages.views import ReportedBlock, ReportedPage
from actors.sources.page import reported_page
from actors.world import WorkerDied
from storage.records.identity import SourceId
from tests.actors.sources.harness import Watching, page, rss, watching
from tests.support.build import NOW, a_source_id

URL = "https://site.example/prices"
TABLE = "<table><tr><th>Plan<th>Price</tr><tr><td>Team<td>{}</tr></table>"
TEXT = "The basic plan holds up to ten projects and one gigabyte of storage for each of them, at {} euros a month."


def test_a_memory_lists_its_blocks_and_counts_the_omitted_ones() -> None:
    state = SettledState(("A", "10", "Home"), ("1" * 16, "2" * 16, "3" * 16, "4" * 16), (HEADING, CELL, FURNITURE, 0))
    placed = SettledState(state.texts, state.keys, state.traits, (None, CellLabels("Team", "Seats")))
    assert reported_page(encode(pack(placed))) == ReportedPage(
        (
            ReportedBlock("A", True, False, False, "", ""),
            ReportedBlock("10", False, False, False, "Team", "Seats"),
            ReportedBlock("Home", False, False, True, "", ""),
        ),
        1,
        0,
    )
    assert reported_page(b"\x00rubbish") is None


async def shown(service: Watching, source: SourceId) -> ReportedPage | None:
    return await service.registry_box.ask(lambda reply: GetReportedPage(source, reply))


async def test_the_last_report_of_a_page_is_shown_and_none_of_feeds(autojump_clock: object) -> None:
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


async def standing(service: Watching, source: SourceId) -> dict[str, tuple[str, str]]:
    told = await service.registry_box.ask(lambda reply: GetReportedPage(source, reply, values=True))
    assert told is not None
    return {one.label: (one.value.text, one.value.unit) for one in told.standing.values}


async def test_the_values_of_a_page_are_there_from_the_first_check_on(autojump_clock: object) -> None:
    async with watching() as (service, origin):
        origin.bodies["/prices"] = page("A page about plans.", TABLE.format("€399"))
        source = (await service.add(URL)).view.source.id
        told = await service.registry_box.ask(lambda reply: GetReportedPage(source, reply, values=True))
        assert told is not None and NOW <= told.standing.began < NOW + 60_000
        assert await standing(service, source) == {"Team · Price": ("€399", "EUR")}
        origin.bodies["/prices"] = page("A page about plans.", TABLE.format("€299"))
        await trio.sleep(3 * 3600)
        assert await standing(service, source) == {"Team · Price": ("€299", "EUR")}
        quiet = await shown(service, source)
        assert quiet is not None and not quiet.standing.values, "no worker reads what nobody asks for"


async def test_another_part_of_a_page_gets_a_new_baseline(autojump_clock: object) -> None:
    async with watching() as (service, origin):
        origin.bodies["/prices"] = page("<b id=a>A pen for $3</b>", "<i id=b>An inkpot for $7</i>")
        source = (await service.add(URL, selector="#a")).view.source.id
        assert await standing(service, source) == {"A pen for": ("$3", "USD")}
        await trio.sleep(3600)
        await service.registry_box.ask(lambda reply: EditSource(source, SourcePatch(selector="#b"), reply))
        await trio.sleep(3 * 3600)
        told = await service.registry_box.ask(lambda reply: GetReportedPage(source, reply, values=True))
        assert told is not None and told.standing.began >= NOW + 3_600_000
        assert await standing(service, source) == {"An inkpot for": ("$7", "USD")}


async def test_values_of_json_have_their_paths(autojump_clock: object) -> None:
    async with watching() as (service, origin):
        plans = [{"name": name, "price": price, "text": "x" * 150} for name, price in (("Team", 29), ("Solo", 9.5))]
        origin.bodies["/plans"] = json.dumps({"plans": plans}).encode()
        origin.headers["/plans"] = {"content-type": "application/json"}
        source = (await service.add("https://site.example/plans")).view.source.id
        told = await service.registry_box.ask(lambda reply: GetReportedPage(source, reply, values=True))
        assert told is not None
        found = [(one.path, one.value.number, one.value.scale) for one in told.standing.values]
        assert found == [("$.plans[Team].price", 29, 0), ("$.plans[Solo].price", 95, 1)]


async def test_values_that_no_worker_could_read_are_a_refusal(autojump_clock: object) -> None:
    async with watching() as (service, origin):
        origin.bodies["/prices"] = page(TABLE.format("€399"))
        source = (await service.add(URL)).view.source.id
        service.jail.call = failing  # type: ignore[method-assign]
        with pytest.raises(Overloaded, match="values could not be read"):
            await standing(service, source)


async def failing(task: str, request: bytes, *, deadline: float | None = None) -> bytes:
    raise WorkerDied
