from __future__ import annotations

import random
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from types import SimpleNamespace
from typing import Any

import msgspec
import pytest
import trio
from trio.testing import wait_all_tasks_blocked

from actors.messages.workers import Record, RecorderMessage, SaveStates
from actors.observer import NO_OBSERVER, Metrics
from actors.recorder.actor import PARKED, REFUSAL_FOR, STUCK_AFTER, Recorder, SigningKeys
from actors.signatures import jwks, new_signing_key
from sanderling_client.verify import check_encoded
from storage.errors import DiskFull, Fenced, Unavailable
from storage.records.event import EVERYTHING, Stored
from storage.records.identity import START
from storage.records.source import Harvest
from storage.sql.storage import Storage
from supervision import ChildSpec, Mailbox, Supervisor, Unanswered
from tests.support.build import BASE_URL, NOW, a_draft, a_harvest, a_source, a_source_id, a_state
from tests.support.in_loop import Disk, InLoopStorage

KEY = new_signing_key(bytes(32), NOW)


class Bench:
    """A recorder on a disk, under its supervisor, with its mailboxes."""

    def __init__(self, disk: Disk, sync: Callable[[], Any] = trio.lowlevel.checkpoint) -> None:
        self.points: list[str] = []
        self.logged: list[str] = []
        self.storage: Storage = InLoopStorage(disk, disk.start("test"), sync)
        self.mailbox: Mailbox[RecorderMessage] = Mailbox("recorder", 1024)
        world: Any = SimpleNamespace(
            now=lambda: NOW,
            reach=self.points.append,
            log=lambda name, **fields: self.logged.append(name),
            metrics=Metrics(),
            observer=NO_OBSERVER,
        )
        self.recorder = Recorder(
            world=world,
            storage=self.storage,
            signing=SigningKeys(self.storage, [KEY]),
            base_url=BASE_URL,
            mailbox=self.mailbox,
            chance=random.Random(1),
        )
        spec = ChildSpec("log", self.recorder.run, ready_within=1, mailbox=self.mailbox)
        self.supervisor = Supervisor("test", [spec], chance=random.Random(2))

    async def add_sources(self, count: int) -> None:
        for number in range(1, count + 1):
            await self.storage.sources.add(a_source(number), a_state(a_source_id(number)), self.storage.lease)

    async def record(self, harvest: Harvest) -> Sequence[Stored]:
        return await self.mailbox.ask(lambda reply: Record(harvest, reply))

    async def titles(self) -> list[str]:
        page = await self.storage.log.read(START, 500, EVERYTHING)
        return [msgspec.json.decode(event.body)["title"] for event in page.events]


@asynccontextmanager
async def running(sources: int = 1, **more: Any) -> AsyncIterator[Bench]:
    bench = Bench(more.pop("disk", Disk()), **more)
    await bench.add_sources(sources)
    async with trio.open_nursery() as nursery:
        nursery.start_soon(bench.storage.follow)
        async with trio.open_nursery() as tree:
            tree.start_soon(bench.supervisor.run)
            await wait_all_tasks_blocked()
            yield bench
            bench.supervisor.stop()
        nursery.cancel_scope.cancel()


async def test_a_harvest_is_answered_with_its_events_in_order_and_they_are_in_the_log() -> None:
    async with running() as bench:
        events = await bench.record(a_harvest(a_source_id(), "a", "b"))
        assert [event.seq for event in events] == sorted(event.seq for event in events)
        assert await bench.titles() == ["a", "b"]


async def test_every_event_verifies_as_it_lies_in_the_log() -> None:
    async with running() as bench:
        (event,) = await bench.record(a_harvest(a_source_id(), "ärende \u2028 😀"))
        assert check_encoded(event.body, jwks([KEY])).valid


async def test_after_a_rotation_the_very_next_event_has_the_new_key_and_both_verify() -> None:
    async with running() as bench:
        signing = bench.recorder._signing
        (before,) = await bench.record(a_harvest(a_source_id(), "before"))
        new = new_signing_key(bytes([1]) * 32, NOW)
        await bench.storage.keys.add_signing(KEY)
        await bench.storage.keys.add_signing(new)
        (after,) = await bench.record(a_harvest(a_source_id(), "after"))
        published = await signing.published()
        assert [check_encoded(event.body, published).key_id for event in (before, after)] == [KEY.key_id, new.key_id]
        assert all(check_encoded(event.body, published).valid for event in (before, after))


async def test_harvests_that_wait_are_committed_together_and_each_gets_its_own_events() -> None:
    commits = 0

    async def sync() -> None:
        nonlocal commits
        commits += 1
        await trio.sleep(0.01)

    async with running(sources=20, sync=sync) as bench:
        commits = 0
        answers: dict[int, Sequence[Stored]] = {}

        async def send(number: int) -> None:
            answers[number] = await bench.record(a_harvest(a_source_id(number), f"{number}-1", f"{number}-2"))

        async with trio.open_nursery() as nursery:
            for number in range(1, 21):
                nursery.start_soon(send, number)
        assert commits <= 3
        for number, events in answers.items():
            assert [msgspec.json.decode(event.body)["title"] for event in events] == [f"{number}-1", f"{number}-2"]


