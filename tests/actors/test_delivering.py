"""From a feed to a receiver, through the API, registry, source, log, matcher, outbox, delivery and signatures."""

from __future__ import annotations

import json
import random
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial
from typing import Any

import httpx
import pytest
import trio

from actors.recorder.actor import signing_keys
from actors.setting_table import with_values
from actors.settings import Settings
from actors.system import System
from api.server.server import serve
from sanderling_client.receiver.receipt import judge
from sanderling_client.verify import check_encoded, check_webhook
from supervision import ChildSpec
from tests.actors.sources.harness import rss
from tests.api.house import BASE_URL, FakeChild, FakeRegistry, House, MemoryListener
from tests.support.in_loop import Disk, InLoopStorage
from tests.support.inline_jail import InlineJail
from tests.support.memory_network import Answer, MemoryNetwork, ReceivedRequest, a_world, web

HOUR = 3600.0


class Town:
    """The whole service between a feed at news.test and a receiver at hook.test."""

    def __init__(self, nursery: trio.Nursery) -> None:
        self.titles = ["First"]
        self.arrived: list[ReceivedRequest] = []
        self.statuses = [200]
        self.given: dict[str, Any] = {}
        network = self.network = MemoryNetwork(nursery)
        network.add("news.test", "93.184.216.34", web(lambda asked: Answer(body=rss(*self.titles))))
        network.add("hook.test", "93.184.216.35", web(self._receive, self.arrived), 443)
        self.pages: list[ReceivedRequest] = []
        network.add("pager.test", "93.184.216.36", web(lambda asked: Answer(200), self.pages), 443)
        self.listener = MemoryListener()
        entropy = random.Random("town").randbytes
        self.world = a_world(network, jail=InlineJail(), entropy=entropy, listen=self._listen)
        self.disk = Disk()
        self.restart()

    def restart(self) -> None:
        """Open the disk again, as the next process does."""
        self.storage = InLoopStorage(self.disk, self.disk.start("test"))

    def _receive(self, asked: ReceivedRequest) -> Answer:
        return Answer(self.statuses.pop(0) if len(self.statuses) > 1 else self.statuses[0])

    async def _listen(self, host: str, port: int) -> list[MemoryListener]:
        return [self.listener]

    @asynccontextmanager
    async def running(self) -> AsyncIterator[httpx.AsyncClient]:
        """Run the service during the block; yield a client of its API."""
        keys = await signing_keys(self.world, self.storage)
        system = self.system = System(
            self.world,
            with_values(Settings(), base_url=BASE_URL, **self.given),
            self.storage,
            keys,
            lambda context: [ChildSpec("web", partial(serve, context))],
        )
        async with trio.open_nursery() as nursery:
            nursery.start_soon(system.run)
            await trio.sleep(1)
            house = House(system.context, self.storage, FakeRegistry(), self.listener, FakeChild())
            async with await house.client() as client:
                yield client
            nursery.cancel_scope.cancel()


async def asked(client: httpx.AsyncClient, path: str, **body: Any) -> dict[str, Any]:
    answer = await client.post(path, json=body)
    assert answer.is_success, answer.text
    found: dict[str, Any] = answer.json()
    return found


async def test_an_event_of_a_matching_feed_is_posted_with_both_signatures_and_no_other_one(
    autojump_clock: object,
) -> None:
    async with trio.open_nursery() as nursery:
        town = Town(nursery)
        async with town.running() as client:
            source = await asked(client, "/v1/sources", url="http://news.test/feed")
            alert = await asked(
                client, "/v1/alerts", filter_query="price OR plan", language="en", source_ids=[source["id"]]
            )
            hook = await asked(client, f"/v1/alerts/{alert['id']}/destinations", url="https://hook.test/in")
            town.titles += ["Weather", "New prices"]
            await trio.sleep(2 * HOUR)
            (arrival,) = town.arrived
            told = json.loads(arrival.body)
            assert (told["title"], told["source_id"]) == ("New prices", source["id"])
            assert await both_verify(client, hook["secret"], arrival)
            (line,) = (await client.get(f"/v1/destinations/{hook['id']}/deliveries")).json()
            assert (line["webhook_id"], line["result"], line["status_code"]) == (told["id"], "sent", 200)
            assert (await client.get(f"/v1/alerts/{alert['id']}")).json()["match_count"] == 1
            assert (await client.get(f"/v1/destinations/{hook['id']}")).json()["last_delivery_at"] is not None
            history = (await client.get("/v1/events")).json()["events"]
            assert {found["title"] for found in history} == {"Weather", "New prices"}


