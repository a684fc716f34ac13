"""HTTP on the World's listeners, as one child of the tree: HTTP/1.1 by Hypercorn.

Not `hypercorn.serve`: it opens its own sockets, while simulations run this code on memory listeners. At a stop the
child drains: it accepts no more, ends the streams, gives running requests `settings.drain` seconds, then cuts every
connection.

During start-up, listeners open before the data folder, so clients get a problem document or a small page instead of
silence. To the admin socket only the service's account and root can connect (`sanderling/listeners.py`), and both could
make any key anyway, so requests have all scopes; forwarded ones are refused (`api/peers.py`). The metrics listener is a
separate child with the guards of the public one, so it answers even if the public front end is down.
"""

from __future__ import annotations

import errno
import math
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from functools import partial
from html import escape
from typing import Any, Final

import trio
from hypercorn.config import Config
from hypercorn.events import Closed, Event, RawData, Updated
from hypercorn.trio.task_group import TaskGroup
from hypercorn.trio.worker_context import WorkerContext
from hypercorn.typing import ConnectionState

from actors.app_context import AppContext
from actors.extras import always_on
from actors.world import Certificate, Renewal
from api.app import Api, make_admin_app, make_app, make_metrics_app
from api.keys import SCOPES
from api.problems import MEDIA, Refusal
from api.ratelimit import ConnectionLimit, LimitReached
from api.server.http1 import Exchange, Fault, Http1, LiveStream, Park, probed, refused
from api.server.wire import SecureWire, Wire, end_of, peer_of
from storage.records.access import ApiKey
from storage.records.identity import Millis
from supervision import Child, ChildSpec

HEAD_TIMEOUT = 10  # seconds for the head of the first request; later heads get at most twice as long
IDLE_TIMEOUT = 75  # Seconds to keep an idle connection. Longer than clients poll and load balancers keep theirs.
MAX_RECV = 64 << 10
LINGER = 1.0  # seconds to keep reading from a peer that may not have read yet why its connection ends


