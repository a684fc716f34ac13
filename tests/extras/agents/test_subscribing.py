"""An agent subscribes and gets each change once: live, after a disconnect, and after retention."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import httpx
import pytest
import trio

from actors.messages.views import SourceView
from extras.agents.protocol import Refused
from extras.agents.subscriptions import CHANGES, MOST, MOST_OF_KEY, MOST_RESOURCES, OF_SOURCE, Subscriber, Subscribers
from extras.agents.tools import Toolbox
from extras.agents.within import Reply, Service
from storage.records.identity import Millis, Seq
from storage.records.source import SourceRuntime
from tests.api.house import House, ids
from tests.api.listening import listening
from tests.support.build import a_source, a_source_id

SESSION = "Mcp-Session-Id"


class Agent:
    """An MCP client. `last` is the id of its last event."""

    def __init__(self, house: House, client: httpx.AsyncClient) -> None:
        self.house, self.client = house, client
        self.last = ""

    async def begin(self) -> None:
        answer = await self._post("initialize", {})
        self.client.headers[SESSION] = answer.headers[SESSION]

    async def _post(self, method: str, params: dict[str, Any]) -> httpx.Response:
        return await self.client.post("/mcp", json={"jsonrpc": "2.0", "id": 1, "method": method, "params": params})

    async def ask(self, method: str, **params: Any) -> dict[str, Any]:
        said: dict[str, Any] = (await self._post(method, params)).json()
        return said

    async def hear(self, count: int) -> list[str]:
        """Return the next notified resources, from a stream that resumes after the last event."""
        more = {"Last_Event_ID": self.last} if self.last else {}
        told: list[str] = []
        key = self.client.headers["Authorization"].removeprefix("Bearer ")
        async with listening(self.house, "/mcp", key, Mcp_Session_Id=self.client.headers[SESSION], **more) as stream:
            assert (stream.status, stream.headers["content-type"]) == (200, "text/event-stream; charset=utf-8")
            while len(told) < count:
                frame = dict(line.split(": ", 1) for line in (await stream.frame()).decode().splitlines())
                if "data" in frame:
                    message = json.loads(frame["data"])
                    assert message["method"] == "notifications/resources/updated"
                    told.append(message["params"]["uri"])
                    self.last = frame["id"]
        return told


@asynccontextmanager
async def an_agent(house: House, *resources: str) -> AsyncIterator[Agent]:
    async with await house.client("stream:read", "sources:read") as client:
        agent = Agent(house, client)
        await agent.begin()
        for uri in resources:
            assert (await agent.ask("resources/subscribe", uri=uri))["result"] == {}
        yield agent


def of(source: int) -> str:
    return f"{OF_SOURCE}{a_source_id(source)}"


async def test_a_change_of_a_source_reaches_its_subscribers_only(house: House) -> None:
    await house.publish("before", source=1)
    await house.publish("before", source=2)
    house.registry.views[a_source_id(1)] = SourceView(a_source(1), SourceRuntime())
    async with an_agent(house, CHANGES) as every, an_agent(house, of(1)) as one:
        await house.publish("of another", source=2)
        await house.publish("its own", source=1)
        assert await one.hear(1) == [of(1)]
        assert await every.hear(1) == [CHANGES]


async def test_many_changes_are_reported_once_and_a_second_stream_resumes(house: House, autojump_clock: object) -> None:
    async with an_agent(house, CHANGES) as agent:
        await house.publish(*(f"item {number}" for number in range(50)))
        assert await agent.hear(1) == [CHANGES]
        with trio.move_on_after(60) as patience:
            await agent.hear(1)
        assert patience.cancelled_caught, "told twice"
        await house.publish("another")
        assert await agent.hear(1) == [CHANGES]


async def test_a_heartbeat_is_no_change(house: House, autojump_clock: object) -> None:
    async with an_agent(house, CHANGES) as agent:
        await house.beat()
        with trio.move_on_after(60) as patience:
            await agent.hear(1)
        assert patience.cancelled_caught


async def test_a_cursor_stays_valid_in_a_new_session(house: House) -> None:
    async with an_agent(house, CHANGES) as agent:
        await house.publish("first")
        await agent.hear(1)
        await house.publish("while nobody listened")
        await agent.begin()
        await agent.ask("resources/subscribe", uri=CHANGES)
        assert await agent.hear(1) == [CHANGES]


async def test_a_client_away_longer_than_the_log_keeps_learns_of_it(house: House) -> None:
    async with an_agent(house, CHANGES) as agent:
        events = await house.publish("a", "b", "c")
        agent.last = ids(events)[0]
        await house.storage.log.retain(Seq(events[-1].seq + 1), 10, house.storage.lease)
        house.storage.tail.forget()
        await house.publish("d")
        house.storage.tail.since = lambda _: None  # type: ignore[method-assign, assignment]  # no longer in memory
        assert await agent.hear(1) == [CHANGES]


async def test_without_a_session_of_this_key_there_are_no_subscriptions_but_all_else(house: House) -> None:
    async with an_agent(house, CHANGES) as agent, await house.client("stream:read") as other:
        other.headers[SESSION] = agent.client.headers[SESSION]
        assert (await other.get("/mcp")).status_code == 404
        assert (await other.delete("/mcp")).status_code == 404
        stranger = Agent(house, other)
        refused = (await stranger.ask("resources/subscribe", uri=CHANGES))["error"]
        assert refused["code"] == -32602 and "initialize" in refused["message"]
        assert (await stranger.ask("resources/unsubscribe", uri=CHANGES))["error"]["code"] == -32602
        assert (await stranger.ask("ping"))["result"] == {}
        del other.headers[SESSION]
        assert (await other.get("/mcp")).status_code == 400
        bad = await agent.client.get("/mcp", headers={"Last-Event-ID": "x"})
        assert bad.status_code == 400 and bad.json()["errors"][0]["location"] == "header.Last-Event-ID"


async def test_a_session_that_was_ended_is_not_known_any_more(house: House) -> None:
    async with an_agent(house, CHANGES) as agent:
        assert (await agent.client.delete("/mcp")).status_code == 204
        assert (await agent.client.get("/mcp")).status_code == 404


@pytest.mark.parametrize("uri", ["sanderling://event/1", "https://a.example/", "", f"{OF_SOURCE}nothing"])
async def test_an_unknown_resource_can_not_be_subscribed_to(house: House, uri: str) -> None:
    async with an_agent(house) as agent:
        assert "error" in await agent.ask("resources/subscribe", uri=uri)


async def test_a_stream_that_another_of_the_same_client_has_followed_says_no_more(
    house: House, autojump_clock: object
) -> None:
    async with an_agent(house, CHANGES) as agent:
        heard: list[str] = []

        async def first() -> None:
            heard.extend(await Agent(house, agent.client).hear(1))

        async with trio.open_nursery() as nursery:
            nursery.start_soon(first)
            await trio.sleep(1)
            with trio.move_on_after(1):
                await agent.hear(1)
            await house.publish("news")
            assert await agent.hear(1) == [CHANGES]
            await trio.sleep(60)
            nursery.cancel_scope.cancel()
        assert heard == []


def test_the_host_idle_longest_is_forgotten_first() -> None:
    known = Subscribers()
    for number in range(MOST_OF_KEY):
        known.begin(f"a{number}", "a", Seq(0))
    assert known.of("a0", "a") is not None
    known.begin("a-more", "a", Seq(0))
    assert known.of("a1", "a") is None and known.of("a0", "a") is not None
    assert known.of("a0", "b") is None
    for number in range(MOST):
        known.begin(f"b{number}", f"b{number}", Seq(0))
    assert len(known) == MOST and known.of("a0", "a") is None


async def test_the_number_of_resources_is_bounded() -> None:
    subscriber = Subscriber("key", Seq(0))
    subscriber.resources = {f"{OF_SOURCE}{number}": None for number in range(MOST_RESOURCES)}
    box = Toolbox(Service(nobody, lambda: Millis(0), str, lambda source: False), subscriber)
    with pytest.raises(Refused, match=str(MOST_RESOURCES)):
        await box.subscribe(of(1))
    await box.subscribe(CHANGES)
    box.unsubscribe(CHANGES)
    assert len(subscriber.resources) == MOST_RESOURCES


async def nobody(*_: object) -> Reply:
    raise AssertionError("nothing is asked")
