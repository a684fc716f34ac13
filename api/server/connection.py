"""One HTTP/1.1 connection: Hypercorn's protocol on our stream, within the limit of open ones.

For a live stream (`api/server/live.py`) Hypercorn sends the head; after that each chunk goes straight to the wire, and
on a plain socket the stream outlives the connection's tasks.
"""

from __future__ import annotations

import math
from functools import partial

import trio
from hypercorn.config import Config
from hypercorn.events import Closed, Event, RawData, Updated
from hypercorn.trio.task_group import TaskGroup
from hypercorn.trio.worker_context import WorkerContext
from hypercorn.typing import ConnectionState

from api.app import Api
from api.server.exchange import Exchange, probed, refused
from api.server.http1 import Fault, Http1
from api.server.wire import SecureWire, Wire, end_of

HEAD_TIMEOUT = 10
"""Seconds for the head of the first request; later heads get at most twice as long."""
IDLE_TIMEOUT = 75
"""Seconds to keep an idle connection. Longer than clients poll and load balancers keep theirs."""
MAX_RECV = 64 << 10
LINGER = 1.0
"""Seconds to keep reading from a peer that may not have read yet why its connection ends."""


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
        """Close the connection once it has been idle for too long. Runs beside all its requests."""
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
