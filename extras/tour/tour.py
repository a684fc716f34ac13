"""`sanderling try`: one change, from the page to your machine, in under a minute, explained step by step.

It runs a private service in a temporary folder, with the built-in practice page. Everything shown is real: the event
from the stream, its signature checked against the published keys, an actual delivery.
"""

from __future__ import annotations

import json
import shutil
import signal
import subprocess
import tempfile
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from functools import partial
from math import inf
from pathlib import Path
from textwrap import fill
from typing import Any

import click
import msgspec
import trio
from httpx_sse import ServerSentEvent

from actors.settings import Settings
from sanderling import keyring
from sanderling.client.api import Client
from sanderling.client.lines import Renderer
from sanderling.environment import environ, typed, wants_colour
from sanderling.exits import CommandFailed, Exit
from sanderling.program import service_command
from sanderling_client.verify import check_encoded
from storage.records.secrecy import plain

SCOPES = ("sources:read", "sources:write", "stream:read", "alerts:read", "alerts:write", "bins:read", "bins:write")
WITHIN = 30.0  # seconds for an event or a delivery; both take one or two
BETWEEN = 3.2  # minimum seconds between two changes of the practice page


@click.command("try")
@click.option("--keep", is_flag=True, help="Run the service until Ctrl-C, and keep its folder.")
def try_it(keep: bool) -> int:
    """See one change detected, signed, explained and delivered: in under a minute, offline, leaving nothing behind."""
    with own_folder(keep=keep) as folder:
        return trio.run(partial(_tour, environ(), folder, keep=keep))


async def _tour(variables: Mapping[str, str], folder: Path, *, keep: bool) -> int:
    _key, plaintext = keyring.create(Settings(data=str(folder)), "try", SCOPES)
    finished = False
    async with trio.open_nursery() as nursery:
        nursery.start_soon(end_on_signal, nursery.cancel_scope)
        stay = "" if keep else ", and gone when this ends"
        _say(f"Starting a service of your own; its data is in {folder}{stay}.")
        async with own_service(variables, folder) as url, Client(url, plaintext) as client:
            source = await _Guide(client, Renderer(width=100, colour=wants_colour(variables))).walk()
            finished = True
            if keep:
                _say("\nGo on in another terminal:")
                _say(f"  {typed('tail', str(folder))}")
                _say(f"  {typed('add https://example.org/news', str(folder))}")
                _say(f'  curl -N -H "Authorization: Bearer {plaintext}" "{url}/v1/stream?source={source}"')
                _say(f"\nThe service stays at {url} until Ctrl-C.")
                await trio.sleep(inf)  # cancelled by Ctrl-C
        nursery.cancel_scope.cancel()
    if keep:
        _say(f"\nTo go on later: {typed('serve', str(folder))}")
    elif finished:
        _say("\nThat was all; nothing of it is left. A service that stays, and in another terminal your first source:")
        for command in ("serve", "add https://example.org/news", "tail"):
            _say(f"  {typed(command)}")
    return Exit.WELL if finished else Exit.FAILED


