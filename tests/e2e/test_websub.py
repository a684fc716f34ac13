"""A subscriber from npm finds the hub that a feed names, and receives new entries until it unsubscribes."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import feedparser
import httpx
import pytest
import trio

from sanderling.client.api import Client, ServiceRefused
from tests.e2e.origin import Origin
from tests.e2e.service import a_key, a_service, add
from tests.support.node import modules
from tests.support.waiting import HANG

pytestmark = pytest.mark.real

SUBSCRIBER = Path(__file__).parent / "websub_subscriber.mjs"


async def said_by(process: trio.Process) -> AsyncIterator[dict[str, Any]]:
    """Yield a subscriber's output, line by line."""
    assert process.stdout is not None
    rest = b""
    async for piece in process.stdout:
        *lines, rest = (rest + piece).split(b"\n")
        for line in lines:
            yield json.loads(line)


async def look(client: Client, source: object) -> None:
    """Check a source as soon as its host allows the next request."""
    with trio.fail_after(HANG):
        while True:
            try:
                await client.ask("POST", f"/v1/sources/{source}/check")
                return
            except ServiceRefused as refused:
                assert refused.status == 429
                await trio.sleep(0.2)


async def test_a_subscriber_from_npm_gets_updates_until_it_unsubscribes(tmp_path: Path) -> None:
    folder = await trio.to_thread.run_sync(lambda: modules([SUBSCRIBER]))
    key, origin = a_key(tmp_path), Origin()
    node = shutil.which("node")
    assert node is not None
    async with trio.open_nursery() as nursery:
        await nursery.start(origin.serve)
        async with (
            a_service(tmp_path, SANDERLING_HUB_NETWORKS="127.0.0.0/8") as service,
            Client(service.url, key) as client,
        ):
            source = (await add(client, f"http://{origin.place}/feed", backfill=1))["id"]
            shown = {"title": "News", "source_ids": [source]}  # a loopback source is private unless named
            made = await client.ask("POST", "/v1/publications", json=shown)
            topic = made.json()["feeds"]["atom"]
            async with httpx.AsyncClient(timeout=HANG) as reader:
                found = feedparser.parse((await reader.get(topic)).content)
            (hub,) = (link.href for link in found.feed.links if link.rel == "hub")
            process = await trio.lowlevel.open_process(
                [node, str(folder / SUBSCRIBER.name), topic, hub], stdin=subprocess.PIPE, stdout=subprocess.PIPE
            )
            try:
                with trio.fail_after(HANG):
                    says = said_by(process)
                    assert await anext(says) == {"name": "subscribe", "topic": topic}
                    origin.items.append("a godwit was seen")
                    await look(client, source)
                    told = await anext(says)
                    assert (told["name"], told["topic"], told["hub"]) == ("feed", topic, hub)
                    assert [entry.title for entry in feedparser.parse(told["text"]).entries] == ["a godwit was seen"]
                    assert process.stdin is not None
                    await process.stdin.send_all(b"leave\n")
                    assert await anext(says) == {"name": "unsubscribe", "topic": topic}
                    origin.items.append("nobody is told of this")
                    await look(client, source)
            finally:
                process.kill()
                with trio.move_on_after(HANG, shield=True):
                    await process.wait()
            rest = [line async for line in says]
            assert rest == []
        nursery.cancel_scope.cancel()
