"""Scripted HTTP streams, shaped like popular real ones."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from dataclasses import dataclass, field

import h11
import trio

from tests.actors.sources.harness import Watching

HOST, ADDRESS = "stream.example", "93.184.216.78"
URL = f"http://{HOST}/live"


@dataclass
class Streamer:
    """Sends raw bytes from a test to every connection, and replays after a Last-Event-ID.

    resume: the bytes after an id, "" for none. greeting: the start of each stream.
    """

    content_type: str = "text/event-stream"
    status: int = 200
    headers: list[tuple[str, str]] = field(default_factory=list)
    greeting: bytes = b""
    resume: Callable[[str], bytes] = lambda _id: b""
    asked: list[dict[str, str]] = field(default_factory=list)
    times: list[float] = field(default_factory=list)
    connections: list[trio.abc.Stream] = field(default_factory=list)

    async def serve(self, stream: trio.abc.Stream) -> None:
        connection = h11.Connection(h11.SERVER)
        while not isinstance(event := connection.next_event(), h11.Request):
            if event is h11.NEED_DATA and not (data := bytes(await stream.receive_some(65536))):
                return
            connection.receive_data(data)
        headers = {name.decode(): value.decode("latin-1") for name, value in event.headers}
        if event.target == b"/robots.txt":
            await stream.send_all(b"HTTP/1.1 404 X\r\nContent-Length: 0\r\n\r\n")
            return
        self.asked.append({**headers, ":path": event.target.decode()})
        self.times.append(trio.current_time())
        given = [("Content-Type", self.content_type)] if self.content_type else []
        lines = [f"HTTP/1.1 {self.status} X", *(f"{name}: {value}" for name, value in [*given, *self.headers])]
        length = [] if self.status == 200 else ["Content-Length: 0"]
        await stream.send_all("\r\n".join([*lines, *length, "", ""]).encode())
        if self.status != 200:
            return
        self.connections.append(stream)
        place = headers.get("last-event-id", "").encode("latin-1").decode()
        await stream.send_all(self.greeting + self.resume(place))
        try:
            await stream.receive_some(1)  # until the other side leaves
        finally:
            if stream in self.connections:
                self.connections.remove(stream)

    async def send(self, data: bytes) -> None:
        for stream in self.connections:
            await stream.send_all(data)
        await trio.sleep(2)

    async def hang_up(self) -> None:
        for stream in self.connections[:]:
            await trio.aclose_forcefully(stream)
        await trio.sleep(1)

    def join(self, service: Watching, host: str = HOST, address: str = ADDRESS) -> Streamer:
        service.network.add(host, address, self.serve)
        return self


class Log(Streamer):
    """A server that numbers its events and resumes after any of them. cuts: connections broken within an event."""

    def __init__(
        self, render: Callable[[int], bytes], place_of: Callable[[str], int], content_type: str = "text/event-stream"
    ) -> None:
        super().__init__(content_type)
        self.count, self.cuts, self.render = 0, 0, render
        self.resume = lambda id: b"".join(map(render, range(max(place_of(id) if id else self.count, 0), self.count)))

    async def add(self, number: int, chance: random.Random | None = None) -> None:
        """Add events, and send each in pieces to every connection; with `chance` the link may break in the middle."""
        for _ in range(number):
            data = self.render(self.count)
            self.count += 1
            cut = chance is not None and chance.random() < 0.3
            size = chance.randrange(len(data)) if chance is not None and cut else len(data)
            for stream in self.connections[:]:
                await stream.send_all(data[:size])
            if cut:
                self.cuts += len(self.connections)
                await self.hang_up()


class Replayed(Log):
    """A server of JSON lines that sends all events to each connection, as ntfy does for `since=all`."""

    def __init__(self, render: Callable[[int], bytes]) -> None:
        super().__init__(render, lambda _id: 0, "application/x-ndjson")
        self.resume = lambda _id: b"".join(map(render, range(self.count)))


def wikimedia(number: int) -> bytes:
    """Wikimedia EventStreams: the id is an array of offsets."""
    id = json.dumps([{"topic": "eqiad.mediawiki.recentchange", "partition": 0, "offset": number}])
    data = {
        "$schema": "/mediawiki/recentchange/1.0.0",
        "meta": {"uri": f"https://wiki.example/{number}", "id": f"m{number}", "domain": "wiki.example"},
        "id": 5_000 + number,
        "type": "edit",
        "title": f"Page {number}",
        "comment": "tide",
        "timestamp": 1_800_000_000 + number,
        "user": "ann",
    }
    return f"event: message\nid: {id}\ndata: {json.dumps(data)}\n\n".encode()


def offset_of(id: str) -> int:
    return 1 + int(json.loads(id)[0]["offset"])


def numbered(number: int) -> bytes:
    """Our own /v1/stream, Mercure and most others: an opaque id."""
    data = json.dumps({"id": f"e{number}", "title": f"Event {number}", "content": "tide"})
    return f": keep-alive\n\nevent: event\nid: n{number}\ndata: {data}\n\n".encode()


def line(number: int) -> bytes:
    """A message of ntfy."""
    data = {"id": f"l{number}", "time": 1_800_000_000 + number, "event": "message", "topic": "t"}
    return json.dumps({**data, "title": f"Line {number}", "message": "tide"}).encode() + b"\n"


def number_of(id: str) -> int:
    return 1 + int(id[1:])