class Connection:
    """One connection: reads its requests, sends their answers, and ends it when it is idle."""

    def __init__(self, api: Api, config: Config, context: WorkerContext, wire: Wire) -> None:
        self._api, self._context, self._wire, self._tasks = api, context, wire, TaskGroup()
        self._sending = trio.Lock()
        self._reading, self._watching = trio.CancelScope(), trio.CancelScope()
        self._leaving = False
        self._idle_until = trio.current_time() + HEAD_TIMEOUT
        """When to close; never during a request."""
        self._timer = trio.CancelScope()
        """The wait for the next check of an idle connection."""
        self._late = False
        """Whether half a head was there at the last check."""
        ends = (end_of(wire.socket.getpeername), end_of(wire.socket.getsockname))
        about = (config, context, self._tasks, ConnectionState({}), isinstance(wire, SecureWire), *ends)
        how = (partial(refused, api), partial(probed, api))
        self._http = Http1(Exchange(api, wire).answer, *about, self._send, how=how)

    async def run(self) -> None:
        """Serve until either end closes the connection, or only its stream is left."""
        try:
            async with self._tasks:
                self._tasks.spawn(self._watch)
                await self._read()
        finally:
            await self._close()

    async def _send(self, event: Event) -> None:
        if isinstance(event, Updated):
            now = trio.current_time() if event.idle else math.inf
            self._idle_until, self._timer.deadline = now + IDLE_TIMEOUT, now + HEAD_TIMEOUT
            self._late = False
        elif isinstance(event, RawData):
            rest = event.data if self._sending.locked() else self._wire.send_nowait(event.data)
            if rest:
                await self._send_rest(rest)
        else:
            await self._close()
            await self._http.handle(Closed())

    async def _send_rest(self, data: bytes | bytearray | memoryview) -> None:
        async with self._sending:
            try:
                await self._wire.send_all(data, uncancelled=True)
            except (trio.BrokenResourceError, trio.ClosedResourceError):
                await self._http.handle(Closed())

    async def _read(self) -> None:
        """Read until the peer's end. While leaving, discard the data and stop at the deadline."""
        with self._reading:
            while data := await self._receive():
                if not self._leaving:
                    await self._http.handle(RawData(bytes(data)))
            if not self._leaving:
                await self._http.handle(RawData(b""))
        await self._http.handle(Closed())
        self._watching.cancel()

    async def _receive(self) -> bytes | bytearray:
        try:
            return await self._wire.receive_some(MAX_RECV)
        except (trio.BrokenResourceError, trio.ClosedResourceError):
            return b""

    async def _close(self) -> None:
        """Close, unless a stream continues. Discard a peer's remaining data for a moment first.

        Closing a socket with unread data resets the connection, and the peer loses the answer that explains the error.
        """
        if self._wire.stream is not None:
            self._reading.cancel()
            return
        talks = self._http.strict.unread and not self._context.terminated.is_set()
        if talks and not self._leaving and self._wire.half_close():
            self._leaving = True
            self._reading.deadline = trio.current_time() + LINGER
        else:
            await self._wire.aclose()

    async def _watch(self) -> None:
        """Close the connection once it has been idle for too long. Runs alongside all its requests."""
        terminated, waits = self._context.terminated, True
        with self._watching:
            while waits:
                with trio.move_on_at(min(self._idle_until, trio.current_time() + HEAD_TIMEOUT)) as self._timer:
                    await terminated.wait()
                before, self._late = self._late, self._http.strict.half_head
                waits = not (terminated.is_set() or trio.current_time() >= self._idle_until or (before and self._late))
            if self._idle_until == math.inf:
                return  # the last answer ends the connection
            with trio.move_on_after(HEAD_TIMEOUT, shield=True):  # the end of reading must not cancel this
                if self._late and not terminated.is_set():
                    self._http.strict.fault = Fault("head", f"The head was not complete after {HEAD_TIMEOUT} s.")
                    await self._http.refuse(408)
                await self._http.handle(Closed())
                await self._close()


BESIDE_STREAMS = 8_192  # connections allowed in addition to `max_streams`; more get a 503
NO_FILES = (errno.EMFILE, errno.ENFILE, errno.ENOMEM, errno.ENOBUFS)
PAUSE = 0.1
TOLD_AGAIN = 60.0  # seconds until the log repeats that file descriptors have run out
GRACE = 5.0
RENEWAL_CHECK = 30.0  # seconds between two checks of the certificate's files


def front(context: AppContext) -> Sequence[ChildSpec]:
    """Return the front end's children, to start last and stop first."""
    budget = context.settings.drain + GRACE
    return (
        ChildSpec("http", run=partial(serve, context), shutdown=budget, ready_within=30.0),
        *(child for extra in always_on() for child in extra.children(context)),
    )


async def serve(context: AppContext, child: Child) -> None:
    settings, connections = context.settings, ServerConnections(make_app(context))
    opening, api = context.world.listen(settings.host, settings.port), connections.api
    tasks = (api.streams.watch_keys, api.streams.keepalives.run, api.seen.run, connections.renew_certificate)
    await connections.serve(child, opening, tasks, settings.drain, "http.listening")