async def test_the_answer_comes_only_after_the_commit_is_durable() -> None:
    order: list[str] = []

    async def sync() -> None:
        await trio.sleep(1)
        order.append("durable")

    async with running(sync=sync) as bench:
        order.clear()
        await bench.record(a_harvest(a_source_id(), "a"))
        order.append("answered")
        assert order == ["durable", "answered"]


async def test_a_committed_event_reaches_waiting_readers() -> None:
    async with running() as bench:
        (event,) = await bench.record(a_harvest(a_source_id(), "a"))
        assert await bench.storage.tail.wait_past(START) == event.seq


async def test_a_harvest_of_a_deleted_source_is_skipped_and_the_others_keep_their_events() -> None:
    async with running(sources=2) as bench:
        await bench.storage.sources.delete(a_source_id(1), bench.storage.lease)
        answers: list[Sequence[Stored]] = [(), ()]

        async def send(number: int) -> None:
            answers[number - 1] = await bench.record(a_harvest(a_source_id(number), f"of {number}"))

        async with trio.open_nursery() as nursery:
            nursery.start_soon(send, 1)
            nursery.start_soon(send, 2)
        assert [len(answer) for answer in answers] == [0, 1]
        assert await bench.titles() == ["of 2"]


async def test_a_full_disk_is_reported_to_the_senders_and_the_recorder_survives(autojump_clock: object) -> None:
    disk = Disk()
    await trio.sleep(86_400)  # the process has run for a while
    async with running(disk=disk) as bench:
        disk.full = True
        with pytest.raises(DiskFull):
            await bench.record(a_harvest(a_source_id(), "lost"))
        assert "disk is full" in bench.recorder.fault()
        disk.full = False
        await bench.record(a_harvest(a_source_id(), "kept"))
        assert await bench.titles() == ["kept"]
        assert bench.recorder.fault() == "" and bench.logged == ["recorder.disk_full", "recorder.goes_on"]


async def test_a_full_disk_is_not_reported_forever(autojump_clock: object) -> None:
    disk = Disk()
    async with running(disk=disk) as bench:
        disk.full = True
        with pytest.raises(DiskFull):
            await bench.record(a_harvest(a_source_id(), "lost"))
        await trio.sleep(REFUSAL_FOR)
        assert bench.recorder.fault() == ""


async def test_r8_hanging_storage_parks_the_recorder_and_is_reported_at_once(autojump_clock: object) -> None:
    disk = Disk()
    async with running(disk=disk) as bench:
        disk.silent = "before"
        with pytest.raises(Unavailable):
            await bench.record(a_harvest(a_source_id(), "lost"))
        assert "does not answer" in bench.recorder.fault()
        disk.silent = "no"
        await bench.record(a_harvest(a_source_id(), "kept"))
        assert await bench.titles() == ["kept"]
        assert bench.recorder.fault() == "" and bench.logged == ["recorder.parked", "recorder.goes_on"]


async def test_a_parked_recorder_is_reported_within_three_seconds_until_storage_is_back(
    autojump_clock: object,
) -> None:
    disk, busy = Disk(), [0.0]

    async def sync() -> None:
        await trio.sleep(busy[0])

    async with running(disk=disk, sync=sync) as bench:
        busy[0] = 10  # SQLite waits for a lock
        async with trio.open_nursery() as nursery:
            nursery.start_soon(bench.record, a_harvest(a_source_id(), "waits"))
            await trio.sleep(STUCK_AFTER + 0.1)
            assert bench.recorder.fault()
        busy[0] = 0
        disk.silent = "before"
        with pytest.raises(Unavailable):
            await bench.record(a_harvest(a_source_id(), "lost"))
        await trio.sleep(600)
        assert "does not answer" in bench.recorder.fault()
        disk.silent = "no"
        await trio.sleep(2 * PARKED + 0.1)
        assert bench.recorder.fault() == "" and bench.logged[-1] == "recorder.goes_on"


async def test_r8_an_event_committed_without_an_answer_comes_before_the_next(autojump_clock: object) -> None:
    disk = Disk()
    async with running(disk=disk) as bench:
        disk.silent = "after"
        with pytest.raises(Unavailable):
            await bench.record(a_harvest(a_source_id(), "unknown"))
        disk.silent = "no"
        await bench.record(a_harvest(a_source_id(), "next"))
        assert await bench.titles() == ["unknown", "next"]
        shown = bench.storage.tail.since(START)
        assert shown is not None and len(shown) == 2


