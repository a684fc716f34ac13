"""The browser for the settings: its process here, or connections to a remote one, plain and inside verified TLS."""

from __future__ import annotations

import ssl
from collections.abc import Callable
from pathlib import Path

import pytest
import trio

from actors.egress.transport import public_trust
from extras.browser.forward_proxy import ForwardProxy
from extras.browser.holder import NotUp
from extras.browser.real import browser_elsewhere, holder_command, named_browser
from extras.browser.settings import BrowserSettings
from sanderling.real_world import open_listeners
from tests.support.certificates import make_certificate, needs_openssl, trusting

pytestmark = pytest.mark.real
NOT_FOUND = b"HTTP/1.1 404 -\r\nContent-Length: 0\r\n\r\n"


async def nowhere(host: str, port: int) -> trio.abc.Stream:
    raise AssertionError("nobody asks")


async def trouble_with(address: str, trust: Callable[[], ssl.SSLContext] = public_trust) -> str:
    """Return why an address can't be reached."""
    async with trio.open_nursery() as nursery:
        browser = browser_elsewhere(BrowserSettings(browser=address), trust, open_listeners, bytes)
        with pytest.raises(NotUp) as caught:
            await browser.start(nursery, ForwardProxy(nowhere))
        nursery.cancel_scope.cancel()
    return str(caught.value)


def port_of(listener: trio.SSLListener[trio.SocketStream]) -> int:
    inside = listener.transport_listener
    assert isinstance(inside, trio.SocketListener)
    return int(inside.socket.getsockname()[1])


async def answer(stream: trio.abc.Stream) -> None:
    try:
        await stream.receive_some(4096)
        await stream.send_all(NOT_FOUND)
    except trio.BrokenResourceError:
        pass  # a client that does not trust us leaves


def test_a_remote_browser_is_used_by_address_without_a_local_search() -> None:
    for address in ("http://10.0.0.7:9222", "wss://a.example/devtools/browser/1?token=b"):
        assert named_browser(address) == (address, "")
    path, absent = named_browser("http://me:s3cret@10.0.0.7:9222/?token=s3cret")
    assert path == "" and "leave out user and password" in absent and "s3cret" not in absent


def test_a_browser_is_held_by_the_program_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys._MEIPASS", "/tmp", raising=False)
    monkeypatch.setattr("sys.executable", "/usr/lib/sanderling/sanderling")
    assert [*holder_command("/usr/bin/chromium")] == [
        *("/usr/lib/sanderling/sanderling", "browser-holder", "/usr/bin/chromium")
    ]


def test_nothing_is_started_for_a_socket() -> None:
    assert holder_command("unix:/run/b/socket") == ["unix:/run/b/socket"]


async def test_a_browser_address_without_listener_says_why() -> None:
    (listener,) = await trio.open_tcp_listeners(0, host="127.0.0.1")
    port = listener.socket.getsockname()[1]
    await listener.aclose()
    assert await trouble_with(f"http://127.0.0.1:{port}") == f"http://127.0.0.1:{port}: Connection refused"


@needs_openssl
async def test_tls_is_used_with_the_trust_that_is_set(tmp_path: Path, nursery: trio.Nursery) -> None:
    certificate, key = make_certificate(tmp_path)
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(certificate, key)
    (listener,) = await trio.open_ssl_over_tcp_listeners(0, context, host="127.0.0.1")
    nursery.start_soon(trio.serve_listeners, answer, [listener])
    address = f"https://localhost:{port_of(listener)}"
    assert "answers with 404" in await trouble_with(address, lambda: trusting(certificate, alpn=("http/1.1",)))
    assert "TLS failed" in await trouble_with(address) and "CERTIFICATE" in await trouble_with(address)