class ServerConnections:
    """The open connections of one run of the server. bare: without TLS, even if there is a certificate."""

    def __init__(self, api: Api, *, bare: bool = False) -> None:
        self.api = api
        self._certificate = None if bare else api.context.world.certificate
        self._settings = api.context.settings
        self._config = Config()
        self._config.accesslog = self._config.errorlog = None
        self._config.include_date_header = False  # it reads the real clock
        self._config.include_server_header = False
        self._context = WorkerContext(None)
        self._wires: dict[Wire, str] = {}
        """Each connection with its name in the limit."""
        most = self._settings.max_streams + BESIDE_STREAMS
        self._places = ConnectionLimit(most, self._settings.address_connections, api.proxies)
        self._empty = trio.Event()
        self._park: Park | None = None

    async def serve(
        self,
        child: Child,
        opening: Awaitable[Sequence[trio.abc.Listener[Any]]],
        tasks: Sequence[Callable[[], Awaitable[None]]],
        drain: float,
        event: str = "",
    ) -> None:
        """Accept until asked to stop, then give answers `drain` seconds; cut all if cancelled. event: of the log."""
        stopping, listeners, api = child.stopping, await opening, self.api
        try:
            async with trio.open_nursery() as nursery:
                for task in (self.cut_when_cancelled, api.used.run, api.refused.run, *tasks):
                    nursery.start_soon(task)
                await nursery.start(api.repeats.run)
                async with trio.open_nursery() as accepting:
                    for listener in listeners:
                        accepting.start_soon(self.accept, listener, nursery)
                    if event:
                        api.context.world.log(event, addresses=[name_of(listener) for listener in listeners])
                    child.ready()
                    await stopping.wait()
                    accepting.cancel_scope.cancel()
                await close_all(listeners)
                await self.drain(drain)
                nursery.cancel_scope.cancel()
        finally:
            await close_all(listeners)
            api.refused.tell()
            await api.used.save()
            await api.seen.save()

    async def accept(self, listener: trio.abc.Listener[Any], nursery: trio.Nursery) -> None:
        """Give every new connection a task. Without file descriptors, pause: closing connections helps."""
        told_at = -math.inf
        while True:
            try:
                stream = await listener.accept()
            except OSError as error:
                if error.errno not in NO_FILES:
                    raise
                if trio.current_time() - told_at >= TOLD_AGAIN:
                    told_at = trio.current_time()
                    log = self.api.context.world.log
                    log("http.out_of_files", level="warning", error=str(error), open=len(self._wires))
                await trio.sleep(PAUSE)
                continue
            try:
                guest = self._places.take(peer_of(stream))
            except LimitReached as full:
                await self._turn_away(stream, str(full))
            else:
                secure = stream if self._certificate is None else self._certificate.wrap(stream)
                patience = self._settings.send_timeout
                wire = SecureWire(secure, patience) if isinstance(secure, trio.SSLStream) else Wire(secure, patience)
                self._wires[wire] = guest
                nursery.start_soon(self._live, wire, nursery)

    async def drain(self, seconds: float) -> None:
        """End streams and idle connections at once; give running requests this many seconds."""
        await self._context.terminated.set()
        self.api.streams.end_all()
        if self._wires:
            with trio.move_on_after(seconds):
                await self._empty.wait()

    async def renew_certificate(self) -> None:
        world = self.api.context.world
        while world.certificate is not None:
            await trio.sleep(RENEWAL_CHECK)
            if (renewal := world.certificate.refresh()) is not None:
                tell_renewal(world.log, renewal)

    async def cut_when_cancelled(self) -> None:
        """When cancelled, abort every send: they are shielded, and a stop would wait for each."""
        try:
            await trio.sleep_forever()
        finally:
            for wire in self._wires:
                wire.hurry()

    async def _live(self, wire: Wire, nursery: trio.Nursery) -> None:
        try:
            if await _is_agreed(wire):
                await Connection(self.api, self._config, self._context, wire).run()
        except Exception as error:  # last resort: one connection's bug must not end the others
            self.api.report(error, {})
        finally:
            if isinstance(wire.stream, LiveStream):
                self._park = self._park or Park(nursery, self.api, self._release)
                self._park.add(wire.stream)
            else:
                self._release(wire)
                await wire.cut()

    def _release(self, wire: Wire) -> None:
        self._places.free(self._wires.pop(wire))
        if not self._wires:
            self._empty.set()
            self._empty = trio.Event()

    async def _turn_away(self, stream: trio.abc.Stream, why: str) -> None:
        """Answer 503. Over TLS just close, since an answer would need a handshake."""
        body = Refusal("unavailable", why).encode(self.api.base_url)
        head = (
            f"HTTP/1.1 503 \r\ncontent-type: {MEDIA}\r\ncontent-length: {len(body)}\r\n"
            f"x-request-id: {self.api.new_request_id()}\r\nretry-after: 10\r\nconnection: close\r\n\r\n"
        )
        if self._certificate is None:
            with trio.move_on_after(PAUSE), suppress(trio.BrokenResourceError):
                await stream.send_all(head.encode() + body)
        await trio.aclose_forcefully(stream)


