"""`sanderling demo`: a service, the shore, three sources, and the events as they come.

It needs no internet and leaves nothing behind. The shore runs in this process, the service in one of its own, started
as a user would start it and spoken to as any client would.
"""

from __future__ import annotations

import json
import math
import shutil
import signal
import subprocess
import tempfile
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path

import click
import trio

from actors.settings import Settings
from sanderling import keyring
from sanderling.client import Client
from sanderling.environment import service_command
from sanderling.exits import CommandFailed, Exit
from sanderling.shore import Shore, own_material, real_material
from sanderling.terminal import Audience

PACE = 3.0
"""Seconds between two steps of the shore."""
CHECK_EVERY = 1.5
"""So often the demo asks for a look: the adaptive pace, a minute at least, would be no show."""
START_WITHIN, STOP_WITHIN = 30.0, 20.0
SETTINGS = {
    "SANDERLING_PORT": "0",
    "SANDERLING_ALLOW_NETWORKS": "127.0.0.0/8",
    "SANDERLING_CADENCE_FLOOR": "1",
    "SANDERLING_HOST_RATE": "50",
}
SCOPES = ("sources:read", "sources:write", "stream:read")
PATHS = {"feed": "http://{}/feed", "html": "http://{}/page", "push": "ws://{}/socket"}
EXTRA = {"push": {"filter": ""}}
"""A push source is filtered, not archived; the empty query lets every frame pass."""


def demo(variables: Mapping[str, str], *, seconds: float | None, events: int | None) -> int:
    """Run the demo until Ctrl-C, or for so long or so many events; return 1 when it ends before these have come."""
    folder = Path(tempfile.mkdtemp(prefix="sanderling-demo-"))
    try:
        return trio.run(partial(_demo, variables, folder, seconds=seconds, events=events))
    finally:
        shutil.rmtree(folder, ignore_errors=True)


async def _demo(variables: Mapping[str, str], folder: Path, *, seconds: float | None, events: int | None) -> int:
    _say("Unpacking the shore...")
    material = await trio.to_thread.run_sync(real_material) or own_material()
    _key, plaintext = keyring.create(Settings(data=str(folder)), "demo", SCOPES)
    audience = Audience(variables, events)
    async with trio.open_nursery() as nursery:
        nursery.start_soon(_end_on_signal, nursery.cancel_scope)
        place = await nursery.start(Shore(material, PACE).serve)
        _say(f"The shore is at http://{place}; its feed and page are {material.whose}.")
        async with _service(variables, folder) as url, Client(url, plaintext) as client:
            _say(f"The service is at {url}.")
            with trio.move_on_after(seconds if seconds is not None else math.inf) as audience.scope:
                await _watch(client, place, audience)
        nursery.cancel_scope.cancel()
    return Exit.WELL if audience.content else Exit.FAILED


async def _watch(client: Client, place: str, audience: Audience) -> None:
    """Add the three sources and show what they bring, for ever."""
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


@asynccontextmanager
async def _service(variables: Mapping[str, str], folder: Path) -> AsyncIterator[str]:
    """Run `sanderling serve` in a process of its own; gives its address, ends it in order."""
    command, environment = service_command(variables)
    process = await trio.lowlevel.open_process(
        [*command, "serve", "--data", str(folder)], env=environment | SETTINGS, stderr=subprocess.PIPE
    )
    try:
        assert process.stderr is not None
        lines = _lines(process.stderr)
        url = await _address(lines)
        async with trio.open_nursery() as nursery:
            nursery.start_soon(_drain, lines)
            yield url
            nursery.cancel_scope.cancel()
    finally:
        with trio.move_on_after(STOP_WITHIN, shield=True):
            process.terminate()
            await process.wait()
        process.kill()


async def _lines(stream: trio.abc.ReceiveStream) -> AsyncIterator[str]:
    rest = b""
    async for chunk in stream:
        *lines, rest = (rest + chunk).split(b"\n")
        for line in lines:
            yield line.decode(errors="replace")


async def _address(lines: AsyncIterator[str]) -> str:
    """Return what the service's log says of its address. Raises CommandFailed with that log when it doesn't start."""
    said = []
    with trio.move_on_after(START_WITHIN):
        async for line in lines:
            said.append(line)
            if '"serve.ready"' in line:
                return str(json.loads(line)["url"])
    raise CommandFailed("The service did not start:\n" + "\n".join(said[-20:]))


async def _drain(lines: AsyncIterator[str]) -> None:
    """Read the log on, so that its pipe never fills; show what went wrong."""
    async for line in lines:
        if '"level": "error"' in line:
            _say(line)


async def _end_on_signal(scope: trio.CancelScope) -> None:
    with trio.open_signal_receiver(signal.SIGINT, signal.SIGTERM) as signals:
        async for _number in signals:
            scope.cancel()


def _say(words: str) -> None:
    click.echo(words, err=True)
