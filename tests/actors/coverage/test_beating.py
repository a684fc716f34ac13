"""Heartbeats across kills, clock steps, storage failures and a second node."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from itertools import pairwise
from typing import Any

import msgspec
import pytest
import trio
import trio.testing

from actors.coverage import AGAIN, HeartbeatWriter
from actors.messages.workers import RecorderMessage
from actors.recorder.actor import Recorder, SigningKeys
from actors.signatures import new_signing_key
from storage.errors import Unavailable
from storage.records.event import EVERYTHING
from storage.records.identity import START, Millis
from supervision import ChildSpec, Mailbox, Supervisor
from tests.support.in_loop import Disk, InLoopStorage
from tests.support.memory_network import MemoryNetwork, a_world

EVERY = 60.0
WALL = 1_780_000_000.0
KEY = new_signing_key(bytes(32), Millis(0))


class Service:
    """A disk, an adjustable clock, and runs that end without a shutdown."""

    def __init__(self, nursery: trio.Nursery) -> None:
        self._nursery, self.disk, self.ahead, self.fails = nursery, Disk(), 0.0, False
        self.failing = ""
        self.world = replace(a_world(MemoryNetwork(nursery)), wall=lambda: WALL + self.ahead + trio.current_time())
        self.storage = InLoopStorage(self.disk, self.disk.start("test"), self._sync)

    async def _sync(self) -> None:
        await trio.lowlevel.checkpoint()
        if self.fails:
            raise Unavailable("the disk does not answer")

    def live(self, *, every: float = EVERY) -> Supervisor:
        """Start a run, or another node's."""
        mailbox: Mailbox[RecorderMessage] = Mailbox("recorder", 64)
        dice = random.Random(len(self._nursery.child_tasks))
        recorder = Recorder(
            world=self.world,
            storage=self.storage,
            signing=SigningKeys(self.storage, [KEY]),
            base_url="https://s.example",
            mailbox=mailbox,
            chance=dice,
        )
        writer = HeartbeatWriter(
            self.world,
            self.storage,
            mailbox,
            lambda: {"tree": self.failing},
            lambda: (3, 1, 0),
            every=every,
            base_url="https://s.example",
        )
        children = [ChildSpec("log", recorder.run, mailbox=mailbox), ChildSpec("heartbeats", writer.run)]
        tree = Supervisor("test", children, chance=dice)
        self._nursery.start_soon(tree.run)
        return tree

    async def beats(self) -> Sequence[dict[str, Any]]:
        page = await self.storage.log.read(START, 500, EVERYTHING)
        return [msgspec.json.decode(event.body) for event in page.events]

    async def seconds(self) -> list[float]:
        """Return the times of the heartbeats, in seconds since the start."""
        found = [
            msgspec.json.decode(msgspec.json.encode(beat["emitted_at"]), type=datetime) for beat in await self.beats()
        ]
        return [round(moment.timestamp() - WALL, 1) for moment in found]


def follow(beats: Sequence[dict[str, Any]]) -> bool:
    """Return whether each heartbeat names the one before it and counts up."""
    pairs = list(pairwise(beats))
    counted = all(after["heartbeat"]["number"] == before["heartbeat"]["number"] + 1 for before, after in pairs)
    return counted and all(after["heartbeat"]["before"] == before["id"] for before, after in pairs)


async def test_heartbeats_come_at_even_times_and_each_names_the_one_before(autojump_clock: object) -> None:
    async with trio.open_nursery() as nursery:
        service = Service(nursery)
        tree = service.live()
        await trio.sleep(5 * EVERY + 1)
        tree.stop()
    beats = await service.beats()
    assert await service.seconds() == [0, 60, 120, 180, 240, 300]
    assert follow(beats)
    assert [beat["heartbeat"]["head"] for beat in beats[1:]] == [beat["id"] for beat in beats[:-1]]
    assert beats[0]["heartbeat"]["before"] is None


async def test_after_a_kill_the_next_comes_when_it_was_due_or_at_once_when_that_has_passed(
    autojump_clock: object,
) -> None:
    async with trio.open_nursery() as nursery:
        service = Service(nursery)
        tree = service.live()
        await trio.sleep(70)
        tree.stop(now=True)
        await trio.sleep(10)
        tree = service.live()  # in time for the one at 120 s
        await trio.sleep(60)
        tree.stop(now=True)
        await trio.sleep(300)
        tree = service.live()  # late: at once, and then on schedule again
        await trio.sleep(70)
        tree.stop()
    assert await service.seconds() == [0, 60, 120, 440, 500]
    assert follow(await service.beats())


@pytest.mark.parametrize("step", [-7200.0, 7200.0])
async def test_a_clock_that_is_set_neither_silences_nor_doubles_them(step: float, autojump_clock: object) -> None:
    async with trio.open_nursery() as nursery:
        service = Service(nursery)
        tree = service.live()
        await trio.sleep(90)
        service.ahead = step
        await trio.sleep(120)
        tree.stop(now=True)
        service.ahead = 0.0
        await trio.sleep(1)
        tree = service.live()
        await trio.sleep(100)
        tree.stop()
    seconds = await service.seconds()
    assert seconds[:4] == [0, 60, 120 + step, 180 + step]
    assert seconds[4] == 211
    assert follow(await service.beats())


async def test_it_is_withheld_while_the_service_does_not_do_its_work_and_comes_soon_after(
    autojump_clock: object,
) -> None:
    async with trio.open_nursery() as nursery:
        service = Service(nursery)
        tree = service.live()
        await trio.sleep(50)
        service.failing = "no checks run"
        await trio.sleep(102)
        service.failing = ""
        await trio.sleep(AGAIN)
        tree.stop()
    assert await service.seconds() == [0, 155]


async def test_after_a_standstill_one_comes_that_says_how_many_were_skipped(
    autojump_clock: trio.testing.MockClock,
) -> None:
    async with trio.open_nursery() as nursery:
        service = Service(nursery)
        tree = service.live()
        await trio.sleep(90)
        autojump_clock.jump(600)
        await trio.sleep(100)
        tree.stop()
    beats = await service.beats()
    assert await service.seconds() == [0, 60, 690, 720, 780]
    assert [beat["heartbeat"]["due_at"][14:19] for beat in beats[1:4]] == ["27:40", "37:40", "38:40"]
    assert "Skipped before it: 9;" in beats[2]["content"]
    assert not any("Skipped" in beat["content"] for beat in (*beats[:2], *beats[3:]))
    assert follow(beats)


async def test_a_write_without_an_answer_comes_once(autojump_clock: object) -> None:
    async with trio.open_nursery() as nursery:
        service = Service(nursery)
        tree = service.live()
        await trio.sleep(50)
        service.fails = True
        await trio.sleep(40)
        service.fails = False
        await trio.sleep(75)
        tree.stop()
    beats = await service.beats()
    assert follow(beats)
    assert len(beats) == 3


async def test_of_two_nodes_that_claim_heartbeats_one_writes_each(autojump_clock: object) -> None:
    async with trio.open_nursery() as nursery:
        service = Service(nursery)
        trees = service.live(), service.live()
        await trio.sleep(5 * EVERY + 1)
        for tree in trees:
            tree.stop()
    assert await service.seconds() == [0, 60, 120, 180, 240, 300]
    assert follow(await service.beats())
