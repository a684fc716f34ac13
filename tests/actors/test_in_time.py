"""Nothing is lost or late, through API, sources, log, matcher and deliveries."""

from __future__ import annotations

import json
from typing import Any

import httpx
import trio

from tests.actors.sources.push.test_push import Pusher
from tests.actors.test_delivering import HOUR, Town, asked
from tests.support.memory_network import Answer, web


async def listening(town: Town, client: httpx.AsyncClient) -> Pusher:
    pusher = Pusher()
    town.network.add("push.test", "93.184.216.37", pusher.serve)
    await asked(client, "/v1/sources", url="ws://push.test/live")
    await trio.sleep(2)
    return pusher


async def told(client: httpx.AsyncClient) -> list[str]:
    return [event["title"] for event in (await client.get("/v1/events")).json()["events"]]


async def test_a_frame_right_after_the_answer_is_admitted_by_the_alert_as_it_is_then(autojump_clock: object) -> None:
    async with trio.open_nursery() as nursery:
        town = Town(nursery)
        async with town.running() as client:
            pusher = await listening(town, client)
            await pusher.send({"title": "storm one"})
            assert await told(client) == []
            alert = await asked(client, "/v1/alerts", filter_query="storm")
            await pusher.send({"title": "storm two"})
            assert await told(client) == ["storm two"]
            await client.patch(f"/v1/alerts/{alert['id']}", json={"filter_query": "calm"})
            await pusher.send({"title": "storm three"}, {"title": "calm four"})
            assert await told(client) == ["storm two", "calm four"]
            await client.patch(f"/v1/alerts/{alert['id']}", json={"enabled": False})
            await pusher.send({"title": "calm five"})
            await client.patch(f"/v1/alerts/{alert['id']}", json={"enabled": True})
            await pusher.send({"title": "calm six"})
            await client.delete(f"/v1/alerts/{alert['id']}")
            await pusher.send({"title": "calm seven"})
            assert await told(client) == ["storm two", "calm four", "calm six"]
            nursery.cancel_scope.cancel()


async def test_a_push_source_that_is_busy_holds_up_no_change_of_alerts(autojump_clock: object) -> None:
    async with trio.open_nursery() as nursery:
        town = Town(nursery)
        async with town.running() as client:
            pusher = await listening(town, client)
            await asked(client, "/v1/alerts", filter_query="storm")

            async def stuck(*_: Any, **__: Any) -> bytes:
                await trio.sleep_forever()
                raise AssertionError

            town.world.jail.call = stuck  # type: ignore[method-assign]  # a frame that is never read
            await pusher.send({"title": "storm", "content": "x" * 100_000})
            began = trio.current_time()
            await asked(client, "/v1/alerts", filter_query="calm")
            assert trio.current_time() - began < 1
            nursery.cancel_scope.cancel()


async def test_each_alert_is_notified_of_a_failing_source_in_its_time_and_of_its_recovery(
    autojump_clock: object,
) -> None:
    async with trio.open_nursery() as nursery:
        town = Town(nursery)
        town.network.add("late.test", "93.184.216.38", web(lambda asked: Answer(200), late := []), 443)
        town.network.add("last.test", "93.184.216.39", web(lambda asked: Answer(200), last := []), 443)
        async with town.running() as client:
            await asked(client, "/v1/sources", url="http://news.test/feed")
            for after, host in ((60, "hook"), (7200, "late"), (86_400, "last")):
                alert = await asked(client, "/v1/alerts", filter_query="nothing", notice_after=after)
                await asked(client, f"/v1/alerts/{alert['id']}/destinations", url=f"https://{host}.test/in")
            server = town.network.servers.pop(("93.184.216.34", 80))
            await trio.sleep(HOUR)
            assert [len(each) for each in (town.arrived, late, last)] == [1, 0, 0]
            await trio.sleep(2 * HOUR)
            assert [len(each) for each in (town.arrived, late, last)] == [1, 1, 0]
            town.network.servers["93.184.216.34", 80] = server
            await trio.sleep(HOUR)
            for each in (town.arrived, late):
                kinds = [json.loads(arrival.body)["alert_type"] for arrival in each]
                assert kinds == ["source_failing", "source_recovered"]
            assert last == []
            nursery.cancel_scope.cancel()
