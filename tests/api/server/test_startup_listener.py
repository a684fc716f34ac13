"""The answers of the open port until the tree is up."""

from __future__ import annotations

import json
from typing import Any

import pytest
import trio
from trio.testing import memory_stream_pair

from api.server import server as porch
from api.server.server import StartupListener

HERE = ("127.0.0.1", 8080)


class MemoryListener(trio.abc.Listener[trio.abc.Stream]):
    def __init__(self) -> None:
        self._send, self._receive = trio.open_memory_channel[trio.abc.Stream](1000)

    async def accept(self) -> trio.abc.Stream:
        return await self._receive.receive()

    async def aclose(self) -> None:
        pass

    def connect(self) -> trio.abc.Stream:
        ours, theirs = memory_stream_pair()
        self._send.send_nowait(theirs)
        return ours


async def asked(listener: MemoryListener, *lines: str) -> tuple[dict[str, str], str]:
    """Return the headers, with the status as `status`, and the body of one answer."""
    stream = listener.connect()
    await stream.send_all("\r\n".join((*lines, "", "")).encode())
    said = b""
    with trio.fail_after(2):
        while part := await stream.receive_some(65_536):
            said += part
    head, _, body = said.decode().partition("\r\n\r\n")
    first, *rest = head.split("\r\n")
    return {"status": first, **dict(line.split(": ", 1) for line in rest)}, body


async def test_r2_a_request_before_the_tree_is_up_gets_503_with_progress_and_retry_after(
    nursery: trio.Nursery, autojump_clock: object
) -> None:
    listener, here = MemoryListener(), StartupListener("http://here", None)
    nursery.start_soon(here.keep, HERE, [listener])
    here.say("upgrading the database")
    head, body = await asked(listener, "GET /v1/sources HTTP/1.1", "host: here")
    assert head["status"] == "HTTP/1.1 503 Service Unavailable" and head["retry-after"] == str(porch.AGAIN)
    problem = json.loads(body)
    assert (problem["status"], problem["type"]) == (503, "http://here/problems/unavailable")
    assert problem["detail"] == "The service is starting: upgrading the database."
    head, body = await asked(listener, "HEAD / HTTP/1.1", "host: here")
    assert body == "" and int(head["content-length"]) > 0


async def test_r2_a_browser_gets_a_page_that_asks_again_and_carries_no_markup_of_others(
    nursery: trio.Nursery, autojump_clock: object
) -> None:
    listener, here = MemoryListener(), StartupListener("http://here", None)
    nursery.start_soon(here.keep, HERE, [listener])
    here.doing = lambda: "reading <the> sources, 10,000 so far"
    head, body = await asked(listener, "GET / HTTP/1.1", "Accept: text/html,*/*;q=0.8")
    assert head["content-type"].startswith("text/html") and "reading &lt;the&gt; sources, 10,000 so far." in body
    assert 'http-equiv="refresh"' in body


async def test_r2_silent_or_many_callers_delay_no_other_caller_for_long(
    nursery: trio.Nursery, autojump_clock: object
) -> None:
    listener, here = MemoryListener(), StartupListener("http://here", None)
    nursery.start_soon(here.keep, HERE, [listener])
    silent = [listener.connect() for _ in range(3 * porch.AT_ONCE)]
    await trio.sleep(3 * porch.WITHIN + 1)
    assert (await asked(listener, "GET / HTTP/1.1"))[0]["retry-after"]
    assert [await stream.receive_some(1) for stream in silent] == [b""] * len(silent)


async def test_r2_a_released_listener_is_free_for_the_front_end_and_open_requests_finish(
    nursery: trio.Nursery, autojump_clock: object
) -> None:
    listener, here = MemoryListener(), StartupListener("http://here", None)
    nursery.start_soon(here.keep, HERE, [listener])
    early = listener.connect()
    await trio.sleep(1)
    await here.give_up(HERE)
    await here.give_up(HERE)
    late = listener.connect()
    with trio.fail_after(1):
        await listener.accept()
        await early.send_all(b"GET / HTTP/1.1\r\n\r\n")
        assert (await early.receive_some(12)) == b"HTTP/1.1 503"
    del late


class _Certificate:
    """TLS that negotiates a protocol and passes bytes unchanged."""

    def __init__(self, agreed: str | None) -> None:
        self.agreed = agreed

    def wrap(self, stream: Any) -> Any:
        async def do_handshake() -> None:
            pass

        stream.do_handshake, stream.selected_alpn_protocol = do_handshake, lambda: self.agreed
        return stream

    def refresh(self) -> None:
        return None


@pytest.mark.parametrize(("agreed", "answered"), [(None, True), ("http/1.1", True), ("h2", False)])
async def test_r2_an_http_1_client_over_tls_gets_an_answer(
    nursery: trio.Nursery, autojump_clock: object, agreed: str | None, answered: bool
) -> None:
    listener, here = MemoryListener(), StartupListener("https://here", _Certificate(agreed))
    nursery.start_soon(lambda: here.keep(HERE, [listener], secure=True))
    head, _ = await asked(listener, "GET / HTTP/1.1")
    assert ("retry-after" in head) == answered