async def _is_agreed(wire: Wire) -> bool:
    with suppress(trio.BrokenResourceError), trio.move_on_after(HEAD_TIMEOUT):
        if isinstance(wire, SecureWire):
            await wire.do_handshake()
        return True
    return False


def tell_renewal(log: Callable[..., None], renewal: Renewal) -> None:
    level = "info" if renewal.taken else "error"
    log("http.certificate", level=level, taken=renewal.taken, says=renewal.says)


async def close_all(listeners: Sequence[trio.abc.Listener[Any]]) -> None:
    for listener in listeners:
        await trio.aclose_forcefully(listener)


def name_of(listener: trio.abc.Listener[Any]) -> str:
    if not isinstance(listener, trio.SocketListener):
        return repr(listener)
    host, port = listener.socket.getsockname()[:2]
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"


AGAIN: Final = 2  # seconds until a client should retry
AT_ONCE: Final = 64  # connections answered at once; more wait in the system's queue
WITHIN: Final = 5.0  # seconds for one connection, TLS included
MOST_HEAD: Final = 16_384
ACCEPT_PAUSE: Final = 0.1
_PAGE: Final = (
    '<!doctype html><html lang="en"><meta charset="utf-8"><meta http-equiv="refresh" content="{again}">'
    "<title>Sanderling is starting</title><h1>Sanderling is starting</h1><p>{says}.</p>"
    "<p>This page asks again every {again} seconds.</p></html>\n"
)


class StartupListener:
    """Answers on listeners until each is given up. doing: the current step, without a full stop."""

    def __init__(self, base_url: str, certificate: Certificate | None) -> None:
        self._base_url, self._certificate = base_url, certificate
        self._kept: dict[tuple[str, int], tuple[trio.CancelScope, trio.Event]] = {}
        self.doing: Callable[[], str] = lambda: "opening the data folder"

    def say(self, doing: str) -> None:
        """Set the current step. Any thread may call it."""
        self.doing = lambda: doing

    async def keep(
        self, address: tuple[str, int], listeners: Sequence[trio.abc.Listener[Any]], *, secure: bool = False
    ) -> None:
        """Answer on an address's listeners until `give_up`; return once the open connections are answered."""
        free = trio.Semaphore(AT_ONCE)
        async with trio.open_nursery() as answering:
            scope, gone = trio.CancelScope(), trio.Event()
            self._kept[address] = scope, gone
            try:
                with scope:
                    async with trio.open_nursery() as accepting:
                        for listener in listeners:
                            accepting.start_soon(self._accept, listener, answering, free, secure)
            finally:
                gone.set()

    async def give_up(self, address: tuple[str, int]) -> None:
        """Stop accepting on an address, so that the server can take over."""
        if (kept := self._kept.pop(address, None)) is not None:
            scope, gone = kept
            scope.cancel()
            await gone.wait()

    async def _accept(
        self, listener: trio.abc.Listener[Any], answering: trio.Nursery, free: trio.Semaphore, secure: bool
    ) -> None:
        while True:
            await free.acquire()
            stream = None
            while stream is None:
                try:
                    stream = await listener.accept()
                except OSError:  # no file descriptors: closing connections helps
                    await trio.sleep(ACCEPT_PAUSE)
            answering.start_soon(self._answer, stream, free, secure)

    async def _answer(self, stream: trio.abc.Stream, free: trio.Semaphore, secure: bool) -> None:
        try:
            with trio.move_on_after(WITHIN), suppress(trio.BrokenResourceError, trio.ClosedResourceError):
                if secure and self._certificate is not None:
                    secured: Any = self._certificate.wrap(stream)
                    stream = secured
                    await secured.do_handshake()
                    if secured.selected_alpn_protocol() not in (None, "http/1.1"):
                        raise trio.BrokenResourceError
                if head := await _head(stream):
                    await stream.send_all(self._said(head))
        finally:
            free.release()
            await trio.aclose_forcefully(stream)

    def _said(self, head: bytes) -> bytes:
        says = f"The service is starting: {self.doing()}"
        lines = [line.strip() for line in head.lower().split(b"\r\n")]
        if any(line.startswith(b"accept:") and b"text/html" in line for line in lines):
            kind, body = "text/html; charset=utf-8", _PAGE.format(says=escape(says), again=AGAIN).encode()
        else:
            kind, body = MEDIA, Refusal("unavailable", f"{says}.").encode(self._base_url)
        said = (
            f"HTTP/1.1 503 Service Unavailable\r\ncontent-type: {kind}\r\ncontent-length: {len(body)}\r\n"
            f"retry-after: {AGAIN}\r\ncache-control: no-store\r\ncontent-security-policy: default-src 'none'\r\n"
            "x-content-type-options: nosniff\r\nconnection: close\r\n\r\n"
        ).encode()
        return said if head.startswith(b"HEAD ") else said + body


