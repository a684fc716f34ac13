"""One open stream, from its head to its end, and the parking of silent ones.

A stream on a plain socket leaves its connection after the head: Hypercorn's tasks, protocol and request end, and only
the socket, the cursor and the limits remain. It has a task while bytes or the log are in its way. Otherwise it is
parked: the tail calls it with new events, `Signs` with keepalives, and `Park` when its peer has gone. A connection with
TLS or in memory needs a task to notice its peer, so its stream stays in it and waits there.
"""

from __future__ import annotations

import select
import sys
from collections.abc import Callable
from contextlib import suppress

import trio

from actors.overseer.open_streams import StreamOwner
from api.app import Api
from api.server.wire import Wire
from api.streams.feed import Feed
from api.streams.keepalives import KeepaliveState, Writer
from api.streams.reader import SEND_SIZE, FellBehind, Reader
from api.streams.sse import damaged, left_behind, opening, stopping
from storage.errors import Corrupt
from storage.records.key import ApiKey, Holder

GONE = (trio.BrokenResourceError, trio.ClosedResourceError, trio.TooSlowError)
"""Errors of a send after the client disconnected or was cut: the normal end of a stream."""
RETURN = 3.0
"""Seconds until clients may reconnect after a stop; spread up to twice as many."""
PEERS = 100
"""Peers that have gone, between two checkpoints."""


class LiveStream(KeepaliveState):
    """A stream with its slot, its row in the operator's list, and its keepalives, until `run` returns True."""

    __slots__ = ("_api", "_key", "_park", "_row", "_scope", "ended", "number", "reader", "wire")

    def __init__(
        self, api: Api, key: Holder, reader: Reader | Feed, writer: Writer, wire: Wire, *, address: str, asked: str
    ) -> None:
        streams, context = api.streams, api.context
        super().__init__(reader.form, writer, streams.silence())
        self._api, self._key, self.reader, self.wire = api, key, reader, wire
        self._scope: trio.CancelScope | None = None
        self._park: Park | None = None
        self.number = -1
        self.ended = wire.eof
        place = reader if isinstance(reader, Reader) else None
        self.parks = place is not None and wire.parks
        whose = (
            StreamOwner(key.id, key.name, key.prefix) if isinstance(key, ApiKey) else StreamOwner(key.id, "dashboard")
        )
        self._row = context.open_streams.add(
            whose, address, asked, context.world.now(), progress=place, close=self.cancel
        )
        streams.add(self, key)
        wire.on_eof = self.cancel
        wire.hold(SEND_SIZE)
        if place is not None:
            self.rest = writer.send_nowait(opening(place.form, place.replay_from))
            streams.signs.add(self)
        if self.parks:
            streams.keep_place(key)

    def close(self) -> None:
        streams = self._api.streams
        self.ended, self.waits, self.wire.on_eof = True, False, None
        self._api.context.open_streams.drop(self._row)
        streams.drop(self)
        if isinstance(self.reader, Reader):
            self.reader.tail.unpark(self)
            streams.signs.drop(self)
        if self.parks:
            streams.free_place(self._key)

    async def run(self) -> bool:
        """Feed until the stream parks or ends; return whether it has ended. Any end is regular and gets last words."""
        last_words, streams = b"", self._api.streams
        try:
            last_words = await self._feed()
        finally:
            self._scope = None
            if not self.waits:
                self.close()
        if self.waits:
            return False
        if streams.ending:
            last_words = stopping(self.form, RETURN * (1 + streams.spread()))
        if last_words and not self.wire.eof:
            with suppress(*GONE):
                await self.writer.send(self.writer.send_nowait(last_words))
        return True

    async def _feed(self) -> bytes:
        try:
            with trio.CancelScope() as self._scope, suppress(*GONE):
                if self.ended:
                    return b""
                if not isinstance(self.reader, Reader):
                    await self.reader.feed(self.writer)
                    return b""
                await self._api.streams.feed(self.reader, self)
                if not self.ended:
                    self.waits = True
                    self.reader.tail.park(self)
        except FellBehind:
            self._api.context.world.metrics.fell_behind.add()
            return left_behind(self.form)
        except Corrupt as error:
            self._api.context.world.log("stream.cut", level="warning", error=str(error))
            return damaged(self.form)
        return b""

    def cancel(self) -> None:
        if not self.ended:
            self.ended = True
            if self._scope is not None:
                self._scope.cancel()
            elif self.waits:
                self._wake()

    def give(self, newest: str) -> None:
        parked = self.parks and self.waits
        super().give(newest)
        if parked and self.rest:
            self._wake()

    def published(self) -> None:
        """Write new events, if that needs no waiting; else let a task do it."""
        reader = self.reader
        if not isinstance(reader, Reader) or reader.at_end():
            return
        try:
            frames = reader.take_nowait()
        except Exception as error:  # last resort: one stream's bug must not end the others
            self._api.report(error, {})
            self.cancel()
            return
        if frames:
            reader.sent += len(frames)
            self.rest = self.writer.send_nowait(frames)
        if self.rest or not reader.at_end():
            self._wake()

    def settle(self, park: Park) -> None:
        self._park = park
        self._wake()

    def _wake(self) -> None:
        assert isinstance(self.reader, Reader) and self._park is not None
        self.waits = False
        self.reader.tail.unpark(self)
        self._park.start(self)


class Park:
    """The streams of one server that have left their connections. release: gives up the place of a connection."""

    def __init__(self, nursery: trio.Nursery, api: Api, release: Callable[[Wire], None]) -> None:
        assert sys.platform == "linux"
        self._nursery, self._api, self._release = nursery, api, release
        self._streams: dict[int, LiveStream] = {}
        self._peers = select.epoll()
        nursery.start_soon(self._watch)

    def add(self, stream: LiveStream) -> None:
        stream.number = stream.wire.fileno()
        if stream.number < 0 or self._peers.closed:
            stream.ended = True
        else:
            self._streams[stream.number] = stream
            self._peers.register(stream.number, select.EPOLLRDHUP | select.EPOLLONESHOT)
        stream.settle(self)

    def start(self, stream: LiveStream) -> None:
        self._nursery.start_soon(self._run, stream)

    async def _run(self, stream: LiveStream) -> None:
        over = True
        try:
            over = await stream.run()
            if over and not stream.wire.eof:
                with suppress(*GONE):
                    await stream.writer.finish()
        except Exception as error:  # last resort: one stream's bug must not end the others
            self._api.report(error, {})
        finally:
            if not over and self._peers.closed:  # the server was cut off before the task began
                over = True
                stream.close()
            if over:
                self._drop(stream)

    def _drop(self, stream: LiveStream) -> None:
        if self._streams.get(stream.number) is stream:  # else another has the number by now
            del self._streams[stream.number]
            with suppress(OSError, ValueError):  # it or the epoll may be closed
                self._peers.unregister(stream.number)
        stream.wire.close()
        self._release(stream.wire)

    async def _watch(self) -> None:
        """Notice the peers that go. When cancelled, close every stream that has no task."""
        try:
            while True:
                await trio.lowlevel.wait_readable(self._peers.fileno())
                for number, _ in self._peers.poll(0, PEERS):
                    if (stream := self._streams.get(number)) is not None:
                        stream.wire.ended()
        finally:
            self._peers.close()
            for parked in [stream for stream in self._streams.values() if stream.waits]:
                parked.close()
                self._drop(parked)
