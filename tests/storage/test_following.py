from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager

import pytest
import trio
from trio.testing import MockClock, wait_all_tasks_blocked

from storage.errors import Unavailable
from storage.records.event import Stored
from storage.records.identity import SERVICE, START, Seq
from storage.records.tiers import Kind
from storage.tail import MOST_WAITING, Follower, Tail


def stored(seq: int) -> Stored:
    return Stored(Seq(seq), SERVICE, Kind.NOTICE, b"{}")


class Log:
    def __init__(self) -> None:
        self.events: list[Stored] = []
        self.reads = 0
        self.away = False
        self.while_reading = lambda: None

    async def newer(self, after: Seq, limit: int) -> Sequence[Stored]:
        self.reads += 1
        found = [event for event in self.events if event.seq > after][:limit]
        self.while_reading()
        await trio.lowlevel.checkpoint()
        if self.away:
            raise Unavailable("away")
        return found


class House:
    def __init__(self) -> None:
        self.log, self.tail = Log(), Tail()
        self.follower = Follower(self.tail, self.log)

    def commit(self, *seqs: int, after: int) -> None:
        events = [stored(seq) for seq in seqs]
        self.log.events += events
        self.follower.committed(Seq(after), events)

    def shown(self) -> Sequence[int]:
        return [each.stored.seq for each in self.tail.since(START) or ()]


@asynccontextmanager
async def following() -> AsyncIterator[House]:
    house = House()
    async with trio.open_nursery() as nursery:
        nursery.start_soon(house.follower.run)
        await wait_all_tasks_blocked()
        house.log.reads = 0
        yield house
        nursery.cancel_scope.cancel()


async def test_commits_that_join_on_are_shown_without_reading_the_log() -> None:
    async with following() as house:
        house.commit(3, 4, after=0)
        house.commit(7, after=4)
        await wait_all_tasks_blocked()
        assert (house.shown(), house.log.reads) == ([3, 4, 7], 0)


async def test_a_gap_before_a_commit_is_read_from_the_log() -> None:
    async with following() as house:
        house.log.events += [stored(3)]  # by another node
        house.commit(7, after=3)
        house.commit(9, after=7)
        await wait_all_tasks_blocked()
        assert house.shown() == [3, 7, 9]


async def test_an_unused_position_delays_nothing() -> None:
    async with following() as house:
        house.commit(7, after=5)  # 5 was rolled back
        house.commit(9, after=7)
        await wait_all_tasks_blocked()
        assert house.shown() == [7, 9]


async def test_a_possible_commit_is_queried_at_once() -> None:
    async with following() as house:
        house.log.events += [stored(3)]
        house.follower.unknown()
        await wait_all_tasks_blocked()
        assert house.shown() == [3]


async def test_an_outcome_lost_while_reading_the_log_is_queried_again() -> None:
    async with following() as house:

        def meanwhile() -> None:
            if not house.log.events:
                house.log.events += [stored(3)]
                house.follower.unknown()

        house.log.while_reading = meanwhile
        house.follower.unknown()
        await wait_all_tasks_blocked()
        assert house.shown() == [3]


async def test_a_log_that_cannot_be_read_is_tried_again_and_nothing_is_shown_out_of_order(
    autojump_clock: MockClock,
) -> None:
    async with following() as house:
        house.log.away = True
        house.log.events += [stored(3)]
        house.follower.unknown()
        house.commit(7, after=3)
        await trio.sleep(30)
        assert house.shown() == []
        house.log.away = False
        await trio.sleep(30)
        assert house.shown() == [3, 7]


async def test_many_commits_that_wait_are_left_to_the_log() -> None:
    async with following() as house:
        for seq in range(1, MOST_WAITING + 50):
            house.commit(seq, after=seq - 1)
        assert len(house.follower._commits) <= MOST_WAITING
        await wait_all_tasks_blocked()
        assert house.shown() == list(range(1, MOST_WAITING + 50))


@pytest.mark.parametrize("steps", range(1, 12))
async def test_a_restart_at_any_step_shows_every_event_once(steps: int) -> None:
    house = House()
    house.log.events += [stored(2)]
    house.commit(3, after=2)
    house.commit(9, after=5)
    async with trio.open_nursery() as nursery:
        nursery.start_soon(house.follower.run)
        for _ in range(steps):
            await trio.lowlevel.checkpoint()
        nursery.cancel_scope.cancel()
    async with trio.open_nursery() as nursery:
        nursery.start_soon(house.follower.run)
        await wait_all_tasks_blocked()
        nursery.cancel_scope.cancel()
    assert house.shown() == [2, 3, 9]