class _Guide:
    """Walks through one change and its effects."""

    def __init__(self, client: Client, renderer: Renderer) -> None:
        self._client, self._renderer = client, renderer
        self._stations = 0
        self._send, self._events = trio.open_memory_channel[bytes](16)
        """The practice source's few event bodies; both ends live as long as the walk."""

    async def walk(self) -> str:
        """Show everything and return the source's id. Raises CommandFailed if something does not arrive."""
        source = await self._show_source()
        async with trio.open_nursery() as nursery:
            query = [("source", source["id"]), ("since", "earliest")]
            nursery.start_soon(partial(self._client.follow, "/v1/stream", query, self._take))
            event = await self._show_change()
            await self._show_signature(event)
            await self._show_why(event)
            await self._show_delivery(source)
            nursery.cancel_scope.cancel()
        return str(source["id"])

    async def _show_source(self) -> dict[str, Any]:
        self._station("The source")
        page: dict[str, Any] = (await self._ask("POST", "/v1/practice"))[0]["source"]
        _say(f"  {page['url']}, a practice page that the service serves itself.")
        _say(f"  Watched as {page['type']}. Evidence: {page['detection']['evidence']}.")
        return page

    async def _show_change(self) -> bytes:
        self._station("The change")
        changed = await self._ask("POST", "/v1/practice/page/change")
        began = trio.current_time()
        _say(f"  {changed['says']}")
        self._station("The event")
        event = await self._event()
        for line in self._renderer.lines(msgspec.json.decode(event)):
            click.echo("  " + line)
        _say(f"  It arrived {trio.current_time() - began:.1f} s after the change, over GET /v1/stream.")
        return event

    async def _show_signature(self, event: bytes) -> None:
        self._station("The signature")
        keys = (await self._client.ask("GET", "/.well-known/jwks.json")).content
        verdict, forged = check_encoded(event, keys), check_encoded(_forged(event), keys)
        if not verdict.valid or forged.valid:
            raise CommandFailed(f"The signature of the event did not verify: {verdict.reason}.")
        _say(f"  verified: {verdict.reason}.")
        _say(f"  With one digit altered: {forged.cause.value}: {forged.reason}.")

    async def _show_why(self, event: bytes) -> None:
        self._station("The reason for this event")
        why = await self._ask("GET", f"/v1/events/{msgspec.json.decode(event)['id']}/why")
        _say(fill(plain(why["says"]), 100, initial_indent="  ", subsequent_indent="  "))

    async def _show_delivery(self, source: Mapping[str, Any]) -> None:
        self._station("A webhook")
        bin = await self._ask("POST", "/v1/webhook-bins")
        wanted = {"name": "Practice", "filter_query": "", "source_ids": [source["id"]]}
        alert = await self._ask("POST", "/v1/alerts", json=wanted)
        await self._ask(
            "POST", f"/v1/alerts/{alert['id']}/destinations", json={"url": bin["url"], "label": "practice bin"}
        )
        _say("  An alert over the page delivers to a test inbox of the service, which stores the requests.")
        await trio.sleep(BETWEEN)
        _say(f"  {(await self._ask('POST', '/v1/practice/page/change'))['says']}")
        capture = await self._capture(bin["id"])
        checks = capture["signature_check"]
        _say(f"  Delivered: {capture['method']} with {capture['size']} bytes.")
        for name, check in (("webhook signature (HMAC)", checks["hmac"]), ("event signature", checks["ed25519"])):
            if not check["ok"]:
                raise CommandFailed(f"The {name} of the delivery did not verify: {check['why']}.")
            _say(f"  {name}: {check['cause']}: {check['why']}.")

    async def _event(self) -> bytes:
        with trio.move_on_after(WITHIN):
            return await self._events.receive()
        raise CommandFailed(f"No event came within {WITHIN:g} s.")

    async def _capture(self, bin: str) -> dict[str, Any]:
        with trio.move_on_after(WITHIN):
            while True:
                found: list[dict[str, Any]] = await self._ask("GET", f"/v1/webhook-bins/{bin}/captures")
                if found:
                    return found[0]
                await trio.sleep(0.2)
        raise CommandFailed(f"No delivery came within {WITHIN:g} s.")

    async def _ask(self, method: str, path: str, **request: Any) -> Any:
        return (await self._client.ask(method, path, **request)).json()

    def _take(self, event: ServerSentEvent) -> None:
        self._send.send_nowait(event.data.encode())

    def _station(self, title: str) -> None:
        self._stations += 1
        _say(f"\n{self._stations}. {title}")


def _forged(event: bytes) -> bytes:
    altered = msgspec.json.decode(event)
    altered["content"] += "0"
    return msgspec.json.encode(altered)


def _say(words: str) -> None:
    click.echo(words)


START_WITHIN, STOP_WITHIN = 30.0, 20.0


@contextmanager
def own_folder(*, keep: bool) -> Iterator[Path]:
    """Make a temporary folder, and remove it at the end unless `keep`."""
    folder = Path(tempfile.mkdtemp(prefix="sanderling-try-"))
    try:
        yield folder
    finally:
        if not keep:
            shutil.rmtree(folder, ignore_errors=True)


@asynccontextmanager
async def own_service(variables: Mapping[str, str], folder: Path) -> AsyncIterator[str]:
    """Run `sanderling serve` on a data folder and a free port; yield its address, stop it in order."""
    command, environment = service_command(variables)
    process = await trio.lowlevel.open_process(
        [*command, "serve", "--data", str(folder)], env=environment | {"SANDERLING_PORT": "0"}, stderr=subprocess.PIPE
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
    """Return the address from the service's log. Raises CommandFailed with the log if it does not start."""
    said = []
    with trio.move_on_after(START_WITHIN):
        async for line in lines:
            said.append(line)
            if '"serve.ready"' in line:
                return str(json.loads(line)["url"])
    raise CommandFailed("The service did not start:\n" + "\n".join(said[-20:]))


async def _drain(lines: AsyncIterator[str]) -> None:
    """Keep reading the log so that its pipe never fills; print errors."""
    async for line in lines:
        if '"level": "error"' in line:
            click.echo(line, err=True)


async def end_on_signal(scope: trio.CancelScope) -> None:
    with trio.open_signal_receiver(signal.SIGINT, signal.SIGTERM) as signals:
        async for _number in signals:
            scope.cancel()
