"""Keepalives: their senders, and that they never interrupt another frame."""

from __future__ import annotations

import random
from collections import Counter
from itertools import pairwise

import pytest
import trio
import trio.testing

from api.streams import keepalives
from api.streams.keepalives import LOOK_EVERY, KeepaliveState
from api.streams.reader import EventFilter, Reader
from api.streams.sse import opening
from api.streams.streams import Streams
from storage.records.identity import START
from storage.tail import Tail
from tests.api.house import House, ids, make_house

KEEPALIVE = 15.0


class Taker:
    """A client that takes part of the data at once, and the rest later."""

    def __init__(self, chance: random.Random | None = None) -> None:
        self.got, self.rests, self.spoke = b"", 0, trio.current_time()
        self._chance, self._sending = chance, False

    def send_nowait(self, data: bytes) -> bytes:
        assert not self._sending, "two at once"
        self.spoke = trio.current_time()
        taken = len(data) if self._chance is None else self._chance.choice((0, len(data) // 2, len(data)))
        self.got += data[:taken]
        return data[taken:]

    async def send(self, rest: bytes) -> None:
        assert self._chance is not None
        self._sending, self.rests = True, self.rests + 1
        await trio.sleep(self._chance.choice((0, 0.2, 3)))
        self.got += rest
        self._sending = False
        self.spoke = trio.current_time()

    async def finish(self) -> None:
        raise AssertionError("no stream ends here")

    def frames(self) -> list[bytes]:
        return self.got.split(b"\n\n")[2:-1]


def streams_of(house: House) -> Streams:
    return Streams(house.storage, house.context.settings)


async def feed(streams: Streams, reader: Reader, taker: Taker) -> None:
    pulse = KeepaliveState(reader.form, taker, streams.silence())
    pulse.rest = taker.send_nowait(opening(reader.form, reader.replay_from))
    streams.keepalives.add(pulse)
    await streams.feed(reader, pulse)


def a_reader(house: House) -> Reader:
    head = house.storage.tail.head
    return Reader(house.storage.log, house.storage.tail, EventFilter(), cursor=head, form="sse", replay_from="")


async def test_one_task_gives_the_signs_of_streams_that_never_wake_for_them(autojump_clock: object) -> None:
    house = make_house()
    await house.publish("a")
    streams, takers, steps = streams_of(house), [Taker() for _ in range(30)], StepCounter()
    async with trio.open_nursery() as nursery:
        nursery.start_soon(streams.keepalives.run)
        for taker in takers:
            nursery.start_soon(feed, streams, a_reader(house), taker)
        await trio.testing.wait_all_tasks_blocked()
        trio.lowlevel.add_instrument(steps)
        await trio.sleep(4 * KEEPALIVE + 0.1)
        trio.lowlevel.remove_instrument(steps)
        nursery.cancel_scope.cancel()
    newest = f": keepalive {await streams.newest_id()}".encode()
    assert all(taker.frames() == [newest] * len(taker.frames()) for taker in takers)
    assert {len(taker.frames()) for taker in takers} <= {4, 5, 6}, "each 10 to 15 seconds"
    assert steps.of("feed") == 0


class StepCounter(trio.abc.Instrument):
    def __init__(self) -> None:
        self.names: list[str] = []

    def before_task_step(self, task: trio.lowlevel.Task) -> None:
        self.names.append(task.name)

    def of(self, name: str) -> int:
        return sum(each.endswith(name) for each in self.names)


async def test_signs_and_events_follow_each_other_whole_however_little_a_client_takes(autojump_clock: object) -> None:
    given = 0
    for seed in range(20):
        chance, house = random.Random(seed), make_house()
        await house.publish("first")
        streams, taker, told = streams_of(house), Taker(chance), list[str]()
        async with trio.open_nursery() as nursery:
            nursery.start_soon(streams.keepalives.run)
            nursery.start_soon(feed, streams, a_reader(house), taker)
            await trio.testing.wait_all_tasks_blocked()
            for _ in range(60):
                await trio.sleep(chance.choice((0.1, 4, 9.75, 10, 12.5, 16)))
                told += ids(await house.publish("an event"))
            await trio.sleep(60)
            nursery.cancel_scope.cancel()
        events = [frame for frame in taker.frames() if frame.startswith(b"event: ")]
        signs = [frame for frame in taker.frames() if frame.startswith(b": keepalive ")]
        assert [frame.rpartition(b"id: ")[2].decode() for frame in events] == told
        assert len(events) + len(signs) == len(taker.frames()) and taker.rests > 10
        given += len(signs)
    assert given > 60  # 3 to 10 a seed: Trio draws the order of two that are due at once


async def test_a_reader_of_a_rare_filter_sends_its_own_keepalives(autojump_clock: object) -> None:
    """It never waits: it keeps reading and nothing matches."""
    house = make_house()
    await house.publish(*"ab")
    streams, taker = streams_of(house), Taker()

    class Endless(Reader):
        async def take(self) -> bytes:
            await trio.sleep(0.3)
            return b""

        def at_end(self) -> bool:
            return False

    reader = Endless(house.storage.log, Tail(START), EventFilter(), cursor=START, form="sse", replay_from="")
    async with trio.open_nursery() as nursery:
        nursery.start_soon(streams.keepalives.run)
        nursery.start_soon(feed, streams, reader, taker)
        await trio.sleep(2 * KEEPALIVE + 1)
        nursery.cancel_scope.cancel()
    assert len(taker.frames()) in (2, 3)


async def test_the_task_that_gives_signs_sleeps_until_one_is_due(autojump_clock: object) -> None:
    """A stream that opens later and is due earlier gets its keepalive in time."""
    house = make_house()
    await house.publish("a")
    streams, steps = streams_of(house), StepCounter()
    first, second = Taker(), Taker()
    async with trio.open_nursery() as nursery:
        nursery.start_soon(streams.keepalives.run)
        nursery.start_soon(feed, streams, a_reader(house), first)
        await trio.testing.wait_all_tasks_blocked()
        trio.lowlevel.add_instrument(steps)
        await trio.sleep(KEEPALIVE - 1)
        assert not first.frames() and steps.of("run") == 0
        trio.lowlevel.remove_instrument(steps)
        for taker in (Taker(), second):  # the second draws the shortest interval of the three
            nursery.start_soon(feed, streams, a_reader(house), taker)
        await trio.sleep(KEEPALIVE)
        assert first.frames() and second.frames()
        nursery.cancel_scope.cancel()


async def test_a_silent_stream_is_visited_only_when_it_is_due(autojump_clock: object) -> None:
    """Each keepalive after the first comes a whole interval after the last."""
    house = make_house()
    await house.publish("a")
    streams, visits, takers = streams_of(house), Counter[str](), [DatedTaker() for _ in range(20)]

    class Visited(KeepaliveState):
        @property
        def ends(self) -> float:
            visits["ends"] += 1
            return super().ends

    async with trio.open_nursery() as nursery:
        nursery.start_soon(streams.keepalives.run)
        for taker in takers:
            pulse = Visited("sse", taker, streams.silence())
            pulse.waits = True
            streams.keepalives.add(pulse)
        await trio.sleep(10 * KEEPALIVE + 1)
        nursery.cancel_scope.cancel()
    for taker in takers:
        gaps = [after - before for before, after in pairwise(taker.times)]
        assert 10 <= taker.times[0] <= KEEPALIVE and len(gaps) == 9
        assert all(KEEPALIVE - LOOK_EVERY <= gap <= KEEPALIVE for gap in gaps)
    assert visits["ends"] <= 2 * 20 * 11


async def test_keepalives_spread_over_the_whole_interval_in_time(
    autojump_clock: object, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Streams that open together share less than a third of it at first."""
    monkeypatch.setattr(keepalives, "TURN", 1)
    house, takers = make_house(), [DatedTaker() for _ in range(600)]
    streams = streams_of(house)
    async with trio.open_nursery() as nursery:
        nursery.start_soon(streams.keepalives.run)
        for taker in takers:
            pulse = KeepaliveState("sse", taker, streams.silence())
            pulse.waits = True
            streams.keepalives.add(pulse)
        await trio.sleep(30 * KEEPALIVE)
        nursery.cancel_scope.cancel()
    at_once = [Counter(int(taker.times[index]) for taker in takers).most_common(1)[0][1] for index in (0, -1)]
    assert at_once[0] > 110 and at_once[1] < 60, "40 were even"
    gaps = [after - before for taker in takers for before, after in pairwise(taker.times)]
    assert min(gaps) >= 10 and max(gaps) <= KEEPALIVE


class DatedTaker(Taker):
    def __init__(self) -> None:
        super().__init__()
        self.began, self.times = trio.current_time(), list[float]()

    def send_nowait(self, data: bytes) -> bytes:
        self.times.append(trio.current_time() - self.began)
        return super().send_nowait(data)
