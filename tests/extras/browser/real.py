"""A real browser and a small web on loopback: an allowed origin, and a canary that must stay unreachable."""

from __future__ import annotations

import os
import signal
import subprocess
import tempfile
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from functools import partial
from ipaddress import ip_network
from types import SimpleNamespace
from typing import Any
from urllib.parse import unquote

import h11
import pytest
import trio

from actors.egress.guard import Guard
from actors.egress.transport import TcpConnector, public_trust
from actors.world import Rendered, RenderFailed, RenderRequest, ResolveFailed
from extras.browser.flags import kind_of
from extras.browser.pool import ChromiumPool
from extras.browser.real import holder_command
from extras.browser.remote import RemoteBrowser, read_remote
from sanderling.environment import environ
from sanderling.program import find_browser
from sanderling.real_world import entropy, open_datagrams, open_listeners
from tests.support.memory_network import Answer, ReceivedRequest, web
from tests.support.waiting import HANG

ORIGIN, INSIDE = "127.0.0.9", "127.0.0.1"
BROWSER, MISSING = find_browser(environ().get("TEST_BROWSER", ""))
PATIENCE: Mapping[str, float] = {
    "engine.HUNG_AFTER": 60.0,
    "engine.CALLS": 150,
    "engine.CLOSED_WITHIN": 60.0,
    "engine.EVALUATED_WITHIN": 60.0,
    "engine._AGENT_WITHIN": 60.0,
    "holder.LAST_WORD_WITHIN": 60.0,
    "pool.PROOF_DEADLINE": 60.0,
    "pool.READY_WITHIN": 120.0,
}
"""Limits for a real browser on a busy machine. `test_remote.py` tests the product's limits on the virtual clock."""
NAMES: Mapping[str, Sequence[Sequence[str]]] = {
    "site.test": [[ORIGIN]],
    "inside.test": [[INSIDE]],
    "mixed.test": [[ORIGIN, INSIDE]],
    "rebound.test": [[ORIGIN], [INSIDE]],
    "localhost": [[INSIDE, "::1"]],
}


class Names:
    """Resolve the tests' host names; `rebound.test` resolves elsewhere from the second time on."""

    def __init__(self) -> None:
        self._asked: dict[str, int] = {}

    async def resolve(self, host: str) -> Sequence[str]:
        await trio.lowlevel.checkpoint()
        answers = NAMES.get(host)
        if answers is None:
            raise ResolveFailed("no such name", local=False)
        count = self._asked[host] = self._asked.get(host, 0) + 1
        return answers[min(count, len(answers)) - 1]


@dataclass
class Web:
    """pages: answers by path. seen: requests to the origin. hits: paths or names that reached a canary."""

    pages: dict[str, Answer] = field(default_factory=dict)
    seen: list[ReceivedRequest] = field(default_factory=list)
    hits: list[str] = field(default_factory=list)
    port: int = 0
    canary: int = 0

    def url(self, path: str) -> str:
        return f"http://{ORIGIN}:{self.port}/{path}"

    def answer(self, asked: ReceivedRequest) -> Answer:
        path, _, query = asked.target.lstrip("/").partition("?")
        if path == "to":
            status, _, where = query.partition("=")
            return Answer(int(status), headers={"Location": unquote(where).encode().decode("latin-1")})
        if path == "sw.js":
            script = f"self.oninstall=()=>fetch('{query.removeprefix('to=')}',{{mode:'no-cors'}})"
            return Answer(body=script.encode(), headers={"Content-Type": "text/javascript"})
        return self.pages.get(path, Answer(404, b"nothing", headers={"Content-Type": "text/html"}))

    def page(self, path: str, html: str, **given: Any) -> str:
        """Serve a page at a path; return its URL."""
        self.pages[path] = Answer(body=html.encode(), headers={"Content-Type": "text/html; charset=utf-8"}, **given)
        return self.url(path)


