"""The join of replay and live, with a writer racing readers, and smaller promises of the reader."""

from __future__ import annotations

import random
from typing import Any

import pytest
import trio

from api.streams.reader import FEWEST, MOST, PAGE, SEND_SIZE, EventFilter, FellBehind, Reader
from api.streams.sse import head_of
from storage.records.event import EVERYTHING, Filter
from storage.records.identity import START, Seq, id_of, seq_of
from storage.records.tiers import Kind
from storage.tail import Tail
from tests.api.house import House, ids, make_house
from tests.api.listening import listening
from tests.support.build import a_draft
from tests.support.in_loop import InLoopStorage


def a_reader(
    storage: InLoopStorage, cursor: Seq = START, event_filter: EventFilter | None = None, log: Any = None
) -> Reader:
    event_filter = event_filter or EventFilter()
    return Reader(log or storage.log, storage.tail, event_filter, cursor=cursor, form="ndjson", replay_from="")


def seqs(frames: bytes) -> list[Seq]:
    return [seq_of(head_of(line).id) for line in frames.splitlines()]


class SlowLog:
    """A log that answers slowly, so that the writer gets ahead."""

    def __init__(self, log: Any, chance: random.Random) -> None:
        self._log, self._chance = log, chance
        self.reads = 0

    async def replay(self, *args: Any) -> Any:
        self.reads += 1
        await trio.sleep(self._chance.choice((0, 0.01, 0.2)))
        page = await self._log.replay(*args)
        await trio.sleep(self._chance.choice((0, 0.01, 0.2)))
        return page


class CountingLog:
    """A log that only offers pages, and records their limits."""

    def __init__(self, log: Any) -> None:
        self._log, self.asked = log, list[int]()

    async def replay(self, after: Seq, limit: int, make: Any) -> Any:
        self.asked.append(limit)
        return await self._log.replay(after, limit, make)


async def _write(house: House, chance: random.Random, written: list[Seq], batches: int) -> None:
    """Commit in batches; publish each at once or a little later, as in production."""
    publish = house.storage.tail.publish
    for _ in range(batches):
        await trio.sleep(chance.choice((0, 0.005, 0.05)))
        held: list[Any] = []

        async def later(events: Any, held: list[Any] = held) -> None:
            held.extend(events)

        house.storage.tail.publish = later  # type: ignore[method-assign]
        events = await house.publish(*[str(n) for n in range(chance.randint(1, 8))])
        house.storage.tail.publish = publish  # type: ignore[method-assign]
        await trio.sleep(chance.choice((0, 0, 0.02)))
        written.extend(event.seq for event in events)
        await publish(held)


@pytest.mark.parametrize("seed", [1, 2, 3])
async def test_replay_joins_live_without_gap_or_duplicate_for_hundreds_of_racing_resumes(
    seed: int, autojump_clock: object
) -> None:
    """A ring of 16 events makes readers fall back to the log and catch up many times."""
    chance, house, written = random.Random(seed), make_house(), []
    house.storage.tail = Tail(most=16)
    log = SlowLog(house.storage.log, chance)
    read: list[tuple[Seq, list[Seq]]] = []

    async def resume() -> None:
        await trio.sleep(chance.uniform(0, 6))
        cursor = chance.choice([START, *written])
        reader, got = a_reader(house.storage, cursor, log=log), []
        with trio.move_on_after(chance.uniform(0, 3)):
            while True:
                got += seqs(await reader.take())
                if reader.at_end():
                    await reader.wait()
                elif chance.random() < 0.1:
                    await trio.sleep(chance.uniform(0, 0.5))
        read.append((cursor, got))

    async with trio.open_nursery() as nursery:
        nursery.start_soon(_write, house, chance, written, 250)
        for _ in range(400):
            nursery.start_soon(resume)
    for cursor, got in read:
        assert got == [seq for seq in written if seq > cursor][: len(got)], f"seed {seed}, cursor {cursor}"
    assert sum(len(got) for _, got in read) > 50_000 and log.reads > 400, "the race has taken place"


