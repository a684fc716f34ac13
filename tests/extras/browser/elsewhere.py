"""A browser on another machine, in memory: an HTTP endpoint, a WebSocket, and answers that a test can replace."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any

import trio
from trio.testing import memory_stream_pair
from wsproto import ConnectionType, WSConnection
from wsproto.events import AcceptConnection, BytesMessage, CloseConnection, RejectConnection, Request, TextMessage

from extras.browser.wire import MOST_MESSAGE

PAGE = {"at": "http://a.example/", "again": True, "size": 8, "height": 9, "html": "<p>tide</p>"}
ANSWERS: Mapping[str, Mapping[str, Any]] = {
    "Browser.getVersion": {"product": "Fake/1", "userAgent": "Mozilla/5.0 HeadlessChrome/1"},
    "Target.createBrowserContext": {"browserContextId": "C"},
    "Target.createTarget": {"targetId": "T"},
    "Target.attachToTarget": {"sessionId": "S"},
    "Page.navigate": {"frameId": "T"},
    "Page.createIsolatedWorld": {"executionContextId": 7},
    "Runtime.evaluate": {"result": {"value": PAGE}},
}
LOADED = ("Page.frameNavigated", {"frame": {"id": "T", "url": "http://a.example/"}}), ("Page.loadEventFired", {})
Said = bytes | Mapping[str, Any] | Callable[["Elsewhere"], Any]


class Elsewhere:
    """id: the current name of its WebSocket. bent: replaced answers, by method. version: the endpoint's replaced
    answer. hosts, targets: Host headers and request targets received. asked: commands received.
    """

    def __init__(self, nursery: trio.Nursery) -> None:
        self._nursery = nursery
        self.id, self.down, self.by_address_only = "one", False, False
        self.bent: dict[str, Said] = {}
        self.version: tuple[int, bytes] | None = None
        self.hosts: list[str] = []
        self.targets: list[str] = []
        self.asked: list[str] = []
        self.open: list[trio.abc.Stream] = []
        self.most = MOST_MESSAGE

    def commands(self, method: str) -> int:
        return self.asked.count(method)

    async def dial(self, host: str, port: int, tls: bool) -> trio.abc.Stream:
        await trio.lowlevel.checkpoint()
        if self.down:
            raise ConnectionRefusedError(111, "Connection refused")
        ours, theirs = memory_stream_pair()
        self._nursery.start_soon(self._serve, theirs)
        return ours

    async def hang_up(self) -> None:
        for stream in self.open:
            await trio.aclose_forcefully(stream)

    async def _serve(self, stream: trio.abc.Stream) -> None:
        try:
            head = b""
            while b"\r\n\r\n" not in head:
                head += await stream.receive_some(65536)
            first, *lines = head.decode().split("\r\n")
            target = first.split()[1]
            host = next(line.partition(": ")[2] for line in lines if line.lower().startswith("host:"))
            self.hosts.append(host)
            self.targets.append(target)
            if "/json/version" in target:
                await self._tell(stream, host)
            else:
                await self._talk(stream, head, host, target)
        except (trio.BrokenResourceError, trio.ClosedResourceError):
            pass
        finally:
            await trio.aclose_forcefully(stream)

    def _is_refused(self, host: str) -> bool:
        return self.by_address_only and host.partition(":")[0].strip("0123456789.") not in ("", "localhost")

    async def _tell(self, stream: trio.abc.Stream, host: str) -> None:
        url = f"ws://{host}/devtools/browser/{self.id}"
        status, body = self.version or (200, json.dumps({"webSocketDebuggerUrl": url}).encode())
        if self._is_refused(host):
            status, body = 500, b"Host header is specified and is not an IP address or localhost."
        if status:
            await stream.send_all(b"HTTP/1.1 %d -\r\nContent-Length: %d\r\n\r\n" % (status, len(body)) + body)
        else:
            await stream.send_all(body)
            await trio.sleep_forever()

    async def _talk(self, stream: trio.abc.Stream, head: bytes, host: str, target: str) -> None:
        connection = WSConnection(ConnectionType.SERVER)
        connection.receive_data(head)
        (request,) = connection.events()
        assert isinstance(request, Request)
        status = 500 if self._is_refused(host) else 101 if target.partition("?")[0].endswith(self.id) else 404
        if status != 101:
            await stream.send_all(connection.send(RejectConnection(status_code=status)))
            return
        await stream.send_all(connection.send(AcceptConnection()))
        self.open.append(stream)
        while data := await stream.receive_some(65536):
            connection.receive_data(data)
            for event in connection.events():
                if isinstance(event, TextMessage):
                    await self._heard(stream, connection, json.loads(event.data))
                elif isinstance(event, CloseConnection):
                    return

    async def _late(
        self, stream: trio.abc.Stream, connection: WSConnection, command: Mapping[str, Any], said: Callable[..., Any]
    ) -> None:
        """Run a test's callback; send its result as the answer unless it is None."""
        found = await said(self)
        if found is not None:
            message = {"id": command["id"], "result": found, "sessionId": command.get("sessionId", "")}
            with suppress(trio.BrokenResourceError, trio.ClosedResourceError):
                await stream.send_all(connection.send(TextMessage(data=json.dumps(message))))

    async def _heard(self, stream: trio.abc.Stream, connection: WSConnection, command: Mapping[str, Any]) -> None:
        method, session = command["method"], command.get("sessionId", "")
        self.asked.append(method)
        said = self.bent.get(method, ANSWERS.get(method, {}))
        if callable(said):
            self._nursery.start_soon(self._late, stream, connection, command, said)
            return
        if isinstance(said, bytes):
            await stream.send_all(said)
            return
        messages: list[Mapping[str, Any]] = [{"id": command["id"], "result": said, "sessionId": session}]
        if method == "Page.navigate":
            messages += [{"method": name, "params": params, "sessionId": session} for name, params in LOADED]
        for message in messages:
            await stream.send_all(connection.send(TextMessage(data=json.dumps(message))))


def text_frame(text: str) -> bytes:
    return frame(TextMessage(data=text))


def frame(event: TextMessage | BytesMessage | CloseConnection) -> bytes:
    """Return the bytes that a server sends for an event, once the WebSocket is open."""
    client, server = WSConnection(ConnectionType.CLIENT), WSConnection(ConnectionType.SERVER)
    server.receive_data(client.send(Request(host="a", target="/")))
    list(server.events())
    server.send(AcceptConnection())
    return bytes(server.send(event))
