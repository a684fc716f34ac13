"""A real browser that another machine started: its pages, its leftovers, and its limits."""

from __future__ import annotations

import json
import subprocess
import sys
from functools import partial
from typing import Any

import pytest
import trio
from trio_websocket import open_websocket_url

from actors.world import Rendered, RenderFailed
from extras.browser.pool import NO_DATAGRAMS, NO_DATAGRAMS_WHOLE
from tests.extras.browser import tricks
from tests.extras.browser.real import INSIDE, Lines, a_pool, a_remote, a_web, kill, remote_at, shown
from tests.support.children import first_line
from tests.support.waiting import HANG, until

pytestmark = pytest.mark.usefixtures("browser")
SILENT = NO_DATAGRAMS, NO_DATAGRAMS_WHOLE


async def told(address: str, method: str) -> Any:
    """Return a browser's answer to another client."""
    async with open_websocket_url(address) as connection:
        await connection.send_message(json.dumps({"id": 1, "method": method}))
        return json.loads(await connection.get_message())["result"]


async def left_of(address: str) -> tuple[int, list[str]]:
    """Return the number of contexts in a browser, and the URLs in its tabs."""
    contexts = (await told(address, "Target.getBrowserContexts"))["browserContextIds"]
    found = (await told(address, "Target.getTargets"))["targetInfos"]
    return len(contexts), [target["url"] for target in found if target["url"].startswith("http")]


async def test_pages_are_shown_through_the_gate_and_nothing_is_left_of_them() -> None:
    async with a_remote(*SILENT) as (address, _), a_web() as (site, _):
        endpoint = f"http://localhost:{address.split(':')[2].partition('/')[0]}"
        async with a_pool(remote=remote_at(endpoint)) as pool:
            site.page(
                "tide", "<p></p><script>fetch('/level').then(a=>a.text()).then(t=>document.body.append(t))</script>"
            )
            site.page("level", "high water")
            outcome = await shown(pool, site.url("tide"))
            assert isinstance(outcome, Rendered) and b"high water" in outcome.html
            assert outcome.wire_bytes > 100, "it is counted on the page's lease"
            refused = await shown(pool, f"http://{INSIDE}:{site.canary}/")
            assert isinstance(refused, RenderFailed) and refused.blame == "refused"
            assert await left_of(address) == (0, [])
        assert site.hits == []


async def test_a_host_that_asks_for_a_password_shows_its_own_page() -> None:
    async with a_remote(*SILENT) as (address, _), a_web() as (site, _), a_pool(remote=remote_at(address)) as pool:
        site.page("door", "<p>members only</p>", status=401)
        site.pages["door"].headers = {**site.pages["door"].headers, "WWW-Authenticate": 'Basic realm="sea"'}
        outcome = await shown(pool, site.url("door"))
        assert isinstance(outcome, Rendered) and outcome.status == 401 and b"members only" in outcome.html


async def test_x26_a_browser_that_sends_datagrams_past_the_proxy_gets_no_page(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("extras.browser.pool.HOPELESS", 1)
    lines = Lines()
    async with a_remote() as (address, _), a_web() as (site, _):
        async with a_pool(remote=remote_at(address), log=lines) as pool:
            outcome = await shown(pool, site.page("a", "<p>a</p>"))
            assert isinstance(outcome, RenderFailed) and NO_DATAGRAMS in outcome.reason
        assert site.seen == []


async def test_a_browser_that_ends_fails_its_running_check() -> None:
    async with a_web() as (site, _):
        site.page("slow", "<p>slow</p><script>setInterval(()=>document.title+='x',20);fetch('/wait')</script>")
        site.page("wait", "", after=60.0)
        outcome: list[object] = []
        async with a_remote(*SILENT) as (address, process), a_pool(remote=remote_at(address)) as pool:
            async with trio.open_nursery() as nursery:

                async def look() -> None:
                    outcome.append(await shown(pool, site.url("slow")))

                nursery.start_soon(look)
                await until(lambda: "/wait" in {asked.target for asked in site.seen})
                kill(process)
            assert isinstance(outcome[0], RenderFailed) and outcome[0].blame == "local"


SERVICE = """
import sys, trio
from tests.extras.browser.real import a_pool, a_web, kill, remote_at, shown
async def main():
    async with a_web() as (site, _), a_pool(remote=remote_at(sys.argv[1])) as pool, trio.open_nursery() as nursery:
        site.page("slow", "<p>slow</p><script>fetch('/wait')</script>")
        site.page("wait", "", after=60.0)
        nursery.start_soon(shown, pool, site.url("slow"))
        while "/wait" not in {asked.target for asked in site.seen}:
            await trio.sleep(0.02)
        print("under way", flush=True)
        await trio.sleep_forever()
trio.run(main)
"""


async def test_when_the_service_is_killed_the_browser_drops_its_contexts() -> None:
    async with a_remote(*SILENT) as (address, _):
        service = await trio.lowlevel.open_process([sys.executable, "-c", SERVICE, address], stdout=subprocess.PIPE)
        assert service.stdout is not None
        async with service.stdout:
            assert await first_line(service.stdout) == "under way"
        contexts, tabs = await left_of(address)
        assert contexts == 1 and len(tabs) == 1
        service.kill()
        await service.wait()
        with trio.fail_after(HANG):
            while await left_of(address) != (0, []):  # noqa: ASYNC110  # another process
                await trio.sleep(0.05)


async def test_x26_no_page_of_a_remote_browser_passes_the_guard() -> None:
    """A few ways out, each through another part of a browser; the full list of 385 runs by hand."""
    async with a_remote(*SILENT) as (address, _), a_web(tricks.STREAM_PORTS, tricks.DATAGRAM_PORTS) as (site, ports):
        pages = tricks.pages(f"127.0.0.1:{site.canary}", site.canary, ports)
        doors = [site.canary, *ports.values()]
        async with a_pool(doors, remote=remote_at(address)) as pool, trio.open_nursery() as nursery:
            for name in ("markup", "scripts", "ports", "by-websocket", "location"):
                nursery.start_soon(partial(shown, deadline=6.0), pool, site.page(name, pages[name]))
        await trio.sleep(0.3)
        assert site.hits == []
