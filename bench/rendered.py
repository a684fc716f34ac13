"""Rendered pages: checks per second, processor time and memory per page, and what remains after many checks.

A real browser loads a page on loopback that its script fills, through the guarded proxy, as in the service. The limit
is a bare navigation by the same browser in alternating rounds: a context, a tab, and one `outerHTML` of the full page.
It holds no request back, so it also fetches the picture.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager
from functools import partial
from ipaddress import ip_network
from pathlib import Path
from types import SimpleNamespace
from typing import Any, NamedTuple
from unittest.mock import patch

import trio

from actors.egress.guard import Guard
from actors.egress.transport import SystemResolver, TcpConnector, public_trust
from actors.world import Rendered, RenderRequest
from bench.topic import Absent, Figure, Row, Topic, size
from extras.browser.holder import descendants, weigh
from extras.browser.page_view import PageView, PageViewState
from extras.browser.pool import ChromiumPool
from extras.browser.real import holder_command
from extras.browser.wire import BrowserMessage, Command
from sanderling.environment import environ
from sanderling.program import find_browser
from sanderling.real_world import entropy, open_datagrams, open_listeners

LOOKS, PAGES, ROUNDS = size(60, 2), 4, size(4, 1)
TOPIC = Topic(
    "Rendered pages",
    "A page of 200 entries that its script fetches, four pages at once, 60 checks by a real browser.",
    ("extras/browser", "actors/egress"),
    {
        "rate": Figure("checks a second", "/s", ">= 4/s"),
        "cpu": Figure("CPU of the browser for a check", "ms", "<= 100 ms"),
        "own": Figure("CPU of the service for a check", "ms"),
        "page": Figure("memory of a page over the browser's own", "MiB", "<= 20 MiB"),
        "browser": Figure("memory of the browser", "MiB"),
    },
)
FULL = """new Promise(done => {
  const look = () => document.querySelectorAll("li").length < 200 ? setTimeout(look, 20)
    : done(document.documentElement.outerHTML)
  look()
})"""
ITEMS = [f"Item {number}: {number * 7} euros" for number in range(200)]
PAGE = b"""<!doctype html><title>shop</title><link rel=stylesheet href=/s.css><div id=root></div>
<img src=/big.png><script>
fetch('/items').then(r=>r.json()).then(d=>{const u=document.createElement('ul');for(const i of d){
const l=document.createElement('li');l.textContent=i;u.append(l)}root.append(u)})
</script>"""
BODIES: Mapping[str, tuple[str, bytes]] = {
    "/": ("text/html", PAGE),
    "/items": ("application/json", json.dumps(ITEMS).encode()),
    "/s.css": ("text/css", b"p{color:red}" * 2000),
    "/big.png": ("image/png", bytes(500_000)),
}


async def origin(stream: trio.abc.Stream) -> None:
    """Answer one request."""
    head = b""
    try:
        while b"\r\n\r\n" not in head:
            head += await stream.receive_some(65536)
        kind, body = BODIES.get(head.split(b" ")[1].decode(), ("text/plain", b"?"))
        await stream.send_all(
            f"HTTP/1.1 200 OK\r\nContent-Type: {kind}\r\nContent-Length: {len(body)}\r\n\r\n".encode() + body
        )
    except (trio.BrokenResourceError, trio.ClosedResourceError):
        pass  # the browser hung up
    finally:
        await trio.aclose_forcefully(stream)


def ticks() -> float:
    """Return the processor seconds of the browser's processes, including ended ones."""
    total = 0
    for pid in descendants(os.getpid()):
        try:
            fields = Path(f"/proc/{pid}/stat").read_bytes().rpartition(b")")[2].split()
        except OSError:
            continue
        total += sum(map(int, fields[11:15]))
    return total / os.sysconf("SC_CLK_TCK")


class Bench:
    """Checks the page with several workers."""

    def __init__(self, pool: ChromiumPool, request: RenderRequest) -> None:
        self._pool, self._request = pool, request
        self._left = self.peak = 0

    async def look(self, looks: int, pages: int) -> None:
        self._left = looks
        async with trio.open_nursery() as nursery:
            nursery.start_soon(self._watch)
            async with trio.open_nursery() as workers:
                for _ in range(pages):
                    workers.start_soon(self._work)
            nursery.cancel_scope.cancel()

    async def _work(self) -> None:
        while self._left > 0:
            self._left -= 1
            assert is_whole(await self._pool.render(self._request))

    async def _watch(self) -> None:
        limiter = trio.CapacityLimiter(1)
        while True:
            await trio.sleep(0.5)
            found = await trio.to_thread.run_sync(weigh, os.getpid(), limiter=limiter)
            self.peak = max(self.peak, found["memory_kib"])


