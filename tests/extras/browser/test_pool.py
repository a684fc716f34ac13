from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from types import SimpleNamespace
from typing import Any

import pytest
import trio

from actors.world import Rendered, RenderFailed, RenderRequest
from extras.browser import pool as module
from extras.browser.holder import NotUp, Walls
from extras.browser.pool import HOPELESS, ChromiumPool
from sanderling.real_world import open_datagrams

PAGE = RenderRequest("http://a.example/", "")


class Browsers:
    """Fake browsers for the pool. fail: why a start fails. proof: the result of the browser's self-test."""

    def __init__(self) -> None:
        self.fail, self.probed = "", ("", "")
        self.proof: str | None = ""
        self.datagrams: dict[bool, object] = {True: "none", False: "none"}
        """The result of the datagram test, by whether the tab is hidden."""
        self.engines: list[Any] = []
        self.weight = 0, 0
        self.closed = 0

    async def start(self, *_: object) -> Any:
        await trio.lowlevel.checkpoint()
        if self.fail:
            raise NotUp(self.fail)
        return SimpleNamespace(weigh=self.weigh, aclose=self.close)

    async def weigh(self) -> tuple[int, int]:
        await trio.lowlevel.checkpoint()
        return self.weight

    async def close(self) -> None:
        self.closed += 1

    async def probe(self, *_: object) -> tuple[str, str]:
        await trio.lowlevel.checkpoint()
        return self.probed

    def make(self, *_: object) -> Any:
        self.engines.append(Engine(self))
        return self.engines[-1]


class Engine:
    def __init__(self, browsers: Browsers) -> None:
        self.browsers, self.over, self.worn = browsers, trio.Event(), trio.Event()
        self.looks, self.busy, self.why, self.name = 0, 0, "", "Fake/1"
        self.hidden = True
        self.freed = trio.Event()

    async def run(self, up: Callable[[], None]) -> None:
        up()
        await self.over.wait()

    def end(self, why: str) -> None:
        self.why = self.why or why
        self.over.set()

    async def wait_free(self) -> None:
        while self.busy:
            await self.freed.wait()

    async def evaluated(self, script: str) -> object:
        await trio.lowlevel.checkpoint()
        found = self.browsers.datagrams[self.hidden]
        if found == "sent":
            with trio.socket.socket(trio.socket.AF_INET, trio.socket.SOCK_DGRAM) as socket:
                await socket.sendto(b"x", ("127.0.0.1", int(script.partition("stun:127.0.0.1:")[2].partition('"')[0])))
            return "none"
        if found == "nothing":
            raise RenderFailed("it did not answer", blame="local")
        return found

    async def look(self, request: RenderRequest, marker: str, *, ports: Sequence[int], most: int = -1) -> Rendered:
        if most == 0:
            if self.browsers.proof is None:
                async with await trio.open_tcp_stream("127.0.0.1", *ports):
                    await trio.sleep(0.1)
            raise RenderFailed("no", blame="refused" if self.browsers.proof == "" else "remote")
        self.looks += 1
        self.busy += 1
        try:
            with trio.move_on_after(1):
                await self.over.wait()
                raise RenderFailed(self.why, blame="local")
            return Rendered(request.url, 200, self.name.encode(), True, 1, 1, 1)
        finally:
            self.busy -= 1
            self.freed.set()
            self.freed = trio.Event()


@pytest.fixture
def browsers(monkeypatch: pytest.MonkeyPatch) -> Browsers:
    found = Browsers()
    monkeypatch.setattr(module, "start", found.start)
    monkeypatch.setattr(module, "probe", found.probe)
    monkeypatch.setattr(module, "Engine", found.make)
    return found


@asynccontextmanager
async def a_pool(**given: Any) -> AsyncIterator[ChromiumPool]:
    async def connect(host: str, port: int, judge: object) -> Any:
        raise AssertionError("nobody asks")

    async def listen(host: str, port: int) -> Any:
        return await trio.open_tcp_listeners(port, host=host)

    given = {"pages": 2, "listen": listen, "datagrams": open_datagrams, "entropy": bytes, "idle": 60.0, **given}
    pool = ChromiumPool(given.pop("command", ["holder"]), **given)
    async with trio.open_nursery() as nursery:
        child: Any = SimpleNamespace(ready=lambda: None, stopping=trio.Event())
        nursery.start_soon(pool.run, child, connect)
        yield pool
        child.stopping.set()


async def failure_of(pool: ChromiumPool) -> RenderFailed:
    with pytest.raises(RenderFailed) as caught:
        await pool.render(PAGE)
    return caught.value


async def test_a_browser_starts_with_the_first_page_and_ends_when_idle(
    browsers: Browsers, autojump_clock: trio.abc.Clock
) -> None:
    async with a_pool() as pool:
        await trio.sleep(300)
        assert browsers.engines == [] and pool.walls == Walls(True, True)
        assert (await pool.render(PAGE)).html == b"Fake/1"
        await trio.sleep(59)
        assert pool.statistics().alive == 1
        await trio.sleep(10)
        assert pool.statistics().alive == 0 and browsers.closed == 1
        await pool.render(PAGE)
        assert pool.statistics().starts == 2