async def test_a_draft_that_cannot_be_encoded_is_refused_alone() -> None:
    async with running(sources=2) as bench:
        bad = Harvest(a_source_id(1), (a_draft(title=object()),), a_state(a_source_id(1)))
        failures: list[Exception] = []

        async def send_bad() -> None:
            try:
                await bench.record(bad)
            except Exception as error:
                failures.append(error)

        async with trio.open_nursery() as nursery:
            nursery.start_soon(send_bad)
            nursery.start_soon(bench.record, a_harvest(a_source_id(2), "good"))
        assert len(failures) == 1 and not isinstance(failures[0], Unanswered)
        assert await bench.titles() == ["good"]


async def test_states_without_a_harvest_are_saved_too() -> None:
    async with running() as bench:
        await bench.mailbox.send(SaveStates((a_state(a_source_id(), looks=7),)))
        await bench.record(a_harvest(a_source_id(), "a", looks=8))
        await bench.mailbox.send(SaveStates((a_state(a_source_id(), looks=9),)))
        await wait_all_tasks_blocked()
        watched = await bench.storage.sources.get(a_source_id())
        assert watched is not None and watched.hot.looks == 9


async def test_a_polite_stop_commits_waiting_harvests() -> None:
    disk = Disk()
    async with running(disk=disk) as bench:
        for number in range(3):
            bench.mailbox.send_nowait(SaveStates((a_state(a_source_id(), looks=number),)))
        bench.supervisor.stop()
    assert disk.sources()[a_source_id()].hot.looks == 2


async def test_a_crash_between_receiving_and_committing_leaves_the_sender_unanswered_and_nothing_in_the_log() -> None:
    async with running() as bench:
        reach = bench.recorder._world.reach

        def crash(point: str) -> None:
            reach(point)
            if point == "recorder/before commit":
                bench.recorder._world.reach = reach
                raise RuntimeError("planted")

        bench.recorder._world.reach = crash
        with pytest.raises(Unanswered):
            await bench.record(a_harvest(a_source_id(), "a"))
        assert await bench.titles() == []


async def test_events_committed_just_before_a_crash_reach_live_readers_after_the_restart(
    autojump_clock: object,
) -> None:
    async with running() as bench:
        reach = bench.recorder._world.reach

        def crash(point: str) -> None:
            reach(point)
            if point == "recorder/after commit":
                bench.recorder._world.reach = reach
                raise RuntimeError("planted")

        bench.recorder._world.reach = crash
        with pytest.raises(Unanswered):
            await bench.record(a_harvest(a_source_id(), "a"))
        head = await bench.storage.tail.wait_past(START)
        await bench.record(a_harvest(a_source_id(), "b"))
        await bench.storage.tail.wait_past(head)
        recent = bench.storage.tail.since(START)
        assert recent is not None
        assert [msgspec.json.decode(event.stored.body)["title"] for event in recent] == ["a", "b"]
        assert recent[0].stored.seq == head


async def test_any_refusal_of_storage_reaches_the_asker_and_the_recorder_restarts(
    autojump_clock: object,
) -> None:
    async with running() as bench:
        real = bench.storage.log.append

        async def fenced(*given: Any) -> Any:
            raise Fenced("another start owns the data")

        bench.storage.log.append = fenced  # type: ignore[method-assign]
        with trio.fail_after(5), pytest.raises(Fenced):
            await bench.record(a_harvest(a_source_id(), "a"))
        bench.storage.log.append = real  # type: ignore[method-assign]
        await trio.sleep(5)
        assert bench.supervisor.status("log").restarts == 1
        await bench.record(a_harvest(a_source_id(), "b"))
        assert await bench.titles() == ["b"]


async def test_a_polite_stop_first_commits_waiting_harvests(autojump_clock: object) -> None:
    async def sync() -> None:
        await trio.sleep(1)

    async with running(sources=3, sync=sync) as bench:
        async with trio.open_nursery() as nursery:
            for number in (1, 2, 3):
                nursery.start_soon(bench.record, a_harvest(a_source_id(number), str(number)))
                await trio.sleep(0.1)  # the first is being committed, the others wait
            bench.supervisor.stop()
        assert await bench.titles() == ["1", "2", "3"]


async def test_a_commit_is_measured(autojump_clock: object) -> None:
    async def slow() -> None:
        await trio.sleep(3)

    async with running(sync=slow) as bench:
        await bench.record(a_harvest(a_source_id(), "a", "b"))
        metrics = bench.recorder._world.metrics
        assert (metrics.commit_time.total, sum(metrics.commit_time.counts)) == (3.0, 1)
        assert (metrics.commit_size.total, sum(metrics.commit_size.counts)) == (1.0, 1)
        assert bench.logged == []


async def test_a_full_disk_holds_the_next_harvest_up_for_five_seconds_at_most(autojump_clock: object) -> None:
    disk = Disk()
    async with running(disk=disk) as bench:
        disk.full = True
        with pytest.raises(DiskFull):
            await bench.record(a_harvest(a_source_id(), "lost"))
        disk.full, failed = False, trio.current_time()
        await bench.record(a_harvest(a_source_id(), "kept"))
        assert 0 < trio.current_time() - failed <= 5
