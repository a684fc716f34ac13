"""/metrics on a separate address: only there, and nothing else there."""

from __future__ import annotations

from dataclasses import replace

import httpx
import trio.testing

from api.server.server import metrics_listener
from tests.api.house import FakeChild, House, MemoryListener, make_house, running


async def test_metrics_has_no_listener_of_its_own_unless_one_is_set(house: House, client: httpx.AsyncClient) -> None:
    assert metrics_listener(house.context) == ()
    assert (await client.get("/metrics")).status_code == 200


async def test_at_an_address_of_its_own_it_is_guarded_and_alone() -> None:
    house = make_house(metrics_bind="127.0.0.1:9464")
    child, asked = FakeChild(), []

    async def listen(host: str, port: int) -> list[MemoryListener]:
        asked.append((host, port))
        return [house.listener]

    async with running(house), trio.open_nursery() as nursery:
        assert (await (await house.client()).get("/metrics")).status_code == 404
        assert "/metrics" not in (await house.stranger().get("/openapi.json")).json()["paths"]
        house.listener = MemoryListener()
        (spec,) = metrics_listener(replace(house.context, world=replace(house.context.world, listen=listen)))
        nursery.start_soon(spec.run, child)
        await child.is_ready.wait()
        assert asked == [("127.0.0.1", 9464)]
        figures = await (await house.client("admin")).get("/metrics")
        assert figures.status_code == 200 and "sanderling_build_info" in figures.text
        assert (await house.stranger().get("/metrics")).status_code == 401
        assert (await (await house.client("stream:read")).get("/metrics")).status_code == 403
        others = ("/", "/sources", "/sign-in", "/v1/sources", "/bins/x", "/healthz", "/openapi.json", "/docs")
        assert [(await (await house.client()).get(path)).status_code for path in others] == [404] * len(others)
        child.stopping.set()
        while not house.listener.closed:
            await trio.testing.wait_all_tasks_blocked()
