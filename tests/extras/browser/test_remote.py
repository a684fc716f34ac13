"""A browser on another machine: how the pool finds it, uses it, and survives each of its faults."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from types import SimpleNamespace
from typing import Any

import pytest
import trio
from wsproto.events import BytesMessage, CloseConnection

from actors.world import RenderFailed, RenderRequest
from extras.browser.pool import ChromiumPool
from extras.browser.remote import RemoteBrowser, read_remote
from sanderling.real_world import open_datagrams, open_listeners
from tests.extras.browser.elsewhere import Elsewhere, Said, frame, text_frame
from tests.extras.browser.real import Lines

pytestmark = pytest.mark.usefixtures("autojump_clock")
AT = "http://10.0.0.7:9222"
PAGE = RenderRequest("http://a.example/", "sanderling/1")


@pytest.fixture
def elsewhere(nursery: trio.Nursery, monkeypatch: pytest.MonkeyPatch) -> Elsewhere:
    async def believed(*_: object) -> str:
        return ""

    monkeypatch.setattr(ChromiumPool, "_proved", believed)  # test_real_remote.py proves a real one
    return Elsewhere(nursery)


@asynccontextmanager
async def a_pool(elsewhere: Elsewhere, address: str = AT, **given: Any) -> AsyncIterator[ChromiumPool]:
    async def connect(host: str, port: int, judge: object) -> Any:
        raise AssertionError("nobody asks")

    dial = given.pop("dial", elsewhere.dial)
    remote = RemoteBrowser(
        read_remote(address),
        dial=dial,
        listen=given.pop("gate", open_listeners),
        entropy=bytes,
        most=1 << 16,
    )
    pool = ChromiumPool(
        (), remote=remote, pages=2, listen=open_listeners, datagrams=open_datagrams, entropy=bytes, **given
    )
    async with trio.open_nursery() as nursery:
        child: Any = SimpleNamespace(ready=lambda: None, stopping=trio.Event())
        nursery.start_soon(pool.run, child, connect)
        yield pool
        child.stopping.set()


async def failure_of(pool: ChromiumPool) -> RenderFailed:
    with pytest.raises(RenderFailed) as caught:
        await pool.render(PAGE)
    return caught.value


async def test_a_page_is_rendered_and_its_context_closed(elsewhere: Elsewhere) -> None:
    async with a_pool(elsewhere) as pool:
        assert (await pool.render(PAGE)).html == b"<p>tide</p>"
        assert elsewhere.targets == ["/json/version", "/devtools/browser/one"]
        assert elsewhere.commands("Target.createBrowserContext") == 1
        assert elsewhere.commands("Target.disposeBrowserContext") == 1
        assert pool.walls is not None and pool.walls.remote and pool.statistics().name == "Fake/1"


async def test_an_idle_connection_is_closed_and_made_again_for_the_next_page(elsewhere: Elsewhere) -> None:
    async with a_pool(elsewhere, idle=60.0) as pool:
        await pool.render(PAGE)
        await trio.sleep(90)
        assert pool.statistics().alive == 0
        elsewhere.id = "two"
        await pool.render(PAGE)
        assert elsewhere.targets[-2:] == ["/json/version", "/devtools/browser/two"]


async def test_a_browser_that_refuses_host_names_is_called_as_localhost(elsewhere: Elsewhere) -> None:
    elsewhere.by_address_only = True
    for address in ("http://chrome:9222", "ws://chrome:9222/devtools/browser/one"):
        async with a_pool(elsewhere, address) as pool:
            await pool.render(PAGE)
    assert elsewhere.hosts == ["chrome:9222", "localhost:9222"] * 3


@pytest.mark.parametrize(
    ("version", "says"),
    [
        ((404, b"no"), "answers with 404"),
        ((401, b"no"), "wants a token"),
        ((200, b"{"), "does not name the browser's WebSocket"),
        ((200, b"[1]"), "does not name the browser's WebSocket"),
        ((200, b'{"webSocketDebuggerUrl": 7}'), "does not name the browser's WebSocket"),
        ((200, b'{"webSocketDebuggerUrl": "http://a/"}'), "does not name the browser's WebSocket"),
        ((200, b'{"webSocketDebuggerUrl": "ws://a/x y"}'), "does not name the browser's WebSocket"),
        ((200, b"[" * 60_000), "does not name the browser's WebSocket"),
        ((200, b"x" * 70_000), "more than 65,536 bytes"),
        ((0, b"SSH-2.0-OpenSSH_9.2\r\n\r\n"), "does not speak HTTP"),
        ((0, b"HTTP/1.1 200 OK\r\n"), "does not answer within 10 s"),
    ],
)
async def test_a_program_that_is_no_browser_is_explained_and_retried_later(
    elsewhere: Elsewhere, version: tuple[int, bytes], says: str
) -> None:
    elsewhere.version = version
    async with a_pool(elsewhere) as pool:
        failure = await failure_of(pool)
        assert failure.blame == "local" and says in failure.reason and AT in failure.reason
        elsewhere.version = None
        with pytest.raises(RenderFailed):
            await pool.render(PAGE)  # it wakes the retry
        await trio.sleep(60)
        assert (await pool.render(PAGE)).status == 0


async def test_a_missing_browser_is_reported(elsewhere: Elsewhere) -> None:
    elsewhere.down = True
    async with a_pool(elsewhere) as pool:
        assert f"no browser can be used: {AT}: Connection refused" == (await failure_of(pool)).reason


async def test_an_expired_id_is_reported_with_how_to_get_a_new_one(elsewhere: Elsewhere) -> None:
    async with a_pool(elsewhere, "ws://10.0.0.7:9222/devtools/browser/nought") as pool:
        reason = (await failure_of(pool)).reason
        assert "ws://10.0.0.7:9222 opens no WebSocket (404)" in reason and "http://host:port asks for it" in reason
        assert "nought" not in reason


async def hang_up(elsewhere: Elsewhere) -> None:
    await elsewhere.hang_up()


async def say_nothing(_elsewhere: Elsewhere) -> None:
    pass


TROUBLES: list[tuple[str, Said, str]] = [
    ("Page.navigate", hang_up, "hung up"),
    ("Target.createBrowserContext", hang_up, "hung up"),
    ("Target.disposeBrowserContext", hang_up, ""),
    ("Page.navigate", frame(CloseConnection(code=1001)), "closed the connection (1001)"),
    ("Page.navigate", text_frame("tides"), "it sent an unknown message"),
    ("Page.navigate", text_frame("[]"), "it sent an unknown message"),
    (
        "Page.navigate",
        text_frame('{"method": "Target.targetCreated", "params": {"targetInfo": 7}}'),
        "it sent an unknown message",
    ),
    ("Page.navigate", frame(BytesMessage(data=b"\xff\xfe")), "it sent an unknown message"),
    ("Page.navigate", b"\xff" * 100, "spoke no WebSocket"),
    ("Page.navigate", text_frame("x" * 70_000), "more than 65,536 bytes"),
    ("Target.createBrowserContext", {}, "it sent an unknown message"),
    ("Target.attachToTarget", {}, "it sent an unknown message"),
    ("Page.createIsolatedWorld", {"executionContextId": "x"}, "it sent an unknown message"),
    ("Runtime.evaluate", {"result": {"value": {"size": "x"}}}, "it sent an unknown message"),
    ("Runtime.evaluate", {"result": [7]}, "it sent an unknown message"),
]


@pytest.mark.parametrize(("method", "said", "says"), TROUBLES)
async def test_each_failure_costs_one_check_and_has_a_sentence(
    elsewhere: Elsewhere, method: str, said: Said, says: str
) -> None:
    async with a_pool(elsewhere) as pool:
        elsewhere.bent[method] = said
        if says:
            began = trio.current_time()
            failure = await failure_of(pool)
            assert trio.current_time() - began <= 2
            assert failure.blame == "local" and says in failure.reason
        else:
            await pool.render(PAGE)
        del elsewhere.bent[method]
        assert (await pool.render(PAGE)).html == b"<p>tide</p>"
        assert pool.statistics().busy == 0


async def test_a_silent_browser_costs_the_check_two_seconds(elsewhere: Elsewhere) -> None:
    async with a_pool(elsewhere) as pool:
        await pool.render(PAGE)
        elsewhere.bent |= dict.fromkeys(("Browser.getVersion", "Page.navigate"), say_nothing)
        began = trio.current_time()
        assert "did not answer" in (await failure_of(pool)).reason
        assert trio.current_time() - began <= 2
        elsewhere.bent.clear()
        assert (await pool.render(PAGE)).html == b"<p>tide</p>"


@pytest.mark.parametrize(("seconds", "lost"), [(9.0, 0), (60.0, 1)])
async def test_a_browser_that_answers_may_take_its_time_to_close_a_page_but_not_for_ever(
    elsewhere: Elsewhere, seconds: float, lost: int
) -> None:
    async def late(_elsewhere: Elsewhere) -> Mapping[str, Any]:
        await trio.sleep(seconds)
        return {}

    async with a_pool(elsewhere) as pool:
        elsewhere.bent["Target.disposeBrowserContext"] = late
        began = trio.current_time()
        assert (await pool.render(PAGE)).html == b"<p>tide</p>"
        assert trio.current_time() - began <= 12
        await trio.sleep(1)
        assert pool.statistics().lost == lost


async def test_a_pool_that_stops_waits_for_no_page_to_be_closed(elsewhere: Elsewhere) -> None:
    elsewhere.bent["Target.disposeBrowserContext"] = say_nothing
    began = trio.current_time()
    async with trio.open_nursery() as nursery, a_pool(elsewhere) as pool:
        nursery.start_soon(pool.render, PAGE)
        await trio.sleep(3)
        assert pool.statistics().busy == 1, "it is being closed"
    assert trio.current_time() - began < 4


async def test_a_token_is_sent_with_each_request_and_never_logged(elsewhere: Elsewhere) -> None:
    lines = Lines()
    secret = "s3cret"
    elsewhere.version = 401, b""
    async with a_pool(elsewhere, f"{AT}/x?token={secret}", log=lines) as pool:
        told = [(await failure_of(pool)).reason, repr(pool), repr(pool._remote), pool.lacks()]
        elsewhere.version, elsewhere.id = None, "hidden"
        await trio.sleep(60)
        await failure_of(pool) if pool.lacks() else None
        await trio.sleep(60)
        await pool.render(PAGE)
        elsewhere.bent["Page.navigate"] = hang_up
        told += [(await failure_of(pool)).reason, repr(pool)]
    assert {"/x/json/version?token=s3cret", "/devtools/browser/hidden?token=s3cret"} == set(elsewhere.targets)
    assert not any(word in f"{told}{lines}" for word in (secret, "hidden"))


async def test_a_proxy_that_can_not_listen_is_reported(elsewhere: Elsewhere) -> None:
    async def taken(host: str, port: int) -> Any:
        raise OSError(98, "Address already in use")

    async with a_pool(elsewhere, gate=taken) as pool:
        assert "can't listen at 127.0.0.1:0: Address already in use" in (await failure_of(pool)).reason