class BareView(PageView):
    """Navigates and takes the document once it is full."""

    def _prepare(self) -> Iterator[Command]:
        yield self._told("Page.enable", "" if self._held_back else "prepared")
        if self._held_back:
            yield self._told("Runtime.runIfWaitingForDebugger", "let go")

    def take(self, message: BrowserMessage, tag: str, now: float) -> Sequence[Command]:
        if message.method == "Page.loadEventFired":
            return [self._told("Runtime.evaluate", "full", expression=FULL, awaitPromise=True, returnByValue=True)]
        if tag == "full":
            self.html, self.settled, self.state = message.params["result"]["value"], True, PageViewState.OVER
            return []
        return super().take(message, tag, now) if tag or message.method.startswith("Target.") else []


class Cost(NamedTuple):
    """Seconds for some checks: of the browser's processor time, of our own, and elapsed."""

    browser: float
    own: float
    elapsed: float

    def __add__(self, other: tuple[Any, ...]) -> Cost:
        return Cost(*(a + b for a, b in zip(self, other, strict=True)))


async def cost(bench: Bench, view: type[PageView]) -> Cost:
    """Check the page for a round by a kind of view."""
    cpu, own, began = ticks(), time.process_time(), time.perf_counter()
    with patch("extras.browser.engine.PageView", view):
        await bench.look(LOOKS // ROUNDS, PAGES)
    elapsed = time.perf_counter() - began
    await trio.sleep(0.5)  # the last tabs end
    return Cost(ticks() - cpu, time.process_time() - own, elapsed)


@asynccontextmanager
async def running(pool: ChromiumPool) -> AsyncIterator[RenderRequest]:
    """Run a pool and the page's origin; yield the page's request. At the end all browsers have ended."""
    guard = Guard(SystemResolver(), TcpConnector(public_trust), [ip_network("127.0.0.1/32")])
    async with trio.open_nursery() as nursery:
        listeners = await open_listeners("127.0.0.1", 0)
        nursery.start_soon(partial(trio.serve_listeners, origin, [*listeners]))
        child: Any = SimpleNamespace(ready=lambda: None, stopping=trio.Event())
        nursery.start_soon(partial(pool.run, child, connect=guard.connect))
        yield RenderRequest(f"http://127.0.0.1:{listeners[0].socket.getsockname()[1]}/", "sanderling/bench")
        nursery.cancel_scope.cancel()


def is_whole(page: Rendered) -> bool:
    """Return whether a check saw everything that the page's script adds."""
    return b"Item 199" in page.html and page.settled


def browser() -> str:
    """Return the browser's path. Raises Absent."""
    path = find_browser(environ().get("TEST_BROWSER", "")).path
    if not path:
        raise Absent("Chromium: Debian's package chromium-headless-shell")
    return path


async def measure(path: str) -> list[Row]:
    worn = {"most_looks": 2 * LOOKS + 20, "most_kib": 1 << 30}
    pool = ChromiumPool(
        holder_command(path), pages=PAGES, listen=open_listeners, datagrams=open_datagrams, entropy=entropy, **worn
    )
    async with running(pool) as request:
        await pool.render(request)
        await trio.sleep(1)
        idle, bench, limit = weigh(os.getpid())["memory_kib"], Bench(pool, request), Bench(pool, request)
        ours = bare = Cost(0, 0, 0)
        for _ in range(ROUNDS):
            ours, bare = ours + await cost(bench, PageView), bare + await cost(limit, BareView)
    return [
        Row("rate", LOOKS / ours.elapsed, LOOKS / bare.elapsed),
        Row("cpu", 1000 * ours.browser / LOOKS, 1000 * bare.browser / LOOKS),
        Row("own", 1000 * ours.own / LOOKS, 1000 * bare.own / LOOKS),
        Row("page", (bench.peak - idle) / 1024 / PAGES),
        Row("browser", idle / 1024),
    ]


def rows() -> Iterator[Row]:
    yield from trio.run(measure, browser())
