from __future__ import annotations

import shutil
import socket
import ssl
import subprocess
import threading
from contextlib import suppress
from functools import partial
from pathlib import Path

import pytest
import trio
import trio.testing

from actors.egress import transport
from actors.egress.failures import Blame, CheckFailed
from actors.egress.guard import Guard, ZoneSilent
from actors.egress.transport import SystemResolver, TcpConnector, public_trust, trusting
from actors.settings import Settings
from actors.world import ResolveFailed
from sanderling.exits import CommandFailed, Exit
from sanderling.real_world import trust_of
from tests.support.waiting import HANG

pytestmark = pytest.mark.real


async def test_p10_a_dead_resolver_does_not_starve_other_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    release = threading.Event()
    monkeypatch.setattr(transport, "_getaddrinfo", lambda host: release.wait(600) or [])
    resolver = SystemResolver(timeout=0.3)
    failures: list[ResolveFailed] = []

    async def look(number: int) -> None:
        try:
            await resolver.resolve(f"h{number}.example")
        except ResolveFailed as error:
            failures.append(error)

    try:
        async with trio.open_nursery() as nursery:
            for number in range(120):
                nursery.start_soon(look, number)
            await trio.sleep(0.1)
            with trio.fail_after(HANG):  # waiting for one of their threads would last until `release`
                assert not await trio.to_thread.run_sync(release.is_set)
    finally:
        release.set()
    assert len(failures) == 120
    assert all(error.local for error in failures)


@pytest.mark.parametrize(
    ("code", "local"), [(socket.EAI_NONAME, False), (socket.EAI_AGAIN, True), (socket.EAI_FAIL, True)]
)
async def test_an_unknown_name_is_distinguished_from_silence(
    monkeypatch: pytest.MonkeyPatch, code: int, local: bool
) -> None:
    def fail(host: str) -> list[object]:
        raise socket.gaierror(code, "planted")

    monkeypatch.setattr(transport, "_getaddrinfo", fail)
    with pytest.raises(ResolveFailed) as caught:
        await SystemResolver().resolve("a.example")
    assert caught.value.local is local


