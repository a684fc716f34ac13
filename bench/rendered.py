"""Rendered pages: looks a second, processor time and memory a page, and what stays after many looks.

A real browser before a page on loopback that fills itself by script, through the guarded proxy, as in the service.
Rows are left out where no browser is installed. `python -m bench.rendered 1000` makes so many looks and prints how
memory and processes go.
"""

from __future__ import annotations

import json
import os
import statistics
import sys
import time
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from functools import partial
from ipaddress import ip_network
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import trio

from actors.browser.holder import descendants, weigh
from actors.browser.pool import ChromiumPool
from actors.egress.guard import Guard
from actors.egress.sockets import SystemResolver, TcpConnector, public_trust
from actors.world import Rendered, RenderRequest
from sanderling.browsers import find_browser
from sanderling.environment import environ
from sanderling.program import holder_command
from sanderling.real_world import entropy, open_datagrams, open_listeners

LOOKS = 60
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
        pass  # the browser has hung up
    finally:
        await trio.aclose_forcefully(stream)


def ticks() -> float:
    """Return the processor time of the browser's processes, those that have ended included, in seconds."""
    total = 0
    for pid in descendants(os.getpid()):
        try:
            fields = Path(f"/proc/{pid}/stat").read_bytes().rpartition(b")")[2].split()
        except OSError:
            continue
        total += sum(map(int, fields[11:15]))
    return total / os.sysconf("SC_CLK_TCK")


class Bench:
    """Looks at the page by so many workers; tell: called with memory and processes at each `every` looks."""

    def __init__(self, pool: ChromiumPool, request: RenderRequest, every: int, tell: Any) -> None:
        self._pool, self._request, self._every, self._tell = pool, request, every, tell
        self._left = 0
        self.took: list[float] = []
        self.peak = 0

    async def look(self, looks: int, pages: int) -> None:
        """Make so many looks."""
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
            began = time.perf_counter()
            page = await self._pool.render(self._request)
            self.took.append(time.perf_counter() - began)
            assert is_whole(page)
            if len(self.took) % self._every == 0:
                self._tell(len(self.took), weigh(os.getpid()))

    async def _watch(self) -> None:
        limiter = trio.CapacityLimiter(1)
        while True:
            await trio.sleep(0.5)
            found = await trio.to_thread.run_sync(weigh, os.getpid(), limiter=limiter)
            self.peak = max(self.peak, found["memory_kib"])


@asynccontextmanager
async def running(pool: ChromiumPool) -> AsyncIterator[RenderRequest]:
    """Run a pool beside the page's origin; yield how the page is asked for. At the end all browsers have ended."""
    guard = Guard(SystemResolver(), TcpConnector(public_trust), [ip_network("127.0.0.1/32")])
    async with trio.open_nursery() as nursery:
        listeners = await open_listeners("127.0.0.1", 0)
        nursery.start_soon(partial(trio.serve_listeners, origin, [*listeners]))
        child: Any = SimpleNamespace(ready=lambda: None, stopping=trio.Event())
        nursery.start_soon(partial(pool.run, child, connect=guard.connect))
        yield RenderRequest(f"http://127.0.0.1:{listeners[0].socket.getsockname()[1]}/", "sanderling/bench")
        nursery.cancel_scope.cancel()


def is_whole(page: Rendered) -> bool:
    """Return whether a look has seen all that the page's script puts into it."""
    return b"Item 199" in page.html and page.settled


async def measure(looks: int, pages: int, every: int, tell: Any = lambda *_: None) -> dict[str, float]:
    """Make looks; return what they cost, and memory in MB and processes before and after."""
    path = find_browser(environ().get("TEST_BROWSER", "")).path
    worn = {"most_looks": looks + 20, "most_kib": 1 << 30}
    pool = ChromiumPool(
        holder_command(path), pages=pages, listen=open_listeners, datagrams=open_datagrams, entropy=entropy, **worn
    )
    async with running(pool) as request:
        await pool.render(request)
        await trio.sleep(1)
        idle, bench = weigh(os.getpid()), Bench(pool, request, every, tell)
        cpu, own, began = ticks(), time.process_time(), time.perf_counter()
        await bench.look(looks, pages)
        spent, ours, elapsed = ticks() - cpu, time.process_time() - own, time.perf_counter() - began
        await trio.sleep(2)
        after = weigh(os.getpid())
    return {
        "rate": looks / elapsed,
        "cpu_ms": 1000 * spent / looks,
        "own_ms": 1000 * ours / looks,
        "idle_mb": idle["memory_kib"] / 1024,
        "page_mb": (bench.peak - idle["memory_kib"]) / 1024 / pages,
        "after_mb": after["memory_kib"] / 1024,
        "processes_before": idle["processes"],
        "processes_after": after["processes"],
        "median_s": statistics.median(bench.took),
    }


def rows() -> Sequence[dict[str, Any]]:
    """Return the measured rows: figure, goal, limit, ours, ratio, met."""
    if not find_browser(environ().get("TEST_BROWSER", "")).path:
        return []
    found = trio.run(measure, LOOKS, 4, LOOKS)
    cpu, page = found["cpu_ms"], found["page_mb"]
    return [
        _row("looks a second, four pages at once", ">= 4", f"{found['rate']:.1f}", found["rate"] >= 4),
        _row(
            "processor time of the browser a look", "<= 100 ms", f"{cpu:.0f} ms, ours {found['own_ms']:.0f}", cpu <= 100
        ),
        _row(
            "memory a page over the browser's own", "<= 20 MB", f"{page:.0f} MB over {found['idle_mb']:.0f}", page <= 20
        ),
    ]


def _row(figure: str, goal: str, ours: str, met: bool) -> dict[str, Any]:
    return {"figure": f"rendered: {figure}", "goal": goal, "limit": "", "ours": ours, "ratio": None, "met": met}


if __name__ == "__main__":
    count = int(sys.argv[1]) if sys.argv[1:] else LOOKS
    at_once = int(sys.argv[2]) if sys.argv[2:] else 4
    print(trio.run(partial(measure, count, at_once, max(1, count // 10), lambda *told: print(*told, flush=True))))
