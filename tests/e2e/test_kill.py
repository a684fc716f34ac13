"""Promise 1, for real: killed at any instant, the log has every published item once, and keeps every event once seen.

An origin publishes while SIGKILL hits the service again and again, at instants drawn from a seed: during start, check
or commit. Then it runs undisturbed and the test reads the log from its beginning.
"""

from __future__ import annotations

import json
import random
from contextlib import suppress
from pathlib import Path

import httpx
import pytest
import trio

from sanderling.client.api import Client, events_of
from sanderling.exits import CommandFailed
from tests.e2e.origin import Origin
from tests.e2e.service import Service, a_key, a_service, add
from tests.support.waiting import HANG

pytestmark = pytest.mark.real

EARLY = 0.2
"""The share of kills during the start, before it serves."""
BEGINNING = "00000000-0000-7000-8000-000000000000"


@pytest.mark.parametrize("rounds", [3, 15])
async def test_killed_at_any_instant_it_loses_nothing_and_repeats_nothing(
    rounds: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    chance = random.Random(20261121)
    origin, key, seen = Origin(), a_key(tmp_path), dict[str, str]()
    async with trio.open_nursery() as nursery:
        await nursery.start(origin.serve)
        async with a_service(tmp_path) as service, Client(service.url, key) as client:
            source = str((await add(client, f"http://{origin.place}/feed"))["id"])
        for number in range(rounds):
            early, live = chance.random() < EARLY, trio.Event()
            async with a_service(tmp_path, wait=not early) as service, trio.open_nursery() as life:
                life.start_soon(publish, origin, chance.uniform(0.01, 0.05))
                if not early:
                    life.start_soon(watch, service, key, seen, live)
                    life.start_soon(ask_for_looks, service, key, source)
                if not early and number % 4 == 0:
                    await live.wait()  # some kills hit a working service, even on a slow machine
                await trio.sleep(chance.uniform(0.0, 0.6))
                service.process.kill()
                await service.process.wait()
                life.cancel_scope.cancel()
        async with a_service(tmp_path) as service:
            log = await read_log(service, key, source, until=origin.items[-1])
        nursery.cancel_scope.cancel()
    with capsys.disabled():
        print(f"\nkilled {rounds} times, {len(origin.items) - 1} items published, {len(seen)} seen live")
    assert sorted(log.values()) == sorted(origin.items[1:]), "every item that was published, exactly once"
    assert [id for id in log if id in seen] == list(seen), "what a client saw is in the log, in the order it saw it"
    assert seen and seen.items() <= log.items()


async def publish(origin: Origin, pause: float) -> None:
    while True:
        await trio.sleep(pause)
        origin.items.append(f"note {len(origin.items)}")


async def ask_for_looks(service: Service, key: str, source: str) -> None:
    async with httpx.AsyncClient(base_url=service.url, headers={"X-API-Key": key}, timeout=HANG) as client:
        while True:
            try:
                await client.post(f"/v1/sources/{source}/check")
            except httpx.HTTPError:
                return
            await trio.sleep(0.05)


async def watch(service: Service, key: str, seen: dict[str, str], live: trio.Event) -> None:
    """Read live, resuming after the previous life's last event; record the events in order."""
    headers = {"X-API-Key": key, "Last-Event-ID": next(reversed(seen), BEGINNING)}
    async with httpx.AsyncClient(base_url=service.url, headers=headers, timeout=HANG) as client:
        try:
            async with client.stream("GET", "/v1/stream") as answer:
                async for event in events_of(answer):
                    assert event.id not in seen
                    seen[event.id] = json.loads(event.data)["title"]
                    live.set()
        except httpx.HTTPError:
            return


async def read_log(service: Service, key: str, source: str, until: str) -> dict[str, str]:
    """Check until the rest has arrived; return {id: title} of every event from the beginning."""
    log: dict[str, str] = {}
    repeated: list[str] = []
    async with Client(service.url, key) as client, trio.open_nursery() as nursery:

        def take(event: object) -> None:
            assert hasattr(event, "id") and hasattr(event, "data")
            if event.id in log:
                repeated.append(event.id)
            log[event.id] = json.loads(event.data)["title"]

        nursery.start_soon(client.follow, "/v1/stream", [("since", BEGINNING)], take)
        with trio.fail_after(HANG):
            while until not in log.values():
                with suppress(CommandFailed):  # too soon: again in a moment
                    await client.ask("POST", f"/v1/sources/{source}/check")
                await trio.sleep(0.3)
        nursery.cancel_scope.cancel()
    assert repeated == []
    return log
