"""A server process and a crowd of client sockets, for the stream's benchmark."""

from __future__ import annotations

import selectors
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass, field

from bench.stream_house import FIRST, KEY
from storage.records.identity import Seq, id_of

FRAME = b"event: feed\n"
KEPT = 48
PATIENCE = 30.0
PORTION = 500
"""Clients that connect at once: ten thousand request heads at a time would take more than ten seconds."""
REQUEST = b"GET /v1/stream HTTP/1.1\r\nHost: x\r\nX-API-Key: " + KEY.encode() + b"\r\n\r\n"


def mark_of(number: int) -> bytes:
    """Return the end of an event's frame."""
    return b"id: " + id_of(Seq(FIRST + number), 7).encode()


class Server:
    """A server process and its port."""

    def __init__(self, kind: str, *more: str) -> None:
        self.kind, self.pushed = kind, 0
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        words = [sys.executable, "-m", "bench.stream_house", kind, str(self.port), *more]
        self._process = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self._wait_listening()

    def say(self, words: str) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(words + "\n")
        self._process.stdin.flush()

    def hear(self) -> list[float]:
        assert self._process.stdout is not None
        return [float(word) for word in self._process.stdout.readline().split()]

    def push(self) -> bytes:
        """Let the server commit one event; return the mark of its frame. `hear` then returns the time."""
        self.say("push")
        self.pushed += 1
        return mark_of(self.pushed)

    def stat(self) -> tuple[float, float, float]:
        """Return CPU seconds, resident bytes, and the largest lag of the loop since the last call."""
        self.say("stat")
        cpu, memory, lag = self.hear()
        return cpu, memory, lag

    def connect(self, *, window: int = 0) -> socket.socket:
        """Return a connection; `window` limits the kernel's buffer for a client that does not read."""
        client = socket.socket()
        if window:
            client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, window)
        client.connect(("127.0.0.1", self.port))
        return client

    def close(self) -> None:
        self._process.terminate()
        self._process.communicate()

    def _wait_listening(self) -> None:
        for _ in range(1_200):  # a busy machine takes long to start Python
            try:
                self.connect().close()
                return
            except OSError:
                time.sleep(0.05)
        raise AssertionError("the server does not listen")


@dataclass
class Listener:
    """One client's events, and the data since its last complete frame."""

    events: int = 0
    counted: int = 0
    rest: bytearray = field(default_factory=bytearray)

    def count(self) -> None:
        """Count the received events, and keep only bytes that may begin a mark."""
        self.events += self.rest.count(FRAME) - self.counted
        del self.rest[:-KEPT]
        self.counted = self.rest.count(FRAME)


class Crowd:
    """So many clients of one server."""

    def __init__(self, server: Server, count: int) -> None:
        self._selector = selectors.DefaultSelector()
        self._clients: list[socket.socket] = []
        self.listeners: list[Listener] = []
        while len(self._clients) < count:
            portion = min(PORTION, count - len(self._clients))
            for _ in range(portion):
                self._add(server.connect())
            self.wait(b"\r\n\r\n" if server.kind == "raw" else b": replay-from", portion)

    def _add(self, client: socket.socket) -> None:
        client.sendall(REQUEST)
        self._clients.append(client)
        self.listeners.append(Listener())
        self._selector.register(client, selectors.EVENT_READ, self.listeners[-1])

    def wait(self, mark: bytes, count: int | None = None) -> list[float]:
        """Read until so many clients (None: all) have seen the mark; return the time of each."""
        times: list[float] = []
        wanted = len(self.listeners) if count is None else count
        for listener in self._arriving():
            if mark in listener.rest:
                listener.rest.clear()
                times.append(time.monotonic())  # noqa: TID251  one clock for both processes
                if len(times) == wanted:
                    break
        return times

    def count(self, mark: bytes) -> None:
        """Read until every client has seen the mark, and count events on the way."""
        over = 0
        for listener in self._arriving():
            over += mark in listener.rest
            listener.count()
            if over == len(self.listeners):
                break

    def _arriving(self) -> Iterator[Listener]:
        """Yield a listener whenever it received data. Fails after a long silence."""
        while True:
            ready = self._selector.select(PATIENCE)
            assert ready, "a client waits for ever"
            for key, _ in ready:
                data = key.fileobj.recv(65536)  # type: ignore[union-attr]
                assert data, "the server has gone"
                key.data.rest.extend(data)
                yield key.data

    def read(self, ends: threading.Event) -> None:
        """Read and count events until the end."""
        while self._clients and not ends.is_set():
            for key, _ in self._selector.select(0.1):
                key.data.rest.extend(key.fileobj.recv(65536))  # type: ignore[union-attr]
                key.data.count()

    def close(self) -> None:
        for client in self._clients:
            client.close()
        self._selector.close()
