"""Readers get every committed event in order, even if the writer's caller gave up."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager

import trio
import trio.lowlevel

from storage.append import events_of
from storage.records.event import Stored
from storage.records.identity import START, Seq
from storage.sql.storage import Storage
from tests.storage.contract.builders import CountingMint, a_harvest, a_source, a_state, stamp
from tests.support.waiting import HANG


@asynccontextmanager
async def following(storage: Storage) -> AsyncIterator[None]:
    async with trio.open_nursery() as nursery:
        nursery.start_soon(storage.follow)
        with trio.fail_after(HANG):
            yield
        nursery.cancel_scope.cancel()


async def committed(storage: Storage, mint: CountingMint, *titles: str) -> Sequence[Stored]:
    answers = await storage.log.append([a_harvest(1, *titles)], storage.lease, mint, stamp)
    return events_of(answers)


def shown(storage: Storage) -> list[Seq]:
    recent = storage.tail.since(START)
    assert recent is not None
    return [each.stored.seq for each in recent]


async def test_commits_are_shown_in_order(storage: Storage) -> None:
    await storage.sources.add(a_source(), a_state(), storage.lease)
    async with following(storage):
        mint = CountingMint()
        events = [*await committed(storage, mint, "a", "b"), *await committed(storage, mint, "c")]
        await storage.tail.wait_past(events[1].seq)
        assert shown(storage) == [event.seq for event in events]


async def test_commits_without_a_follower_are_shown_first(storage: Storage) -> None:
    await storage.sources.add(a_source(), a_state(), storage.lease)
    mint = CountingMint()
    before = await committed(storage, mint, *[str(number) for number in range(1_100)])
    async with following(storage):
        (last,) = await committed(storage, mint, "last")
        while storage.tail.head < last.seq:
            await storage.tail.wait_past(storage.tail.head)
        assert shown(storage) == [*[event.seq for event in before], last.seq]


async def test_a_commit_without_a_waiter_is_shown(storage: Storage) -> None:
    await storage.sources.add(a_source(), a_state(), storage.lease)
    async with following(storage):
        mint = CountingMint()
        async with trio.open_nursery() as nursery:
            nursery.start_soon(committed, storage, mint, "a")
            await trio.lowlevel.checkpoint()
            await trio.lowlevel.checkpoint()
            nursery.cancel_scope.cancel()
        page = await storage.log.bounds()
        if page.newest == START:  # it gave up before its turn
            await committed(storage, mint, "a")
        assert await storage.tail.wait_past(START) > START
