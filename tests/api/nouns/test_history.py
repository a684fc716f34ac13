"""The log in pages, while a writer appends and retention deletes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import httpx
import msgspec
import pytest
import trio
from hypothesis import given, settings
from hypothesis import strategies as st

from api.fields.queries import EventsQuery
from api.nouns import events as past
from api.nouns.events import read_history
from api.problems import Refusal
from storage.records.event import Stored
from storage.records.identity import START, Seq
from tests.api.calls import BusyLog, a_call, next_target
from tests.api.house import House, ids, make_house
from tests.support.build import a_draft
from tests.support.disks import floor

Deed = tuple[str, int]
"""`append` or `prune` with a number of events."""
DEEDS = st.one_of(
    st.tuples(st.just("append"), st.integers(1, 4)), st.tuples(st.just("prune"), st.integers(1, 4)), st.none()
)


class Shared:
    """A log that changes before each read, by a drawn list of deeds; `ever` has all events it ever held."""

    def __init__(self, house: House, deeds: Sequence[Deed | None]) -> None:
        self.house, self.ever = house, list[Stored]()
        self._deeds = list(deeds)[::-1]

    async def append(self, count: int) -> None:
        titles = [a_draft(str(len(self.ever) + n), tags=(f"t:{(len(self.ever) + n) % 3}",)) for n in range(count)]
        self.ever += await self.house.publish(*titles)

    async def meanwhile(self) -> None:
        deed = self._deeds.pop() if self._deeds else None
        if deed is not None and deed[0] == "append":
            await self.append(deed[1])
        elif deed is not None:
            storage = self.house.storage
            await storage.log.retain(Seq(2**63 - 1), deed[1], storage.lease)

    def floor(self) -> Seq:
        return floor(self.house.storage.disk)


class Pages(NamedTuple):
    """found: ids on all pages. gone: a 410 ended them. first, last: log length before the first and last request."""

    found: list[str]
    gone: bool
    floor: Seq
    first: int
    last: int


async def pages_of(shared: Shared, target: str) -> Pages:
    house, first = shared.house, len(shared.ever)
    house.context = replace(house.context, storage=_with_log(house, BusyLog(house.storage.log, shared.meanwhile)))
    found, floor, last = list[str](), None, first
    while target:
        last = len(shared.ever)
        try:
            answer = await read_history(a_call(house, target, EventsQuery))
        except Refusal as refusal:
            assert refusal.status == 410
            return Pages(found, True, floor or START, first, last)
        page = msgspec.json.decode(answer.body)
        floor = shared.floor() if floor is None else floor
        found += [event["id"] for event in page["events"]]
        assert (page["next_cursor"] is None) == ("Link" not in answer.headers)
        target = next_target(answer.headers)
    return Pages(found, False, floor or START, first, last)


def _with_log(house: House, log: BusyLog) -> object:
    class WithLog:
        tail, alerts = house.storage.tail, house.storage.alerts

    WithLog.log = log  # type: ignore[attr-defined]
    return WithLog()


def check_ascending(pages: Pages, shared: Shared, wanted: list[Stored]) -> None:
    """All events above the first page's floor, up to the end or to the reported gap."""
    expected = [event for event in wanted if event.seq > pages.floor]
    assert pages.found == ids(expected)[: len(pages.found)]
    late = shared.ever[pages.last :]
    assert pages.gone or all(event in late for event in expected[len(pages.found) :])


def check_descending(pages: Pages, shared: Shared, wanted: list[Stored]) -> None:
    """All events from the start, down to the floor of retention; this far end is no gap."""
    newest_first = wanted[::-1]
    start = next((n for n, event in enumerate(newest_first) if ids([event]) == pages.found[:1]), 0)
    end, late = start + len(pages.found), shared.ever[pages.first :]
    assert not pages.gone and pages.found == ids(newest_first[start:end])
    assert all(event in late for event in newest_first[:start])
    assert all(event.seq <= shared.floor() or event in late for event in newest_first[end:])


@pytest.mark.parametrize("order", ["asc", "desc"])
@given(
    length=st.integers(0, 12),
    limit=st.integers(1, 5),
    tag=st.sampled_from(["", "&tag=t:0", "&tag=t:0,t:2"]),
    deeds=st.lists(DEEDS, max_size=30),
)
@settings(max_examples=150, deadline=None)
def test_all_pages_together_are_the_filtered_log_during_appends_and_pruning(
    order: str, length: int, limit: int, tag: str, deeds: list[Deed | None]
) -> None:
    async def main() -> None:
        shared = Shared(make_house(), deeds)
        await shared.append(length or 1)
        pages = await pages_of(shared, f"/v1/events?order={order}&limit={limit}{tag}")
        wanted = [event for event in shared.ever if not tag or event.tags[0] in tag]
        (check_ascending if order == "asc" else check_descending)(pages, shared, wanted)

    before = past.AT_ONCE, past.ROUNDS
    past.AT_ONCE, past.ROUNDS = 2, 2
    try:
        trio.run(main, clock=trio.testing.MockClock(autojump_threshold=0))
    finally:
        past.AT_ONCE, past.ROUNDS = before


async def test_pruning_during_a_read_is_410_and_no_gap(house: House) -> None:
    shared = Shared(house, [])
    await shared.append(9)
    target = next_target((await read_history(a_call(house, "/v1/events?limit=2", EventsQuery))).headers)
    shared._deeds = [("prune", 5), None]  # between reading the floor and the page
    pages = await pages_of(shared, target)
    assert (pages.found, pages.gone) == ([], True)


async def test_a_page_is_full_by_its_bytes_too(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(past, "MOST_BYTES", 4_500)
    events = await house.publish(*[a_draft(str(n), content="x" * 1_000) for n in range(7)])
    assert (await pages_of(Shared(house, []), "/v1/events")).found == ids(events)
    answer = await read_history(a_call(house, "/v1/events", EventsQuery))
    assert len(msgspec.json.decode(answer.body)["events"]) == 2


async def test_others_have_their_turn_while_text_is_matched(house: House) -> None:
    await house.publish(*["hay"] * 400)
    turns = 0

    async def other() -> None:
        nonlocal turns
        while True:
            await trio.lowlevel.checkpoint()
            turns += 1

    async with trio.open_nursery() as nursery:
        nursery.start_soon(other)
        await read_history(a_call(house, "/v1/events?keyword=needle", EventsQuery))
        nursery.cancel_scope.cancel()
    assert turns > 400 // 100


@pytest.mark.parametrize(
    ("query", "location"),
    [
        ("tag=,", "query.tag"),
        ("source=" + "x" * 501, "query.source"),
        ("keyword=" + ",".join(["word"] * 51), "query.keyword"),
        ("source=a,b", "query.source[0]"),
        ("nothing=1", "query.nothing"),
    ],
)
async def test_a_bad_list_is_400_at_its_place(client: httpx.AsyncClient, query: str, location: str) -> None:
    answer = await client.get(f"/v1/events?{query}")
    assert (answer.status_code, answer.json()["errors"][0]["location"]) == (400, location)


async def test_fifty_whole_ids_fit_into_one_parameter(house: House, client: httpx.AsyncClient) -> None:
    (event,) = await house.publish("a")
    others = [f"00000000-0000-7000-8000-{n:012d}" for n in range(49)]
    answer = await client.get("/v1/events?source=" + ",".join([*others, event.source]))
    assert [each["id"] for each in answer.json()["events"]] == ids([event])
