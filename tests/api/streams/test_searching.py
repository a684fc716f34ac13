"""Text search: its limits for the loop, for parallel calls, and for one answer."""

from __future__ import annotations

import msgspec
import pytest
import trio

from actors.query.explain import SearchRequest
from api.fields.queries import EventsQuery
from api.nouns import events as past
from api.nouns.events import event_filter_of, read_history
from api.streams import reader as searching
from api.streams.export import Export
from api.streams.reader import PIECE, SHORT, Reader, Texts
from api.streams.streams import Streams
from storage.records.identity import START, Seq
from tests.api.calls import a_call, next_target
from tests.api.house import House, ids
from tests.support.build import a_draft
from tests.support.inline_jail import InlineJail

LONG = "".join(chr(0x4E00 + place * 7 % 20_000) for place in range(21_000))
"""63 KB of Chinese."""


class CountingJail(InlineJail):
    """Counts the bytes of each request and the parallel calls, and finds a needle instead of searching."""

    def __init__(self) -> None:
        super().__init__()
        self.sizes = list[int]()
        self.at_once = self.most = 0

    async def call(self, task: str, request: bytes, *, deadline: float | None = None) -> bytes:
        assert task == "search_events"
        asked = msgspec.msgpack.decode(request, type=SearchRequest)
        self.sizes.append(sum(len(event.body) for event in asked.events))
        self.at_once += 1
        self.most = max(self.most, self.at_once)
        await trio.sleep(0.1)
        self.at_once -= 1
        return msgspec.msgpack.encode([b"needle" in event.body for event in asked.events])


async def _fill(house: House, count: int) -> list[str]:
    drafts = [a_draft(str(n), content=("needle " if n % 10 == 9 else "") + LONG) for n in range(count)]
    events = await house.publish(*drafts)
    return ids(events[9::10])


async def test_x10_s1_eight_searches_in_long_texts_leave_the_loop_alone_and_keep_one_worker(
    autojump_clock: object, house: House
) -> None:
    wanted = await _fill(house, 100)
    jail = CountingJail()
    streams = Streams(house.context.storage, house.context.settings, jail=jail)
    found = dict[int, list[str]]()

    async def ask(number: int) -> None:
        target, mine, answers = "/v1/events?keyword=needle&order=asc", list[str](), 0
        while target:
            call = a_call(house, target, EventsQuery)
            call.streams = streams
            answer = await read_history(call)
            answers += 1
            mine += [event["id"] for event in msgspec.json.decode(answer.body)["events"]]
            target = next_target(answer.headers)
        assert answers > 1
        found[number] = mine

    async with trio.open_nursery() as nursery:
        for number in range(8):
            nursery.start_soon(ask, number)
    assert list(found.values()) == [wanted] * 8
    assert jail.most == 1 and max(jail.sizes) <= PIECE
    assert streams.texts.longest <= SHORT


async def test_s1_a_search_ends_with_a_cursor_after_enough_events(
    autojump_clock: object, house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(past, "MOST_TEXT", 400_000)
    await _fill(house, 20)
    call = a_call(house, "/v1/events?keyword=absent", EventsQuery)
    call.streams = Streams(house.context.storage, house.context.settings, jail=CountingJail())
    assert next_target((await read_history(call)).headers)


async def test_s1_a_replay_and_an_export_have_long_texts_searched_in_the_workers_too(
    autojump_clock: object, house: House
) -> None:
    wanted, jail = await _fill(house, 20), CountingJail()
    texts, storage = Texts(jail), house.storage
    for of_ring in (True, False):
        event_filter = event_filter_of((), (), (), ("needle",), texts, languages=("en",))
        reader = Reader(storage.log, storage.tail, event_filter, cursor=START, form="ndjson", replay_from="")
        if of_ring:
            reader.cursor = Seq(storage.tail.head - 20)
        frames = b""
        while not reader.at_end():
            frames += await reader.take()
        assert [msgspec.json.decode(line)["id"] for line in frames.splitlines()] == wanted
    export = Export(storage.log, event_filter, "ndjson", after=START, before=past.END)
    await export.begin()
    written = b""
    while (piece := await export.take()) is not None:
        written += piece
    assert [msgspec.json.decode(line)["id"] for line in written.splitlines()] == wanted
    assert max(jail.sizes) <= PIECE and texts.longest <= SHORT


async def test_s1_a_worker_finds_the_same_as_the_loop(house: House) -> None:
    events = await house.publish(*[a_draft(str(n), content=("pris " if n % 3 else "") + LONG[:5000]) for n in range(6)])
    sifted = []
    for texts in (Texts(InlineJail()), Texts()):
        event_filter = event_filter_of((), (), (), ("pris",), texts, languages=("sv", "simple"))
        sifted.append(list(await event_filter.sift(events)))
    assert sifted == [[False, True, True] * 2] * 2


async def test_s1_a_search_beyond_the_limit_gets_retry_after(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(searching, "MOST_ASKING", 0)
    async with await house.client() as client:
        answer = await client.get("/v1/events?keyword=needle")
        assert answer.status_code == 503 and answer.headers["Retry-After"] == "5"
        assert (await client.get("/v1/events")).status_code == 200