async def test_in_an_envelope_of_cloudevents_both_signatures_verify_too(autojump_clock: object) -> None:
    async with trio.open_nursery() as nursery:
        town = Town(nursery)
        async with town.running() as client:
            await asked(client, "/v1/sources", url="http://news.test/feed")
            alert = await asked(client, "/v1/alerts", filter_query="")
            path = f"/v1/alerts/{alert['id']}/destinations"
            hook = await asked(client, path, url="https://hook.test/in", format="cloudevents")
            assert hook["format"] == "cloudevents"
            town.titles += ["News"]
            await trio.sleep(2 * HOUR)
            (arrival,) = town.arrived
            envelope = json.loads(arrival.body)
            assert arrival.headers["content-type"] == "application/cloudevents+json"
            assert envelope["id"] == arrival.headers["webhook-id"] == envelope["data"]["id"]
            keys = (await client.get("/.well-known/jwks.json")).json()
            now = int(arrival.headers["webhook-timestamp"])
            receipt = judge(arrival.headers, arrival.body, secrets=[hook["secret"]], keys=keys, now=now)
            assert receipt.shape == "event" and not receipt.failed
            plain = await client.patch(f"/v1/destinations/{hook['id']}", json={"format": "event"})
            assert plain.json()["format"] == "event"
            town.titles += ["More news"]
            await trio.sleep(2 * HOUR)
            assert town.arrived[1].headers["content-type"] == "application/json"
            assert json.loads(town.arrived[1].body)["title"] == "More news"


async def both_verify(client: httpx.AsyncClient, secret: str, arrival: ReceivedRequest) -> bool:
    mac = check_webhook([secret], arrival.headers, arrival.body, now=int(arrival.headers["webhook-timestamp"]))
    published = (await client.get("/.well-known/jwks.json")).content
    return mac.valid and check_encoded(arrival.body, published).valid


async def test_a_test_and_a_rotation_reach_the_receiver_with_signatures_that_verify(autojump_clock: object) -> None:
    async with trio.open_nursery() as nursery:
        town = Town(nursery)
        async with town.running() as client:
            alert = await asked(client, "/v1/alerts", filter_query="")
            hook = await asked(client, f"/v1/alerts/{alert['id']}/destinations", url="https://hook.test/in")
            path = f"/v1/destinations/{hook['id']}"
            new = (await client.post(f"{path}/rotate-secret")).json()["secret"]
            found = (await client.post(f"{path}/test")).json()
            assert (found["result"], found["status_code"]) == ("sent", 200)
            assert await both_verify(client, new, town.arrived[0])
            assert await both_verify(client, hook["secret"], town.arrived[0])
            await trio.sleep(24 * HOUR + 1)
            town.statuses = [410]
            assert (await client.post(f"{path}/test")).json()["result"] == "terminal"
            assert await both_verify(client, new, town.arrived[1])
            assert not await both_verify(client, hook["secret"], town.arrived[1])


@pytest.mark.parametrize("change", [{"enabled": False}, {"filter_query": "nothing like it"}])
async def test_a_change_of_an_alert_is_in_force_when_it_is_answered(
    autojump_clock: object, change: dict[str, Any]
) -> None:
    async with trio.open_nursery() as nursery:
        town = Town(nursery)
        async with town.running() as client:
            await asked(client, "/v1/sources", url="http://news.test/feed")
            alert = await asked(client, "/v1/alerts", filter_query="price")
            await asked(client, f"/v1/alerts/{alert['id']}/destinations", url="https://hook.test/in")
            assert (await client.patch(f"/v1/alerts/{alert['id']}", json=change)).status_code == 200
            town.titles += ["New prices"]
            await trio.sleep(2 * HOUR)
            assert len((await client.get("/v1/events")).json()["events"]) == 1
            assert town.arrived == []


async def test_d6_a_failing_destination_is_a_signed_event_for_alerts_that_ask_and_never_for_itself(
    autojump_clock: object,
) -> None:
    about_it = ["destination_failing", "destination_disabled"]
    async with trio.open_nursery() as nursery:
        town = Town(nursery)
        async with town.running() as client:
            await asked(client, "/v1/sources", url="http://news.test/feed")
            alert = await asked(client, "/v1/alerts", filter_query="price", notices=about_it, channel="mine")
            hook = await asked(client, f"/v1/alerts/{alert['id']}/destinations", url="https://hook.test/in")
            pager = await asked(client, f"/v1/alerts/{alert['id']}/destinations", url="https://pager.test/in")
            town.statuses = [500, 500, 500, 500, 500, 410]
            town.titles.append("New prices")
            await trio.sleep(10 * HOUR)
            told = [json.loads(page.body) for page in town.pages]
            assert [event.get("alert_type") for event in told] == [None, *about_it]
            assert len({page.headers["webhook-id"] for page in town.pages}) == 3
            for page in town.pages:
                assert await both_verify(client, pager["secret"], page)
            assert told[2]["url"] == f"{BASE_URL}/v1/destinations/{hook['id']}"
            assert [json.loads(arrival.body)["title"] for arrival in town.arrived] == ["New prices"] * 6
            history = (await client.get("/v1/events", params={"source": told[1]["source_id"]})).json()["events"]
            assert [event["alert_type"] for event in history] == about_it
            for channel in ("alerts", "mine"):
                line = {"Accept": "application/x-ndjson"}
                url = f"/v1/streams/{channel}?since=00000000-0000-7000-8000-000000000000"
                async with client.stream("GET", url, headers=line) as stream:
                    found: list[dict[str, Any]] = []
                    with trio.move_on_after(20):
                        async for row in stream.aiter_lines():
                            found += [json.loads(row)] if row.strip() else []
                assert [event["alert_type"] for event in found if event.get("alert_type")] == about_it