async def test_clients_cut_at_random_points_see_every_event_once(house: House, autojump_clock: object) -> None:
    """The same through HTTP: each client resumes after its last id until it has read all events."""
    chance, written = random.Random(7), []
    key, over = await house.key(), trio.Event()

    async def write() -> None:
        await _write(house, chance, written, 60)
        over.set()

    async def follow(seen: list[str]) -> None:
        last = id_of(START, 0)
        while not over.is_set() or len(seen) < len(written):
            async with listening(house, key=key, Last_Event_ID=last) as client:
                with trio.move_on_after(1):
                    for _ in range(chance.randint(1, 20)):
                        seen.append((await client.event())["id"])
            last = seen[-1] if seen else last

    clients: list[list[str]] = [[] for _ in range(20)]
    async with trio.open_nursery() as nursery:
        nursery.start_soon(write)
        for seen in clients:
            nursery.start_soon(follow, seen)
    for seen in clients:
        assert [seq_of(event_id) for event_id in seen] == written


async def test_storage_rule_8_a_filtered_reader_advances_past_skipped_events() -> None:
    house = make_house()
    events = await house.publish(*["a"] * 50)
    for ring in (house.storage.tail, Tail(events[-1].seq)):
        house.storage.tail = ring
        reader = a_reader(house.storage, event_filter=EventFilter(Filter(kinds=(Kind.PUSH,))))
        assert await reader.take() == b""
        assert reader.cursor == events[-1].seq and reader.at_end()


async def test_storage_rule_9_one_take_carries_all_that_is_new() -> None:
    house = make_house()
    events = await house.publish(*"abcdefgh")
    reader = a_reader(house.storage)
    assert seqs(await reader.take()) == [event.seq for event in events]
    assert await reader.take() == b""


async def test_a_read_is_bounded_and_the_next_one_continues() -> None:
    house = make_house()
    events = await house.publish(*[a_draft("big", content="x" * 30_000) for _ in range(9)])
    for ring in (house.storage.tail, Tail(events[-1].seq)):
        house.storage.tail = ring
        reader, got = a_reader(house.storage), []
        while frames := await reader.take():
            assert len(frames) < SEND_SIZE + 31_000
            got += seqs(frames)
        assert got == [event.seq for event in events]


async def test_a_reader_that_falls_behind_retention_ends_instead_of_skipping() -> None:
    house = make_house()
    events = await house.publish(*"abc")
    house.storage.tail = Tail(events[-1].seq)
    reader = a_reader(house.storage, events[0].seq)
    await house.storage.log.retain(events[2].seq, 10, house.storage.lease)
    with pytest.raises(FellBehind):
        await reader.take()


async def test_a_page_is_as_long_as_the_size_of_events_allows_and_one_read() -> None:
    house = make_house()
    small = await house.publish(*["a"] * 1_500)
    large = await house.publish(*[a_draft("big", content="x" * 12_000) for _ in range(500)])
    house.storage.tail = Tail(large[-1].seq)
    log = CountingLog(house.storage.log)
    reader = a_reader(house.storage, small[0].seq, log=log)
    while await reader.take():
        pass
    assert log.asked[:4] == [PAGE, MOST, MOST, MOST] and log.asked[-1] == FEWEST


async def test_an_empty_stretch_below_the_head_is_passed_over() -> None:
    """Retention may have deleted all events while the head keeps its position."""
    house = make_house()
    events = await house.publish(*"ab")
    await house.storage.log.retain(Seq(events[1].seq + 1), 10, house.storage.lease)
    house.storage.tail = Tail(events[1].seq)
    reader = a_reader(house.storage, events[1].seq)
    assert await reader.take() == b"" and reader.at_end()


def test_everything_is_recognised_as_no_filter() -> None:
    assert EventFilter(EVERYTHING).everything
    assert not EventFilter(Filter(tags=("a:b",))).everything


async def test_the_text_of_an_event_is_analysed_once_for_all_readers(house: House, autojump_clock: object) -> None:
    async with (
        listening(house, "/v1/stream?keyword=price") as one,
        listening(house, "/v1/stream?keyword=other&keyword=price") as two,
    ):
        (event,) = ids(await house.publish(a_draft("Prices")))
        assert (await one.event())["id"] == (await two.event())["id"] == event


async def test_a_take_reads_five_hundred_events_at_most() -> None:
    """More would block the loop."""
    house = make_house()
    events = await house.publish(*["a"] * 1_100)
    reader = a_reader(house.storage, event_filter=EventFilter(Filter(kinds=(Kind.PUSH,))))
    assert await reader.take() == b""
    assert reader.cursor == events[499].seq
