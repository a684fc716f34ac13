"""`sanderling demo`: a service, an origin, three sources, and their events live.

Needs no internet and leaves nothing behind. It shows a running service; `sanderling try` explains one event instead.
The origin runs in this process, the service in a separate one (`own_service`).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path

import click
import trio

from actors.settings import Settings
from sanderling import keyring
from sanderling.client.api import Client
from sanderling.client.terminal import Audience
from sanderling.exits import CommandFailed, Exit
from sanderling.walkthrough.origin import DemoOrigin, own_material, real_material
from sanderling.walkthrough.own_service import end_on_signal, own_folder, own_service

PACE = 3.0
"""Seconds between two steps of the origin."""
CHECK_EVERY = 1.5
"""Seconds between checks requested by the demo; the adaptive pace, a minute at least, is too slow to watch."""
SETTINGS = {
    "SANDERLING_ALLOW_NETWORKS": "127.0.0.0/8",
    "SANDERLING_CADENCE_FLOOR": "1",
    "SANDERLING_HOST_RATE": "50",
}
SCOPES = ("sources:read", "sources:write", "stream:read")
PATHS = {"feed": "http://{}/feed", "html": "http://{}/page", "push": "ws://{}/socket"}
EXTRA = {"push": {"filter": ""}}
"""Push sources need a filter; the empty query passes every frame."""


def demo(variables: Mapping[str, str], *, seconds: float | None, events: int | None) -> int:
    """Run the demo until Ctrl-C, `seconds` or `events`; return 1 if it ends before `events` arrived."""
    with own_folder("demo") as folder:
        return trio.run(partial(_demo, variables, folder, seconds=seconds, events=events))


async def _demo(variables: Mapping[str, str], folder: Path, *, seconds: float | None, events: int | None) -> int:
    _say("Starting an origin...")
    material = await trio.to_thread.run_sync(real_material) or own_material()
    _key, plaintext = keyring.create(Settings(data=str(folder)), "demo", SCOPES)
    audience = Audience(variables, events)
    async with trio.open_nursery() as nursery:
        nursery.start_soon(end_on_signal, nursery.cancel_scope)
        place = await nursery.start(DemoOrigin(material, PACE).serve)
        _say(f"The origin is at http://{place}; its feed and page are {material.whose}.")
        async with own_service(variables, folder, SETTINGS) as url, Client(url, plaintext) as client:
            _say(f"The service is at {url}.")
            with trio.move_on_after(seconds if seconds is not None else math.inf) as audience.scope:
                await _watch(client, place, audience)
        nursery.cancel_scope.cancel()
    return Exit.WELL if audience.content else Exit.FAILED


async def _watch(client: Client, place: str, audience: Audience) -> None:
    """Add the three sources and print their events forever."""
    polled = []
    for tier, pattern in PATHS.items():
        source = await client.ask("POST", "/v1/sources", json={"url": pattern.format(place)} | EXTRA.get(tier, {}))
        record = source.json()
        _say(f"  added {record['url']}: {record['type']}. {record['detection']['evidence']}")
        if tier != "push":
            polled.append(record["id"])
    _say("Events, as they come; Ctrl-C ends all:\n")
    async with trio.open_nursery() as nursery:
        nursery.start_soon(_keep_looking, client, polled)
        await client.follow("/v1/stream", [], audience.take, tell=_say)


async def _keep_looking(client: Client, sources: Sequence[str]) -> None:
    while True:
        await trio.sleep(CHECK_EVERY)
        for source in sources:
            try:
                await client.ask("POST", f"/v1/sources/{source}/check")
            except CommandFailed as error:
                if error.code != Exit.TRY_AGAIN:  # too soon: the next time will do
                    raise


def _say(words: str) -> None:
    click.echo(words, err=True)
