"""Any damage is reported everywhere, once, and restarts nothing."""

from __future__ import annotations

import sqlite3
from typing import Any

import pytest
import trio
from trio.testing import wait_all_tasks_blocked

from actors.messages.workers import SaveStates
from actors.recorder.actor import signing_keys
from actors.recorder.pruner import ROUND
from actors.settings import Settings
from actors.system import System
from api.refusals import refusal_of
from storage.errors import Corrupt
from storage.records.event import EVERYTHING
from storage.records.identity import START
from supervision import ChildSpec
from tests.support.build import a_source_id, a_state
from tests.support.in_loop import Disk, InLoopStorage
from tests.support.inline_jail import InlineJail
from tests.support.memory_network import MemoryNetwork, a_world

TORN = Corrupt("the database is damaged (database disk image is malformed)")


class House:
    def __init__(self, system: System, storage: InLoopStorage, log: list[tuple[str, dict[str, Any]]]) -> None:
        self.system, self.storage, self.log = system, storage, log

    def lines(self, event: str) -> list[dict[str, Any]]:
        return [fields for name, fields in self.log if name == event]


async def a_house(nursery: trio.Nursery) -> House:
    log: list[tuple[str, dict[str, Any]]] = []

    async def web(child: Any) -> None:
        await child.stopping.wait()

    world = a_world(
        MemoryNetwork(nursery),
        jail=InlineJail(),
        log=lambda event, **fields: log.append((event, fields)),
        entropy=lambda size: b"k" * size,
    )
    disk = Disk()
    storage = InLoopStorage(disk, disk.start("test"))
    keys = await signing_keys(world, storage)
    system = System(world, Settings(), storage, keys, lambda context: [ChildSpec("web", web)])
    nursery.start_soon(system.run)
    await wait_all_tasks_blocked()
    return House(system, storage, log)


async def raise_torn(*_: Any, **__: Any) -> Any:
    raise TORN


def torn(connection: sqlite3.Connection) -> None:
    raise TORN


async def test_r10_damage_met_by_a_reader_is_reported_in_readyz_the_log_and_one_notice(autojump_clock: object) -> None:
    async with trio.open_nursery() as nursery:
        house = await a_house(nursery)
        assert house.system.readiness()["storage"] == ""
        for _ in range(3):
            with pytest.raises(Corrupt):
                await house.storage.log._readers.run(torn)
            await trio.sleep(1)
        assert "damaged" in house.system.readiness()["storage"]
        assert "sanderling restore" in house.system.readiness()["storage"]
        assert len(house.lines("storage.damaged")) == 1
        events = (await house.storage.log.read(START, 100, EVERYTHING)).events
        assert [b"storage_damaged" in event.body for event in events] == [True]
        house.system.stop()


async def test_r10_damage_met_by_a_writer_is_reported_too(autojump_clock: object) -> None:
    def job(transaction: Any) -> None:
        raise TORN

    async with trio.open_nursery() as nursery:
        house = await a_house(nursery)
        with pytest.raises(Corrupt):
            await house.storage.log._writer.submit(job)
        assert "damaged" in house.system.readiness()["storage"]
        house.system.stop()


async def test_r10_damage_met_by_the_loops_own_connection_is_reported_too(autojump_clock: object) -> None:
    async with trio.open_nursery() as nursery:
        house = await a_house(nursery)
        error = sqlite3.DatabaseError("malformed")
        error.sqlite_errorcode = sqlite3.SQLITE_CORRUPT

        class Torn:
            def execute(self, *_: Any) -> Any:
                raise error

        house.storage.keys._readers._lookups._connection = Torn()  # type: ignore[attr-defined]
        with pytest.raises(Corrupt):
            await house.storage.keys.by_hash("none")
        assert "damaged" in house.system.readiness()["storage"]
        house.system.stop()


@pytest.mark.parametrize("method", ["count", "bounds", "room", "retain", "read", "save_states"])
async def test_r10_damage_met_in_the_background_restarts_nothing(method: str, autojump_clock: object) -> None:
    async with trio.open_nursery() as nursery:
        house = await a_house(nursery)
        setattr(house.storage.log, method, raise_torn)
        for _ in range(5):
            house.system.recorder_box.send_nowait(SaveStates((a_state(a_source_id()),)))
            await trio.sleep(ROUND)
        assert house.lines("actor.crashed") == []
        house.system.stop()


def test_r10_a_problem_document_names_the_remedy() -> None:
    refusal = refusal_of(TORN)
    assert refusal is not None
    assert refusal.status == 500
    assert "damaged" in refusal.detail
    assert "restore" in refusal.detail
