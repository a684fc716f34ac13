"""A real browser before a small web on loopback: an origin that may be reached, and a canary that must not."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from functools import partial
from ipaddress import ip_network
from types import SimpleNamespace
from typing import Any
from urllib.parse import unquote

import h11
import trio

from actors.browser.pool import ChromiumPool
from actors.egress.guard import Guard
from actors.egress.sockets import TcpConnector, public_trust
from actors.world import Rendered, RenderFailed, RenderRequest, ResolveFailed
from sanderling.browsers import find_browser
from sanderling.environment import environ
from sanderling.program import holder_command
from sanderling.real_world import entropy, open_listeners
from tests.support.memory_network import Answer, Asked, web

ORIGIN, INSIDE = "127.0.0.9", "127.0.0.1"
BROWSER, MISSING = find_browser(environ().get("TEST_BROWSER", ""))
NAMES: Mapping[str, Sequence[Sequence[str]]] = {
    "site.test": [[ORIGIN]],
    "inside.test": [[INSIDE]],
    "mixed.test": [[ORIGIN, INSIDE]],
    "rebound.test": [[ORIGIN], [INSIDE]],
    "localhost": [[INSIDE, "::1"]],
}


class Names:
    """A resolver that knows the names of the tests; `rebound.test` leads elsewhere from the second time on."""

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
    """pages: by their paths. seen: what was asked of the origin. hits: what reached a canary, by its path or name."""

    pages: dict[str, Answer] = field(default_factory=dict)
    seen: list[Asked] = field(default_factory=list)
    hits: list[str] = field(default_factory=list)
    port: int = 0
    canary: int = 0

    def url(self, path: str) -> str:
        return f"http://{ORIGIN}:{self.port}/{path}"

    def answer(self, asked: Asked) -> Answer:
        path, _, query = asked.target.lstrip("/").partition("?")
        if path == "to":
            status, _, where = query.partition("=")
            return Answer(int(status), headers={"Location": unquote(where).encode().decode("latin-1")})
        if path == "sw.js":
            script = f"self.oninstall=()=>fetch('{query.removeprefix('to=')}',{{mode:'no-cors'}})"
            return Answer(body=script.encode(), headers={"Content-Type": "text/javascript"})
        return self.pages.get(path, Answer(404, b"nothing", headers={"Content-Type": "text/html"}))

    def page(self, path: str, html: str, **given: Any) -> str:
        """Put a page there; return its address."""
        self.pages[path] = Answer(body=html.encode(), headers={"Content-Type": "text/html; charset=utf-8"}, **given)
        return self.url(path)


@asynccontextmanager
async def a_web(
    streams: Sequence[str] = (), datagrams: Sequence[str] = ()
) -> AsyncIterator[tuple[Web, dict[str, int]]]:
    """Serve an origin and the canaries; beside it come the ports of those that are named."""
    site, ports = Web(), dict[str, int]()

    async def origin(stream: trio.abc.Stream) -> None:
        try:
            await web(site.answer, site.seen)(stream)
        except (trio.BrokenResourceError, trio.ClosedResourceError, h11.ProtocolError):
            pass  # a page that speaks TLS to it, or leaves in the middle
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
    """What was logged."""

    def __call__(self, event: str, **fields: Any) -> None:
        self.append((event, fields))


@asynccontextmanager
async def a_pool(ports: Sequence[int] = (), *, path: str = "", **given: Any) -> AsyncIterator[ChromiumPool]:
    """Run a pool with a browser, which may reach the origin alone."""
    guard = Guard(Names(), TcpConnector(public_trust), [ip_network(f"{ORIGIN}/32")])
    pool = ChromiumPool(
        holder_command(path or BROWSER),
        pages=given.pop("pages", 4),
        ports=ports,
        listen=open_listeners,
        entropy=entropy,
        **given,
    )
    stopping = trio.Event()
    async with trio.open_nursery() as nursery:
        child: Any = SimpleNamespace(ready=lambda: None, stopping=stopping)
        nursery.start_soon(partial(pool.run, child, connect=guard.connect))
        yield pool
        stopping.set()


async def shown(pool: ChromiumPool, url: str, **given: Any) -> Rendered | RenderFailed:
    """Return what became of a look."""
    try:
        return await pool.render(RenderRequest(url, "sanderling/1 (+https://a.example)", **given))
    except RenderFailed as failure:
        return failure
