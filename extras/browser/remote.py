"""A remote browser: found by its address, driven over a WebSocket; its pages' only way out is a gate of ours.

It is another party's process: it is neither started nor ended here, and its confinement is unknown. Our pages
disappear with the connection, because each context is created that way.

`wsproto` alone reads the WebSocket, without a background task: the engine waits on this line.

The query of its address may be a token, and the path of a WebSocket gives control of the browser: neither is shown.
"""

from __future__ import annotations

import json
import re
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from typing import Final, NamedTuple
from urllib.parse import urlsplit

import h11
import trio
from wsproto import ConnectionType, WSConnection
from wsproto.events import AcceptConnection, BytesMessage, CloseConnection, Ping, RejectConnection, Request, TextMessage
from wsproto.frame_protocol import CloseReason
from wsproto.utilities import ProtocolError

from extras.browser.forward_proxy import ForwardProxy, ProxyGate
from extras.browser.holder import GateDoors, NotUp
from extras.browser.wire import MOST_MESSAGE, BadMessage

SCHEMES: Final = ("ws://", "wss://", "http://", "https://")
_HOST: Final = re.compile(r"[A-Za-z0-9_.-]{1,253}|[0-9A-Fa-f:.]{2,45}")
_REST: Final = re.compile(r"[!-~]*")


class RemoteAddress(NamedTuple):
    """path: without its query. asks: it is an endpoint that names the browser's WebSocket."""

    host: str
    port: int
    tls: bool
    path: str
    query: str
    asks: bool

    @property
    def authority(self) -> str:
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"

    @property
    def shown(self) -> str:
        """The address without possible secrets."""
        scheme = ("http" if self.asks else "ws") + ("s" if self.tls else "")
        return f"{scheme}://{self.authority}"

    @property
    def version(self) -> str:
        """The target that names the browser's WebSocket."""
        return with_query(f"{self.path.rstrip('/')}/json/version", self.query)


def with_query(path: str, query: str) -> str:
    return f"{path}?{query}" if query else path


def is_remote(setting: str) -> bool:
    """Return whether the setting `browser` means a remote one.

    >>> is_remote("ws://10.0.0.7:9222/devtools/browser/1"), is_remote("/usr/bin/chromium")
    (True, False)
    """
    return setting.startswith(SCHEMES)


def read_remote(setting: str) -> RemoteAddress:
    """Parse the address in the setting `browser`. Raises ValueError with a sentence without secrets.

    >>> read_remote("http://10.0.0.7:9222").version, read_remote("https://a.example/b?token=c").shown
    ('/json/version', 'https://a.example:443')
    """
    try:
        parts = urlsplit(setting)
        host, port = parts.hostname or "", parts.port
    except ValueError:
        raise ValueError("it is not an address: write http://host:port") from None
    if not _HOST.fullmatch(host) or port == 0:
        raise ValueError("its host or port is invalid: write http://host:port")
    if parts.username is not None or parts.password is not None:
        raise ValueError("leave out user and password; a token goes after a ?")
    if parts.fragment or not _REST.fullmatch(parts.path + parts.query):
        raise ValueError("its path must be plain ASCII, without a #")
    tls, asks = parts.scheme in ("wss", "https"), parts.scheme in ("http", "https")
    if not asks and parts.path in ("", "/") and not parts.query:
        raise ValueError(f"a ws address needs the browser's path; http://{host}:{port or 80} asks for it")
    return RemoteAddress(host, port or (443 if tls else 80), tls, parts.path or "/", parts.query, asks)


def told_target(url: str, asked: RemoteAddress) -> str:
    """Return the target at the address's own host for the WebSocket URL in a response; "" if it is unusable.

    The URL's host is ignored: behind a proxy, or in a container, it often differs from the reachable one.

    >>> told_target("ws://localhost/devtools/browser/1", read_remote("http://10.0.0.7:9222?token=a"))
    '/devtools/browser/1?token=a'
    """
    parts = urlsplit(url)
    if parts.scheme not in ("ws", "wss") or not _REST.fullmatch(parts.path + parts.query):
        return ""
    return with_query(parts.path or "/", parts.query or asked.query)


Dial = Callable[[str, int, bool], Awaitable[trio.abc.Stream]]
"""Opens a stream to a host and port, with or without TLS. Raises OSError."""
Listen = Callable[[str, int], Awaitable[Sequence[trio.SocketListener]]]

UP_WITHIN: Final = 10.0
CLOSED_WITHIN: Final = 1.0
MOST_VERSION: Final = 64 << 10  # bytes of the response that names the browser's WebSocket
NOT_A_NAME: Final = 500
"""Chromium's answer to a Host that is a name: it accepts an address or `localhost`, as pages can rebind names."""
_READ: Final = 1 << 18
_BROKEN: Final = (trio.BrokenResourceError, trio.ClosedResourceError)


