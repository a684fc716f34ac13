"""HTTP/2 beside HTTP/1.1, both over TLS and of the same server process: what a request and a live stream cost it.

`python -m bench http2`. CPU is the server's own; the clients are sockets of this process.
"""

from __future__ import annotations

import shutil
import socket
import ssl
import subprocess
import tempfile
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import h2.connection
import h2.events
from h2.config import H2Configuration

from bench.stream import beside
from bench.stream_clients import REQUEST, Server
from bench.stream_house import FIRST, KEY
from storage.records.identity import id_of

REQUESTS, AT_ONCE = 1_500, 50
STREAMS, EACH, EVENTS = 300, 100, 20
PATH = f"/v1/events/{id_of(FIRST, 7)}"


class Plain:
    """A client of HTTP/1.1 with one request at a time."""

    def __init__(self, server: Server, secure: ssl.SSLContext) -> None:
        self.wire = wire(server, secure, "http/1.1")

    def get(self, _count: int = 1) -> int:
        self.wire.sendall(f"GET {PATH} HTTP/1.1\r\nHost: x\r\nX-API-Key: {KEY}\r\n\r\n".encode())
        self.until(b'"title"')
        return 1

    def listen(self) -> None:
        self.wire.sendall(REQUEST)
        self.until(b": replay-from")

    def until(self, mark: bytes) -> None:
        got = b""
        while mark not in got:
            data = self.wire.recv(65536)
            assert data, "the server has gone"
            got += data


class Shared:
    """A client of HTTP/2."""

    def __init__(self, server: Server, secure: ssl.SSLContext) -> None:
        self.wire = wire(server, secure, "h2")
        self.h2 = h2.connection.H2Connection(H2Configuration(header_encoding=None))
        self.h2.initiate_connection()

    def ask(self, path: str, count: int) -> None:
        for _ in range(count):
            head = [(":method", "GET"), (":scheme", "https"), (":authority", "x"), (":path", path), ("x-api-key", KEY)]
            self.h2.send_headers(self.h2.get_next_available_stream_id(), head, end_stream=True)
        self.wire.sendall(self.h2.data_to_send())

    def get(self, count: int = 1) -> int:
        self.ask(PATH, count)
        left = count
        while left:
            left -= sum(isinstance(event, h2.events.StreamEnded) for event in self.read())
        return count

    def listen(self, count: int) -> None:
        self.ask("/v1/stream", count)
        self.until(b": replay-from", count)

    def until(self, mark: bytes, count: int) -> None:
        """Read until so many streams have had a mark."""
        had, got = set[int](), dict[int, bytes]()
        while len(had) < count:
            for event in self.read():
                if isinstance(event, h2.events.DataReceived):
                    got[event.stream_id] = got.get(event.stream_id, b"") + (event.data or b"")
                    had |= {event.stream_id} if mark in got[event.stream_id] else set()

    def read(self) -> Sequence[Any]:
        data = self.wire.recv(65536)
        assert data, "the server has gone"
        events = self.h2.receive_data(data)
        for event in events:
            if isinstance(event, h2.events.DataReceived):
                self.h2.acknowledge_received_data(event.flow_controlled_length or 0, event.stream_id)
        if said := self.h2.data_to_send():
            self.wire.sendall(said)
        return events


def wire(server: Server, secure: ssl.SSLContext, protocol: str) -> ssl.SSLSocket:
    secure.set_alpn_protocols([protocol])
    client = secure.wrap_socket(socket.create_connection(("127.0.0.1", server.port)), server_hostname="localhost")
    assert client.selected_alpn_protocol() == protocol
    client.settimeout(30)
    return client


def gets(server: Server, made: Callable[[], Plain | Shared], at_once: int) -> float:
    """Return CPU microseconds of an authorised GET of one event."""
    done, began, client = 0, 0.0, made()
    while done < REQUESTS:
        if done == REQUESTS // 5:
            began = server.stat()[0]
        if done % 500 == 0:  # a connection of HTTP/1.1 serves so many requests at most
            client.wire.close()
            client = made()
        done += client.get(at_once)
    client.wire.close()
    return 1e6 * (server.stat()[0] - began) / (REQUESTS * 4 / 5)


def streams(server: Server, secure: ssl.SSLContext, protocol: str) -> tuple[float, float]:
    """Return CPU microseconds a delivery to live streams, and KiB of memory a stream."""
    clients: list[Any] = []
    before = server.stat()[1]
    if protocol == "h2":
        clients = [Shared(server, secure) for _ in range(STREAMS // EACH)]
        for client in clients:
            client.listen(EACH)
    else:
        clients = [Plain(server, secure) for _ in range(STREAMS)]
        for client in clients:
            client.listen()
    memory = (server.stat()[1] - before) / STREAMS / 1024
    began = server.stat()[0]
    for _ in range(EVENTS):
        mark = server.push()
        for client in clients:
            client.until(mark, EACH) if isinstance(client, Shared) else client.until(mark)
        server.hear()
    cpu = 1e6 * (server.stat()[0] - began) / (EVENTS * STREAMS)
    for client in clients:
        client.wire.close()
    return cpu, memory


def with_certificate(folder: Path) -> ssl.SSLContext:
    """Make a certificate in a folder; return a client's context that trusts it."""
    words = ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-days", "2", "-nodes"]
    names = ["-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost"]
    files = ["-keyout", str(folder / "key.pem"), "-out", str(folder / "cert.pem")]
    subprocess.run([*words, *names, *files], check=True, capture_output=True)
    return ssl.create_default_context(cafile=str(folder / "cert.pem"))


def rows() -> list[dict[str, Any]]:
    """Measure; about half a minute."""
    folder = Path(tempfile.mkdtemp(prefix="bench-http2-"))
    try:
        secure = with_certificate(folder)
        server = Server("tls", str(folder))
        plain = gets(server, partial(Plain, server, secure), 1)
        shared = partial(Shared, server, secure)
        one, many = gets(server, shared, 1), gets(server, shared, AT_ONCE)
        server.close()
        cost = []
        for protocol in ("http/1.1", "h2"):
            server = Server("tls", str(folder))
            cost.append(streams(server, secure, protocol))
            server.close()
    finally:
        shutil.rmtree(folder)
    (cpu, memory), (our_cpu, our_memory) = cost
    name = f"{STREAMS} live streams, {EACH} a connection"
    goal = "<= 1.25 x HTTP/1.1 over TLS"
    return [
        beside("over HTTP/2: CPU of an authed GET, one at a time", goal, plain, one, "us", 1.25),
        beside(f"over HTTP/2: CPU of an authed GET, {AT_ONCE} at once", goal, plain, many, "us", 1.25),
        beside(f"over HTTP/2: CPU a delivery, {name}", "<= 1.5 x HTTP/1.1 over TLS", cpu, our_cpu, "us", 1.5),
        beside(f"over HTTP/2: memory a stream, {name}", "<= HTTP/1.1 over TLS", memory, our_memory, "KB", 1.0),
    ]