async def test_a_browser_is_replaced_after_its_limit_of_checks_and_finishes_the_last(
    browsers: Browsers, autojump_clock: trio.abc.Clock
) -> None:
    async with a_pool(most_looks=3) as pool, trio.open_nursery() as nursery:
        for _ in range(7):
            nursery.start_soon(pool.render, PAGE)
    assert [engine.looks for engine in browsers.engines] == [3, 3, 1]
    assert browsers.closed == 3 and pool.statistics().lost == 0


async def test_a_browser_that_has_grown_heavy_is_replaced_but_its_pages_count_too(
    browsers: Browsers, autojump_clock: trio.abc.Clock
) -> None:
    async with a_pool(most_kib=1000) as pool:
        browsers.weight = 999, 5
        await pool.render(PAGE)
        await trio.sleep(20)
        assert pool.statistics().alive == 1 and pool.statistics().memory_kib == 999
        browsers.weight = 1000, 5
        await trio.sleep(6)
        await pool.render(PAGE)
        assert pool.statistics().starts == 2


async def test_a_browser_that_dies_fails_its_running_checks(browsers: Browsers, autojump_clock: trio.abc.Clock) -> None:
    async with a_pool() as pool:
        await pool.render(PAGE)

        async def die() -> None:
            await trio.sleep(0.5)
            browsers.engines[0].end("it crashed")

        async with trio.open_nursery() as nursery:
            nursery.start_soon(die)
            failure = await failure_of(pool)
        assert (failure.blame, failure.reason) == ("local", "it crashed")
        assert (await pool.render(PAGE)).status == 200
        assert pool.statistics().lost == 1 and pool.lacks() == ""


async def test_a_browser_that_does_not_start_is_reported_and_retried(
    browsers: Browsers, autojump_clock: trio.abc.Clock
) -> None:
    browsers.fail = "libnss3.so is missing"
    async with a_pool() as pool:
        failure = await failure_of(pool)
        assert failure.blame == "local" and "libnss3.so" in failure.reason and "libnss3.so" in pool.lacks()
        assert pool.statistics().starts == 0
        browsers.fail = ""
        await failure_of(pool)
        await trio.sleep(60)
        assert pool.lacks() == "" and (await pool.render(PAGE)).status == 200


async def test_x26_a_browser_that_proves_nothing_is_given_no_page(
    browsers: Browsers, autojump_clock: trio.abc.Clock
) -> None:
    browsers.proof = "it goes nowhere"
    async with a_pool() as pool:
        assert "did not go by the proxy" in (await failure_of(pool)).reason
        assert [engine.looks for engine in browsers.engines] == [0] * HOPELESS


@pytest.mark.parametrize("leak", ["some", "sent"])
async def test_x26_no_tab_is_hidden_if_hidden_ones_send_datagrams_and_none_opens_if_all_do(
    browsers: Browsers, autojump_clock: trio.abc.Clock, leak: str
) -> None:
    browsers.datagrams[True] = leak
    async with a_pool(namespace=False) as pool:
        await pool.render(PAGE)
        assert browsers.engines[-1].hidden is False
    browsers.datagrams[False] = leak
    async with a_pool(namespace=False) as pool:
        assert "--webrtc-ip-handling-policy" in (await failure_of(pool)).reason
    browsers.datagrams[True] = "none"
    async with a_pool(namespace=False) as pool:
        await pool.render(PAGE)
        assert browsers.engines[-1].hidden is True, "it costs less"


@pytest.mark.parametrize("says", ["unknown", None, 7, "nothing"])
async def test_x26_a_browser_that_does_not_show_whether_datagrams_leave_is_given_no_page(
    browsers: Browsers, autojump_clock: trio.abc.Clock, says: object
) -> None:
    browsers.datagrams[True] = says
    async with a_pool(namespace=False) as pool:
        assert "did not show whether" in (await failure_of(pool)).reason


async def test_in_its_own_network_a_browser_is_not_tested_for_datagrams(
    browsers: Browsers, autojump_clock: trio.abc.Clock
) -> None:
    browsers.datagrams[True] = "some"
    async with a_pool() as pool:
        await pool.render(PAGE)
        assert browsers.engines[-1].hidden is True


async def test_without_chromiums_sandbox_no_browser_runs_unless_allowed(
    browsers: Browsers, autojump_clock: trio.abc.Clock
) -> None:
    browsers.probed = "Operation not permitted", "Operation not permitted"
    async with a_pool() as pool:
        await trio.sleep(1)
        assert "sandbox can't hold here (Operation not permitted)" in pool.lacks()
        assert (await failure_of(pool)).blame == "local"
    async with a_pool(sandbox="wanted") as pool:
        await pool.render(PAGE)
        assert pool.walls == Walls(namespace=False, sandbox=False)


async def test_a_missing_browser_says_why(browsers: Browsers, autojump_clock: trio.abc.Clock) -> None:
    async with a_pool(command=[], absent="no browser is installed") as pool:
        await trio.sleep(1)
        assert pool.lacks() == "no browser is installed"
        assert (await failure_of(pool)).reason == "no browser is installed"


async def test_a_page_that_is_no_page_of_the_web_is_refused(browsers: Browsers) -> None:
    async with a_pool() as pool:
        for url in ("file:///etc/passwd", "chrome://crash", "ws://a.example/", "http://a.example:22/", "http://127.1/"):
            with pytest.raises(RenderFailed) as caught:
                await pool.render(PAGE._replace(url=url))
            assert caught.value.blame == "refused"
        assert browsers.engines == []