@asynccontextmanager
async def a_web(
    streams: Sequence[str] = (), datagrams: Sequence[str] = ()
) -> AsyncIterator[tuple[Web, dict[str, int]]]:
    """Serve an origin and the canaries; also yield the ports of the named streams and datagrams."""
    site, ports = Web(), dict[str, int]()

    async def origin(stream: trio.abc.Stream) -> None:
        try:
            await web(site.answer, site.seen)(stream)
        except (trio.BrokenResourceError, trio.ClosedResourceError, h11.ProtocolError):
            pass  # a page that speaks TLS to it, or leaves halfway
        finally:
            await trio.aclose_forcefully(stream)

    async def canary(name: str, stream: trio.abc.Stream) -> None:
        if name:
            site.hits.append(name)
        else:
            with trio.move_on_after(1):
                try:
                    data = bytes(await stream.receive_some(4096))
                except trio.BrokenResourceError:
                    data = b""
                site.hits.append(data.split(b" ")[1].decode("latin-1").strip("/?") if data.count(b" ") > 1 else "?")
        await trio.aclose_forcefully(stream)

    async def datagram(name: str, socket: trio.socket.SocketType) -> None:
        with socket:
            while True:
                await socket.recvfrom(2048)
                site.hits.append(name)

    async with trio.open_nursery() as nursery:

        async def listen(handler: Any, host: str, port: int = 0) -> int:
            listeners = await trio.open_tcp_listeners(port, host=host)
            nursery.start_soon(partial(trio.serve_listeners, handler, listeners))
            return int(listeners[0].socket.getsockname()[1])

        site.port = await listen(origin, ORIGIN)
        site.canary = await listen(partial(canary, ""), INSIDE)
        with suppress(OSError):  # a machine without IPv6
            await listen(partial(canary, ""), "::1", site.canary)
        for name in streams:
            ports[name] = await listen(partial(canary, name), INSIDE)
        for name in datagrams:
            socket = trio.socket.socket(trio.socket.AF_INET, trio.socket.SOCK_DGRAM)
            await socket.bind((INSIDE, 0))
            ports[name] = socket.getsockname()[1]
            nursery.start_soon(datagram, name, socket)
        yield site, ports
        nursery.cancel_scope.cancel()


class Lines(list[tuple[str, dict[str, Any]]]):
    def __call__(self, event: str, **fields: Any) -> None:
        self.append((event, fields))


async def dialled(host: str, port: int, tls: bool) -> trio.abc.Stream:
    assert not tls
    return await trio.open_tcp_stream(host, port)


def remote_at(address: str, **given: Any) -> RemoteBrowser:
    return RemoteBrowser(read_remote(address), dial=dialled, listen=open_listeners, entropy=entropy, **given)


@asynccontextmanager
async def a_remote(*words: str, program: str = "") -> AsyncIterator[tuple[str, trio.Process]]:
    """Start a browser as another machine would; yield the URL of its WebSocket, and its process."""
    headless = () if kind_of(program or BROWSER) == "shell" else ("--headless=new",)
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        command = [program or BROWSER, *headless, "--no-sandbox", "--remote-debugging-port=0", *words]
        process = await trio.lowlevel.open_process(
            [*command, f"--user-data-dir={folder}", "about:blank"],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            start_new_session=True,  # BROWSER may be a shell script that starts the browser
        )
        assert process.stderr is not None
        try:
            said = b""
            with trio.fail_after(HANG):
                while b"listening on ws://" not in said or not said.endswith(b"\n"):
                    said += await process.stderr.receive_some(4096)
            async with trio.open_nursery() as nursery:
                nursery.start_soon(_drained, process.stderr)
                yield said.decode().partition("listening on ")[2].split()[0], process
                nursery.cancel_scope.cancel()
        finally:
            kill(process)
            with trio.CancelScope(shield=True):
                await process.stderr.aclose()
                await process.wait()


def kill(process: trio.Process) -> None:
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)


async def _drained(stream: trio.abc.ReceiveStream) -> None:
    while await stream.receive_some(1 << 16):
        pass


@asynccontextmanager
async def a_pool(
    ports: Sequence[int] = (), *, path: str = "", remote: RemoteBrowser | None = None, **given: Any
) -> AsyncIterator[ChromiumPool]:
    """Run a pool whose browser may reach only the origin."""
    guard = Guard(Names(), TcpConnector(public_trust), [ip_network(f"{ORIGIN}/32")])
    pool = ChromiumPool(
        holder_command(path or BROWSER) if remote is None else (),
        remote=remote,
        pages=given.pop("pages", 4),
        ports=ports,
        listen=open_listeners,
        datagrams=open_datagrams,
        entropy=entropy,
        **given,
    )
    stopping = trio.Event()
    with pytest.MonkeyPatch.context() as patch:
        for name, value in PATIENCE.items():
            patch.setattr(f"extras.browser.{name}", value)
        async with trio.open_nursery() as nursery:
            child: Any = SimpleNamespace(ready=lambda: None, stopping=stopping)
            nursery.start_soon(partial(pool.run, child, connect=guard.connect))
            yield pool
            stopping.set()


async def shown(pool: ChromiumPool, url: str, **given: Any) -> Rendered | RenderFailed:
    try:
        return await pool.render(RenderRequest(url, "sanderling/1 (+https://a.example)", **given))
    except RenderFailed as failure:
        return failure
