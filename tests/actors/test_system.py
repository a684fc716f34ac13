from __future__ import annotations

import json
from typing import Any

import pytest
import trio
from trio.testing import wait_all_tasks_blocked

from actors.egress.http import FetchRequest
from actors.egress.url import parse_url
from actors.messages.workers import SaveStates
from actors.recorder.actor import signing_keys
from actors.settings import Settings
from actors.system import System
from supervision import ChildSpec, Escalate
from tests.support.build import a_source_id, a_state
from tests.support.disks import count
from tests.support.in_loop import Disk, InLoopStorage
from tests.support.inline_jail import InlineJail
from tests.support.memory_network import Answer, MemoryNetwork, ReceivedRequest, a_world, web

ORDER = [
    "storage",
    "log",
    "shifts",
    "egress",
    "parsers",
    "destinations",
    "deliveries",
    "matcher",
    "sources",
    "registry",
    "importer",
    "pruner",
    "clock",
    "web",
]


async def a_system(nursery: trio.Nursery, disk: Disk, states: list[tuple[str, str]]) -> System:
    def log(event: str, **fields: Any) -> None:
        if event == "actor.state":
            states.append((fields["actor"].rpartition("/")[2], fields["now"]))

    async def web(child: Any) -> None:
        await child.stopping.wait()

    world = a_world(MemoryNetwork(nursery), jail=InlineJail(), log=log, entropy=lambda size: b"k" * size)
    storage = InLoopStorage(disk, disk.start("test"))
    keys = await signing_keys(world, storage)
    return System(world, Settings(), storage, keys, lambda context: [ChildSpec("web", web)])


async def test_the_tree_starts_in_order_of_dependence_and_stops_in_the_reverse(autojump_clock: object) -> None:
    states: list[tuple[str, str]] = []
    async with trio.open_nursery() as nursery:
        system = await a_system(nursery, Disk(), states)
        nursery.start_soon(system.run)
        await wait_all_tasks_blocked()
        assert [name for name, now in states if now == "running"] == ORDER
        assert set(system.readiness().values()) == {""}
        assert system.context.overdue() == 0
        assert not system.context.draining()
        system.stop()
    assert [name for name, now in states if now == "ended"] == ORDER[::-1]
    assert system.context.draining()


async def test_r1_a_storage_that_can_write_no_more_ends_the_tree_and_the_process(autojump_clock: object) -> None:
    lost = trio.Event()

    async def wait_ended() -> str:
        await lost.wait()
        return "the writer has ended"

    states: list[tuple[str, str]] = []
    async with trio.open_nursery() as nursery:
        system = await a_system(nursery, Disk(), states)
        system.storage.wait_ended = wait_ended  # type: ignore[method-assign]
        nursery.start_soon(expect_escalation, system, "sanderling/storage: the writer has ended")
        await wait_all_tasks_blocked()
        lost.set()
    assert [name for name, now in states if now == "ended"] == ORDER[::-1]


async def expect_escalation(system: System, says: str) -> None:
    with pytest.raises(Escalate, match=says):
        await system.run()


async def test_readiness_names_the_part_that_is_missing(autojump_clock: object) -> None:
    async with trio.open_nursery() as nursery:
        system = await a_system(nursery, Disk(), [])
        nursery.start_soon(system.run)
        await wait_all_tasks_blocked()
        system.stop()
        assert system.readiness()["draining"]


async def test_a_recorder_that_does_not_move_is_not_ready_though_it_runs(autojump_clock: object) -> None:
    async with trio.open_nursery() as nursery:
        system = await a_system(nursery, Disk(), [])
        nursery.start_soon(system.run)
        await wait_all_tasks_blocked()

        async def stuck(*_: object) -> None:
            await trio.sleep(45)

        system.context.storage.log.save_states = stuck  # type: ignore[method-assign]
        system.recorder_box.send_nowait(SaveStates((a_state(a_source_id()),)))
        await trio.sleep(2)
        assert set(system.readiness().values()) == {""}
        await trio.sleep(2)
        assert system.readiness()["recorder"].startswith("no commit has ended for 4 s")
        await trio.sleep(42)
        assert set(system.readiness().values()) == {""}
        system.context.storage.stands = lambda: False  # type: ignore[method-assign]
        assert "put it back" in system.readiness()["storage"]
        system.stop()


async def test_paused_checks_are_not_ready(autojump_clock: object) -> None:
    async with trio.open_nursery() as nursery:
        system = await a_system(nursery, Disk(), [])
        nursery.start_soon(system.run)
        await wait_all_tasks_blocked()
        await system.overseer.drain(True)
        assert system.readiness()["draining"]
        await system.overseer.drain(False)
        assert set(system.readiness().values()) == {""}
        system.stop()


async def test_the_first_start_makes_a_signing_key_and_the_next_one_keeps_it() -> None:
    disk = Disk()
    async with trio.open_nursery() as nursery:
        first = await a_system(nursery, disk, [])
        second = await a_system(nursery, disk, [])
        assert await first.context.jwks() == await second.context.jwks()
        assert b'"kty":"OKP"' in await first.context.jwks()
        assert count(disk, "signing_key") == 1


@pytest.mark.parametrize("times", [1, 2])
async def test_a_crash_of_the_log_restarts_all_that_depends_on_it(times: int, autojump_clock: object) -> None:
    states: list[tuple[str, str]] = []
    async with trio.open_nursery() as nursery:
        system = await a_system(nursery, Disk(), states)
        nursery.start_soon(system.run)
        await wait_all_tasks_blocked()
        for _ in range(times):
            states.clear()
            system.recorder_box.send_nowait(SaveStates((object(),)))  # type: ignore[arg-type]  # no state at all
            await trio.sleep(5)
            assert [name for name, now in states if now == "running"] == ORDER[1:]
        system.stop()


async def test_signed_checks_are_signed_with_the_keys_that_are_published(autojump_clock: object) -> None:
    seen: list[ReceivedRequest] = []
    async with trio.open_nursery() as nursery:
        network = MemoryNetwork(nursery)
        network.add("news.example", "93.184.216.34", web(lambda asked: Answer(200, b"<p>x"), seen), 443)
        world = a_world(network, jail=InlineJail())
        disk = Disk()
        storage = InLoopStorage(disk, disk.start("test"))
        settings = Settings(sign_looks="on", base_url="https://watch.example")
        system = System(world, settings, storage, await signing_keys(world, storage), lambda context: [])
        await system.egress.http.get(FetchRequest(parse_url("https://news.example/list?page=2")))
        assert system.context.look_keys is not None
        published = await system.context.look_keys("watch.example", 0)
        await system.egress.aclose()
    (asked,) = seen
    (key,) = json.loads(published.body)["keys"]
    assert f'keyid="{key["kid"]}"' in asked.headers["signature-input"]
    assert asked.headers["signature-agent"] == 'sig1="https://watch.example"'


async def test_checks_are_not_signed_by_default(autojump_clock: object) -> None:
    async with trio.open_nursery() as nursery:
        system = await a_system(nursery, Disk(), [])
        assert system.context.look_keys is None and system.egress.http.sign is None