async def _head(stream: trio.abc.Stream) -> bytes:
    """Return the head of a request, perhaps truncated; b"" if the client ends before its end."""
    head = b""
    while b"\r\n\r\n" not in head and len(head) < MOST_HEAD:
        part = await stream.receive_some(MOST_HEAD)
        if not part:
            return b""
        head += part
    return head


OWNER = ApiKey("socket", "this machine", "socket", "", tuple(SCOPES), Millis(0), rate_per_minute=60_000, burst=10_000)
"""The key of every request on the socket."""
DRAIN = 1.0
BEAT = 1.0  # seconds between two measurements of the loop's lag


def admin_socket(context: AppContext) -> Sequence[ChildSpec]:
    """Return the child for the admin socket, to start before the public front end; none without a socket."""
    if context.world.admin_socket is None:
        return ()
    return (ChildSpec("admin", run=partial(_serve, context), shutdown=DRAIN + GRACE, ready_within=30.0),)


async def _serve(context: AppContext, child: Child) -> None:
    connections = ServerConnections(make_admin_app(context, OWNER), bare=True)
    tasks = (connections.api.streams.keepalives.run, partial(_measure, context))
    await connections.serve(child, _listeners(context), tasks, DRAIN)


async def _listeners(context: AppContext) -> Sequence[trio.abc.Listener[Any]]:
    assert context.world.admin_socket is not None
    try:
        return await context.world.admin_socket()
    except OSError as error:
        context.world.log("admin.no_socket", level="error", error=str(error))
        return ()


async def _measure(context: AppContext) -> None:
    while True:
        due = trio.current_time() + BEAT
        await trio.sleep_until(due)
        context.world.metrics.loop_lag.value = max(0.0, trio.current_time() - due)


def metrics_listener(context: AppContext) -> Sequence[ChildSpec]:
    address = context.settings.metrics_address()
    if address is None:
        return ()

    async def run(child: Child) -> None:
        connections = ServerConnections(make_metrics_app(context))
        await connections.serve(child, context.world.listen(*address), (), DRAIN, "metrics.listening")

    return (ChildSpec("metrics", run=run, shutdown=DRAIN + GRACE, ready_within=30.0),)
