"""Three nodes whose clocks differ, on a real PostgreSQL: no source is silent, and every accepted check happens."""

from __future__ import annotations

import signal
import sys
from contextlib import AsyncExitStack, suppress
from datetime import timedelta
from itertools import pairwise
from pathlib import Path

import pytest
import trio
from quart import Response

from sanderling.client.api import Client
from sanderling.exits import CommandFailed
from tests.e2e.origin import Origin
from tests.e2e.service import Service, a_service, add
from tests.e2e.test_postgres import a_key, variables
from tests.support.postgres import durable
from tests.support.waiting import HANG, until

pytestmark = pytest.mark.real

SKEWS = {"a": 0.0, "b": 3.5, "c": -40.0}
"""Seconds that a node's clock is ahead."""
CALM = 12.0
SILENT = 20.0
"""Seconds without a check of a source that is due each 2 s: a lease and a busy machine, but none of the skews."""
PAST = 40
SKEWED = """
import runpy, sys, time
true, ahead = time.time, float(sys.argv[1])
time.time = lambda: true() + ahead
sys.argv[1:] = sys.argv[6:]
runpy.run_module("sanderling", run_name="__main__", alter_sys=True)
"""


class WatchedOrigin(Origin):
    """An origin that records when its feed is fetched. A lively one has an entry a second, so it is due each 2 s."""

    def __init__(self, *, lively: bool) -> None:
        super().__init__()
        self.times: list[float] = []
        self.lively = lively
        if lively:
            self._began -= timedelta(seconds=PAST)
            self.items = [f"note {number}" for number in range(PAST)]

    async def publish(self) -> None:
        while self.lively:
            await trio.sleep(1.0)
            self.items.append(f"note {len(self.items)}")

    async def _feed(self) -> Response:
        self.times.append(trio.current_time())
        return await super()._feed()

    def longest_silence(self) -> float:
        return max(after - before for before, after in pairwise([*self.times, trio.current_time()]))


async def added(client: Client, origin: WatchedOrigin) -> object:
    """Add a source; a busy machine may refuse it for a moment, as its worker is killed at the deadline."""
    settings = {} if origin.lively else {"schedule": "1h"}
    with trio.fail_after(HANG):
        while True:
            with suppress(CommandFailed):
                return (await add(client, f"http://{origin.place}/feed", **settings))["id"]
            await trio.sleep(1.0)


async def check(client: Client, source: object, origin: WatchedOrigin) -> None:
    """Ask until a check is accepted, and wait until it happens."""
    while True:
        before = len(origin.times)
        try:
            await client.ask("POST", f"/v1/sources/{source}/check")
        except CommandFailed:  # too soon after the last one
            await trio.sleep(0.5)
            continue
        with trio.fail_after(SILENT):
            await until(lambda before=before: len(origin.times) > before)  # type: ignore[misc]
        return


async def test_nodes_with_skewed_clocks_check_every_source_on_time(
    tmp_path: Path,
) -> None:
    named = await variables(tmp_path, durable())
    async with trio.open_nursery() as nursery, AsyncExitStack() as stack:
        nodes = list[Service]()
        for name, ahead in SKEWS.items():
            under = (sys.executable, "-c", SKEWED, str(ahead))
            service = a_service(tmp_path / name, SANDERLING_NODE_NAME=name, wait=False, under=under, **named)
            nodes.append(await stack.enter_async_context(service))
        for node in nodes:
            await node.wait_ready()
        assert "s ahead of ours" in "".join(nodes[2].log), "its clock is not off"
        key = await a_key(tmp_path / "a", named)
        clients = [await stack.enter_async_context(Client(node.url, key)) for node in nodes]
        origins = [WatchedOrigin(lively=number < 6) for number in range(9)]
        lively, sources = origins[:6], dict[WatchedOrigin, object]()
        for number, origin in enumerate(origins):
            await nursery.start(origin.serve)
            nursery.start_soon(origin.publish)
            sources[origin] = await added(clients[number % 3], origin)

        async def check_all(through: list[Client]) -> None:
            for client in through:
                for origin in origins[6:]:
                    await check(client, sources[origin], origin)

        await trio.sleep(CALM)
        await check_all(clients)
        assert max(origin.longest_silence() for origin in lively) < SILENT
        await nodes[1].end(signal.SIGKILL)
        await trio.sleep(CALM)
        await check_all([clients[0], clients[2]])
        assert max(origin.longest_silence() for origin in lively) < SILENT
        nursery.cancel_scope.cancel()