class RemoteBrowser:
    """listen_at: host and port of the gate. reached_at: as the browser reaches it, "" if equal. most: message bytes."""

    def __init__(
        self,
        address: RemoteAddress,
        *,
        dial: Dial,
        listen: Listen,
        entropy: Callable[[int], bytes],
        listen_at: tuple[str, int] = ("127.0.0.1", 0),
        reached_at: str = "",
        most: int = MOST_MESSAGE,
    ) -> None:
        self._address, self._dial, self._listen, self._entropy, self._most = address, dial, listen, entropy, most
        self._at, self._reached_at = listen_at, reached_at
        self._gate = ProxyGate()
        self._open = False

    def __repr__(self) -> str:
        return f"<RemoteBrowser {self._address.shown}>"

    @property
    def listens(self) -> str:
        return self._at[0]

    @property
    def reaches(self) -> str:
        """The host name under which it reaches this machine."""
        return self._reached_at.rpartition(":")[0].strip("[]") or self._at[0]

    async def start(self, nursery: trio.Nursery, proxy: ForwardProxy) -> RemoteLine:
        """Return a line to the browser. nursery: serves the gate, from the first call on. Raises NotUp."""
        await self._open_gate(nursery, proxy)
        try:
            with trio.fail_after(UP_WITHIN):
                stream, connection = await self._connected(await self._target())
        except trio.TooSlowError:
            raise NotUp(f"{self._address.shown} does not answer within {UP_WITHIN:g} s") from None
        except OSError as error:
            raise NotUp(f"{self._address.shown}: {error.strerror or error}") from None
        except (*_BROKEN, ProtocolError, h11.ProtocolError):
            raise NotUp(f"{self._address.shown} does not speak HTTP, or closed the connection") from None
        return RemoteLine(stream, connection, GateDoors(self._gate, self._reached_at, self._entropy), self._most)

    async def _open_gate(self, nursery: trio.Nursery, proxy: ForwardProxy) -> None:
        if self._open:
            return
        host, port = self._at
        try:
            listeners = await self._listen(host, port)
        except OSError as error:
            says = f"the guarded proxy can't listen at {host}:{port}: {error.strerror or error} (browser_proxy_listen)"
            raise NotUp(says) from None
        self._open = True
        shown = f"[{host}]" if ":" in host else host
        self._reached_at = self._reached_at or f"{shown}:{listeners[0].socket.getsockname()[1]}"
        for listener in listeners:
            nursery.start_soon(self._serve, listener, proxy)

    async def _serve(self, listener: trio.SocketListener, proxy: ForwardProxy) -> None:
        try:
            await self._gate.listen(listener, proxy)
        finally:
            self._open = False  # the next run of the pool reopens it

    def _hosts(self) -> Sequence[str]:
        return self._address.authority, *(() if self._address.tls else (f"localhost:{self._address.port}",))

    async def _target(self) -> str:
        address = self._address
        if not address.asks:
            return with_query(address.path, address.query)
        for host in self._hosts():
            status, body = await self._got(host, address.version)
            if status != NOT_A_NAME:
                break
        if status != 200:
            raise NotUp(f"{address.shown} answers with {status} where a browser identifies itself{_hint(status)}")
        try:
            target = told_target(str(json.loads(body)["webSocketDebuggerUrl"]), address)
        except (ValueError, LookupError, TypeError, RecursionError):
            target = ""
        if not target:
            raise NotUp(f"{address.shown} does not name the browser's WebSocket: is it Chromium's address?")
        return target

    async def _got(self, host: str, target: str) -> tuple[int, bytes]:
        stream = await self._dial(self._address.host, self._address.port, self._address.tls)
        try:
            asked = h11.Request(method="GET", target=target, headers=[("Host", host), ("Connection", "close")])
            client = h11.Connection(h11.CLIENT)
            await stream.send_all((client.send(asked) or b"") + (client.send(h11.EndOfMessage()) or b""))
            status, body = 0, b""
            while not isinstance(event := client.next_event(), h11.EndOfMessage | h11.ConnectionClosed):
                if event is h11.NEED_DATA:
                    client.receive_data(bytes(await stream.receive_some(_READ)))
                elif isinstance(event, h11.Response):
                    status = event.status_code
                elif isinstance(event, h11.Data):
                    body += event.data
                if len(body) > MOST_VERSION:
                    says = f"{self._address.shown} answers with more than {MOST_VERSION:,} bytes: it is no browser's"
                    raise NotUp(says)
            return status, body
        finally:
            await trio.aclose_forcefully(stream)

    async def _connected(self, target: str) -> tuple[trio.abc.Stream, WSConnection]:
        """Open the WebSocket. Raises NotUp and stream errors."""
        status = 0
        for host in self._hosts():
            stream = await self._dial(self._address.host, self._address.port, self._address.tls)
            try:
                connection = WSConnection(ConnectionType.CLIENT)
                await stream.send_all(connection.send(Request(host=host, target=target)))
                status = await _accepted(stream, connection)
                if status == 101:
                    return stream, connection
            except BaseException:
                await trio.aclose_forcefully(stream)
                raise
            await trio.aclose_forcefully(stream)
            if status != NOT_A_NAME:
                break
        again = "; an id is another after each start: http://host:port asks for it" if not self._address.asks else ""
        raise NotUp(f"{self._address.shown} opens no WebSocket ({status}){_hint(status) or again}")