async def test_silence_about_one_name_while_others_are_answered_is_that_names_fault(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    asked, answered = threading.Event(), threading.Event()

    def lookup(host: str) -> list[tuple[object, ...]]:
        if host == "good.example":
            return [(2, 1, 6, "", ("93.184.216.34", 0))] * 2
        asked.set()
        answered.wait(HANG)
        raise socket.gaierror(socket.EAI_AGAIN, "planted")

    monkeypatch.setattr(transport, "_getaddrinfo", lookup)
    resolver = SystemResolver(timeout=HANG)
    async with trio.open_nursery() as nursery:

        async def good() -> None:
            await trio.to_thread.run_sync(asked.wait)
            assert await resolver.resolve("good.example") == ["93.184.216.34"]
            answered.set()

        nursery.start_soon(good)
        with pytest.raises(ZoneSilent):
            await resolver.resolve("bad.example")


async def test_an_address_in_text_resolves_to_itself() -> None:
    assert await SystemResolver().resolve("127.0.0.1") == ["127.0.0.1"]


async def test_a_connection_goes_to_its_address_and_carries_bytes(nursery: trio.Nursery) -> None:
    listeners = await trio.open_tcp_listeners(0, host="127.0.0.1")
    port = listeners[0].socket.getsockname()[1]

    async def echo(stream: trio.SocketStream) -> None:
        await stream.send_all(await stream.receive_some(100))

    nursery.start_soon(partial(trio.serve_listeners, echo, listeners))
    stream = await TcpConnector().connect("127.0.0.1", port)
    assert isinstance(stream, trio.SocketStream)
    assert stream.socket.getpeername() == ("127.0.0.1", port)
    await stream.send_all(b"hello")
    assert await stream.receive_some(100) == b"hello"
    await stream.aclose()
    nursery.cancel_scope.cancel()


async def test_a_name_is_never_connected_to() -> None:
    with pytest.raises(ValueError, match="localhost"):
        await TcpConnector().connect("localhost", 80)


async def test_a_closed_port_is_an_os_error() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        with pytest.raises(ConnectionRefusedError):
            await TcpConnector().connect("127.0.0.1", taken.getsockname()[1])


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> tuple[str, str]:
    """Return a self-signed certificate for good.example, and its key."""
    openssl = shutil.which("openssl")
    if openssl is None:
        pytest.skip("needs the openssl command to make a certificate")
    folder = tmp_path_factory.mktemp("tls")
    cert, key = str(folder / "cert.pem"), str(folder / "key.pem")
    command = [
        openssl,
        "req",
        "-x509",
        "-newkey",
        "ec",
        "-pkeyopt",
        "ec_paramgen_curve:prime256v1",
        "-nodes",
        "-days",
        "2",
    ]
    command += ["-subj", "/CN=good.example", "-addext", "subjectAltName=DNS:good.example", "-out", cert, "-keyout", key]
    subprocess.run(command, check=True, capture_output=True)
    return cert, key


@pytest.mark.parametrize(
    ("host", "trusted", "blame"),
    [
        ("good.example", True, None),
        ("other.example", True, Blame.REMOTE_PERMANENT),
        ("good.example", False, Blame.REMOTE_PERMANENT),
    ],
)
async def test_d9_the_certificate_is_checked_for_the_host(
    nursery: trio.Nursery, certificate: tuple[str, str], host: str, trusted: bool, blame: Blame | None
) -> None:
    ours, theirs = trio.testing.memory_stream_pair()
    server = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    server.load_cert_chain(*certificate)
    server.set_alpn_protocols(["http/1.1"])

    async def serve() -> None:
        with suppress(trio.BrokenResourceError):
            await trio.SSLStream(theirs, server, server_side=True).do_handshake()

    nursery.start_soon(serve)
    connector = TcpConnector(partial(ssl.create_default_context, cafile=certificate[0])) if trusted else TcpConnector()
    guard = Guard(SystemResolver(), connector, ())
    if blame is None:
        stream = await guard.secure(ours, host)
        assert isinstance(stream, trio.SSLStream)
        assert stream.selected_alpn_protocol() == "http/1.1"
    else:
        with pytest.raises(CheckFailed, match="certificate") as caught:
            await guard.secure(ours, host)
        assert caught.value.blame is blame


async def test_a8_an_own_authority_is_trusted_in_addition_to_the_public_ones(
    nursery: trio.Nursery, certificate: tuple[str, str]
) -> None:
    ours, theirs = trio.testing.memory_stream_pair()
    server = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    server.load_cert_chain(*certificate)

    async def serve() -> None:
        await trio.SSLStream(theirs, server, server_side=True).do_handshake()

    trust = trusting(certificate[0])
    assert len(trust().get_ca_certs()) == len(public_trust().get_ca_certs()) + 1
    nursery.start_soon(serve)
    await TcpConnector(trust).secure(ours, "good.example")


@pytest.mark.parametrize("text", ["", "hello", "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n"])
def test_a8_a_file_without_an_authority_is_refused_at_the_start(tmp_path: Path, text: str) -> None:
    (tmp_path / "ca.pem").write_text(text)
    for name in ("ca.pem", "missing.pem"):
        with pytest.raises(CommandFailed, match="tls_trust") as told:
            trust_of(Settings(tls_trust=str(tmp_path / name)))
        assert told.value.code is Exit.BAD_SETTING


async def test_tls_with_a_server_that_speaks_none_is_an_error_with_its_reason(nursery: trio.Nursery) -> None:
    ours, theirs = trio.testing.memory_stream_pair()

    async def answer() -> None:
        await theirs.receive_some(10_000)
        await theirs.send_all(b"HTTP/1.1 400 Bad Request\r\n\r\n")

    nursery.start_soon(answer)
    with pytest.raises(ssl.SSLError) as told:
        await TcpConnector().secure(ours, "a.example", ("http/1.1",))
    assert told.value.reason == "WRONG_VERSION_NUMBER"
