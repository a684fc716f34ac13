"""The main path, for real: a URL of each tier goes in, signed events come out, a restart loses and repeats nothing."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any

import httpx
import pytest
import trio
from httpx_sse import ServerSentEvent

from sanderling.client.api import Client
from sanderling.exits import CommandFailed
from tests.e2e.origin import PARAGRAPH, Origin
from tests.e2e.service import a_key, a_service, add
from tests.support.waiting import HANG

pytestmark = pytest.mark.real

BEGINNING = "00000000-0000-7000-8000-000000000000"


class Reader:
    def __init__(self) -> None:
        self.events: list[dict[str, Any]] = []
        self._news = trio.Event()

    def take(self, event: ServerSentEvent) -> None:
        body = json.loads(event.data)
        assert (event.event, event.id) == (body["source_type"], body["id"])
        self.events.append(body)
        self._news.set()
        self._news = trio.Event()

    async def wait_for(self, wanted: Callable[[dict[str, Any]], bool]) -> dict[str, Any]:
        with trio.fail_after(HANG):
            while True:
                for event in self.events:
                    if wanted(event):
                        return event
                await self._news.wait()

    @property
    def titles(self) -> list[str]:
        return [event["title"] for event in self.events]


@asynccontextmanager
async def reading(client: Client, since: str = BEGINNING) -> AsyncIterator[Reader]:
    reader = Reader()
    async with trio.open_nursery() as nursery:
        nursery.start_soon(client.follow, "/v1/stream", [("since", since)], reader.take)
        yield reader
        nursery.cancel_scope.cancel()


@asynccontextmanager
async def checking(client: Client, source: object) -> AsyncIterator[None]:
    """Request a check every so often, as politely as the floor of a second allows."""

    async def ask() -> None:
        while True:
            with suppress(CommandFailed):  # too soon: a request may be late, and the next one in time
                await client.ask("POST", f"/v1/sources/{source}/check")
            await trio.sleep(1.2)

    async with trio.open_nursery() as nursery:
        await trio.sleep(1.2)
        nursery.start_soon(ask)
        yield
        nursery.cancel_scope.cancel()


async def test_a_source_of_each_tier_becomes_a_stream_of_signed_events(tmp_path: Path) -> None:
    origin, key = Origin(), a_key(tmp_path)
    async with trio.open_nursery() as nursery:
        await nursery.start(origin.serve)
        async with a_service(tmp_path) as service, Client(service.url, key) as client, reading(client) as reader:
            feed = await add(client, f"http://{origin.place}/feed", tags=["beach"])
            page = await add(client, f"http://{origin.place}/page")
            push = await add(client, f"ws://{origin.place}/socket", filter="sanderlings")
            assert [feed["type"], page["type"], push["type"]] == ["feed", "html", "push"]

            origin.items.append("a knot")
            origin.paragraphs.append(f"Twelve sanderlings were counted this morning. {PARAGRAPH}")
            origin.say(json.dumps({"id": "1", "title": "one dunlin", "text": "nobody asked for it"}))
            origin.say(json.dumps({"id": "2", "title": "two sanderlings", "text": "on the wire"}))
            async with checking(client, feed["id"]), checking(client, page["id"]):
                note = await reader.wait_for(lambda event: event["source_type"] == "feed")
                change = await reader.wait_for(lambda event: event["source_type"] == "html")
                frame = await reader.wait_for(lambda event: event["source_type"] == "push")

            assert (note["title"], note["source_id"]) == ("a knot", feed["id"])
            assert "label:beach" in note["tags"]
            assert any("Twelve sanderlings" in text for text in change["diff"]["added"])
            assert change["delta"]["stats"]["added"] == 1
            assert frame["title"] == "two sanderlings"
            assert all(event["signature"] and event["key_id"] and event["signed_at"] for event in reader.events)
            assert await service.end() == 0
        nursery.cancel_scope.cancel()


async def test_a_restart_resumes_and_emits_nothing_twice(tmp_path: Path) -> None:
    origin, key = Origin(), a_key(tmp_path)
    async with trio.open_nursery() as nursery:
        await nursery.start(origin.serve)
        async with a_service(tmp_path) as service, Client(service.url, key) as client, reading(client) as reader:
            source = await add(client, f"http://{origin.place}/feed")
            origin.items.append("before the stop")
            async with checking(client, source["id"]):
                last = await reader.wait_for(lambda event: event["title"] == "before the stop")
            assert await service.end() == 0

        origin.items.append("while it was down")
        async with a_service(tmp_path) as service, Client(service.url, key) as client:
            async with reading(client, last["id"]) as after, reading(client) as whole, checking(client, source["id"]):
                await after.wait_for(lambda event: event["title"] == "while it was down")
                await whole.wait_for(lambda event: event["title"] == "while it was down")
            assert after.titles == ["while it was down"]
            assert whole.titles == ["before the stop", "while it was down"]
        nursery.cancel_scope.cancel()


async def test_a_key_made_and_revoked_while_the_service_runs_counts_at_once(tmp_path: Path) -> None:
    from sanderling.exits import CommandFailed
    from tests.e2e.service import run_command

    async with a_service(tmp_path) as service:
        made = await run_command("keys", "create", "--name", "late", "--scope", "sources:read", "--data", str(tmp_path))
        key = made.stdout.decode().splitlines()[-1]
        async with Client(service.url, key) as client:
            assert (await client.ask("GET", "/v1/sources")).json() == []
            await run_command("keys", "revoke", "late", "--data", str(tmp_path))
            with pytest.raises(CommandFailed, match="malformed, unknown, expired or deleted"):
                await client.ask("GET", "/v1/sources")


async def test_a_stop_does_not_wait_for_an_open_stream(tmp_path: Path) -> None:
    key = a_key(tmp_path)
    async with (
        a_service(tmp_path, SANDERLING_DRAIN="120") as service,
        httpx.AsyncClient(base_url=service.url, headers={"X-API-Key": key}, timeout=HANG) as client,
        client.stream("GET", "/v1/stream") as stream,
    ):
        with trio.fail_after(60):  # half of the drain
            assert await service.end() == 0
        assert b": ended: " in await stream.aread()