def _hint(status: int) -> str:
    return ": it wants a token, or another one" if status in (401, 403) else ""


async def _accepted(stream: trio.abc.Stream, connection: WSConnection) -> int:
    while True:
        data = await stream.receive_some(_READ)
        if not data:
            raise trio.BrokenResourceError("it hung up")
        connection.receive_data(bytes(data))
        for event in connection.events():
            if isinstance(event, AcceptConnection):
                return 101
            if isinstance(event, RejectConnection):
                return event.status_code


def _ended(code: int) -> str:
    """Return the meaning of a close code (RFC 6455, 7.4.1); some represent ends without a close frame."""
    if code == CloseReason.ABNORMAL_CLOSURE:
        return "it hung up"
    if code in (CloseReason.PROTOCOL_ERROR, CloseReason.INVALID_FRAME_PAYLOAD_DATA):
        return f"it spoke no WebSocket ({code:d})"
    return f"it closed the connection ({code:d})"


class RemoteLine:
    """A line to a remote browser. doors: of the gate. most: bytes of one message."""

    shared = True

    def __init__(self, stream: trio.abc.Stream, connection: WSConnection, doors: GateDoors, most: int) -> None:
        self._stream, self._connection, self.doors, self._most = stream, connection, doors, most
        self._sending = trio.Lock()
        self._parts: list[bytes] = []
        self._size = 0
        self._last_word = ""

    def __repr__(self) -> str:
        return f"<RemoteLine {self._last_word or 'open'}>"

    async def send(self, texts: Sequence[bytes]) -> None:
        async with self._sending:
            try:
                frames = [self._connection.send(TextMessage(data=text.decode())) for text in texts]
            except ProtocolError:
                raise trio.BrokenResourceError("it is being closed") from None
            await self._stream.send_all(b"".join(frames))

    async def receive(self) -> Sequence[bytes] | None:
        """Return complete messages, None at the end. Raises BadMessage, and Broken- or ClosedResourceError."""
        if self._last_word:
            return None
        data = bytes(await self._stream.receive_some(_READ))
        found: list[bytes] = []
        try:
            self._connection.receive_data(data or None)
            for event in self._connection.events():
                if isinstance(event, TextMessage | BytesMessage):
                    found += self._part(event)
                elif isinstance(event, Ping):
                    async with self._sending:
                        await self._stream.send_all(self._connection.send(event.response()))
                elif isinstance(event, CloseConnection):
                    self._last_word = _ended(event.code)
        except ProtocolError as error:
            raise BadMessage(f"no WebSocket: {error}") from None
        if not data:
            self._last_word = self._last_word or "it hung up"
        return found or (None if self._last_word else [])

    def _part(self, event: TextMessage | BytesMessage) -> Sequence[bytes]:
        part = event.data.encode() if isinstance(event, TextMessage) else bytes(event.data)
        self._parts.append(part)
        self._size += len(part)
        if self._size > self._most:
            raise BadMessage(f"a message of more than {self._most:,} bytes")
        if not event.message_finished:
            return ()
        text = b"".join(self._parts)
        self._parts, self._size = [], 0
        return (text,)

    async def last_word(self) -> str:
        await trio.lowlevel.checkpoint()
        return self._last_word

    async def weigh(self) -> tuple[int, int]:
        """Return zeros: a remote browser's memory is unknown."""
        await trio.lowlevel.checkpoint()
        return 0, 0

    async def aclose(self) -> None:
        """Hang up; the browser discards our pages."""
        with trio.move_on_after(CLOSED_WITHIN, shield=True), suppress(ProtocolError, *_BROKEN):
            async with self._sending:
                await self._stream.send_all(self._connection.send(CloseConnection(code=1000)))
        with trio.move_on_after(CLOSED_WITHIN, shield=True):
            await trio.aclose_forcefully(self._stream)
