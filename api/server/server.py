"""HTTP on the World's listeners, as one child of the tree: HTTP/1.1 by Hypercorn.

Not `hypercorn.serve`: it opens its own sockets, while simulations run this code on memory listeners. The child accepts
and gives each connection a task. At a stop it drains: it accepts no more, ends the streams, gives running requests
`settings.drain` seconds, then cuts every connection.
"""

from __future__ import annotations

import errno
import math
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from functools import partial
from typing import Any

import trio
from hypercorn.config import Config
from hypercorn.trio.worker_context import WorkerContext

from actors.app_context import AppContext
from actors.extras import always_on
from actors.world import Renewal
from api.app import Api, make_app
from api.problems import MEDIA, Refusal
from api.ratelimit import ConnectionLimit, LimitReached
from api.server.connection import HEAD_TIMEOUT, Connection
from api.server.live import LiveStream, Park
from api.server.wire import SecureWire, Wire, peer_of, wire_of
from supervision import Child, ChildSpec

BESIDE_STREAMS = 8_192
"""Connections allowed in addition to `max_streams`; more get a 503."""
NO_FILES = (errno.EMFILE, errno.ENFILE, errno.ENOMEM, errno.ENOBUFS)
PAUSE = 0.1
TOLD_AGAIN = 60.0
"""Seconds until the log repeats that file descriptors have run out."""
GRACE = 5.0
RENEWAL_CHECK = 30.0
"""Seconds between two checks of the certificate's files."""


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
    tasks = (api.streams.watch_keys, api.streams.signs.run, api.seen.run, connections.renew_certificate)
    await connections.serve(child, opening, tasks, settings.drain, "http.listening")


class ServerConnections:
    """The open connections of one run of the server. bare: without TLS, even if there is a certificate."""

    def __init__(self, api: Api, *, bare: bool = False) -> None:
        self.api = api
        self._certificate = None if bare else api.context.world.certificate
        self._settings = api.context.settings
        self._config = _hypercorn_config()
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
                wire = wire_of(secure, self._settings.send_timeout)
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
    if not isinstance(wire, SecureWire):
        return True
    try:
        with trio.fail_after(HEAD_TIMEOUT):
            await wire.do_handshake()
    except (trio.BrokenResourceError, trio.TooSlowError):
        return False
    return True


def tell_renewal(log: Callable[..., None], renewal: Renewal) -> None:
    level = "info" if renewal.taken else "error"
    log("http.certificate", level=level, taken=renewal.taken, says=renewal.says)


def _hypercorn_config() -> Config:
    config = Config()
    config.accesslog = None
    config.errorlog = None
    config.include_date_header = False  # it reads the real clock
    config.include_server_header = False
    return config


async def close_all(listeners: Sequence[trio.abc.Listener[Any]]) -> None:
    for listener in listeners:
        await trio.aclose_forcefully(listener)


def name_of(listener: trio.abc.Listener[Any]) -> str:
    if not isinstance(listener, trio.SocketListener):
        return repr(listener)
    host, port = listener.socket.getsockname()[:2]
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
