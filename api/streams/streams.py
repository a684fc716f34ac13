"""The open streams: how many there may be, when each must end, and the loop that feeds one.

A stream ends when its client goes or stops reading, when its key is deleted (within a second), when it has fallen
behind what retention keeps, and at a stop of the service. One task looks after the keys of all streams; it sleeps
while none is open, so an idle service has no timer.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import assert_never

import trio

from actors.metrics import Gauge
from actors.settings import Settings
from actors.world import Jail
from api.problems import Refusal
from api.streams.channels import Channels
from api.streams.export import Exports
from api.streams.holder import Holder
from api.streams.keepalives import Pulse, Signs, Writer
from api.streams.reader import Reader
from api.streams.searching import Texts
from api.streams.sse import keepalive, opening
from api.streams.subscriptions import Subscribers
from storage.errors import StorageError
from storage.interface import Storage
from storage.records.body import id_in
from storage.records.cursor import EVERYTHING
from storage.records.identity import Seq, id_of
from storage.records.key import ApiKey
from storage.records.session import Session

KEY_CHECK = 0.5
"""Seconds between two looks at the keys of the open streams."""
EARLY = 1 / 3
"""The part of the keepalive time by which a stream's sign of life may come early; see `Streams.spread`."""
MOST_HELD = 32 << 20
"""Bytes of the log that all streams whose clients are behind hold; the rest of them read it again when it is wanted."""
MAKING = 8
"""Pages of history that are being made at once, each of 1 MiB at most; the others wait, and hold nothing."""
GOLDEN = 0.618_033_988_749_895


class Streams:
    """All streams that are open now; `gauge` shows how many."""

    def __init__(
        self, storage: Storage, settings: Settings, gauge: Gauge | None = None, jail: Jail | None = None
    ) -> None:
        self.texts = Texts(jail)
        self.channels = Channels(storage.alerts)
        self.exports = Exports()
        self.subscribers = Subscribers()
        """Agents that hear of what they have subscribed to."""
        self.signs = Signs(self._newest_known)
        self._storage, self._settings = storage, settings
        self._gauge = gauge or Gauge()
        self._open: dict[trio.CancelScope, Holder] = {}
        self._of_key: Counter[str] = Counter()
        self._some = trio.Event()
        self._newest: tuple[Seq, str] | None = None
        self._place = -GOLDEN
        self._held = 0
        self.pages = trio.CapacityLimiter(MAKING)
        """The pages of history that are being made."""
        self.ending = False

    def check_room(self, key: Holder) -> None:
        """Raise Refusal when there are too many streams, of all (503) or of this key (429)."""
        if self.ending:
            raise Refusal("unavailable", "The service is stopping.", headers={"Retry-After": "5"})
        if self._of_key.total() >= self._settings.max_streams:
            detail = f"{self._settings.max_streams} streams are open; there is no room for more."
            raise Refusal("unavailable", detail, headers={"Retry-After": "10"})
        if self._of_key[key.id] >= self._settings.key_streams:
            detail = f"This key has {self._settings.key_streams} streams open; close one first."
            raise Refusal("rate-limited", detail, headers={"Retry-After": "10"})

    @contextmanager
    def place(self, key: Holder) -> Iterator[None]:
        """Take a place for the length of the block, before the head of the answer is sent. Raises Refusal."""
        self.check_room(key)
        self._of_key[key.id] += 1
        try:
            yield
        finally:
            self._of_key[key.id] -= 1
            if not self._of_key[key.id]:
                del self._of_key[key.id]

    @contextmanager
    def opened(self, key: Holder) -> Iterator[trio.CancelScope]:
        """Keep a stream on the list for the length of the block. Cancelling the scope ends it."""
        with trio.CancelScope() as scope:
            if self.ending:
                scope.cancel()
            self._open[scope] = key
            self._gauge.value += 1  # the admin socket's streams are counted with it, too
            self._some.set()
            try:
                yield scope
            finally:
                del self._open[scope]
                self._gauge.value -= 1

    def spread(self) -> float:
        """Return the next of a row of numbers from 0 to 1 of which any stretch is spread evenly.

        An event goes to ten thousand streams at one moment; without this their signs of life would follow at one moment
        too, for ever, and their clients would come back at one moment after a stop.
        """
        self._place = (self._place + GOLDEN) % 1
        return self._place

    def end_all(self) -> None:
        """End every stream, now and from now on."""
        self.ending = True
        for scope in self._open:
            scope.cancel()

    async def watch_keys(self) -> None:
        """End the streams of deleted keys and ended sessions, for ever."""
        while True:
            await self._some.wait()
            await trio.sleep(KEY_CHECK)
            with suppress(StorageError):  # nobody knows now: they are asked for again in a moment
                for holder in {key.sha256: key for key in self._open.values()}.values():
                    if await self.has_gone(holder):
                        self._end_key(holder.sha256)
            if not self._open:
                self._some = trio.Event()

    async def languages(self) -> Sequence[str]:
        """Return the languages in which a stream's keywords are read: those of the alerts, English, and plain words."""
        alerts = await self._storage.alerts.all()
        return tuple(dict.fromkeys(("en", "simple", *(alert.language for alert in alerts))))

    async def newest_id(self) -> str:
        """Return the id of the newest event that streams may show; an id of its position when it has been deleted."""
        tail = self._storage.tail
        head = tail.head
        if self._newest is None or self._newest[0] != head:
            recent = tail.since(Seq(head - 1))
            if recent:
                body: bytes | None = recent[-1].stored.body
            else:
                page = await self._storage.log.read_back(Seq(head + 1), 1, EVERYTHING)
                body = page.events[0].body if page.events else None
            self._newest = (head, id_in(body) if body else id_of(head, 0))
        return self._newest[1]

    async def feed(self, reader: Reader, writer: Writer) -> None:
        """Write a stream: the opening, then what is new as it comes, and signs of life. Ends when a send raises.

        Raises what `Writer.send` does, and FellBehind. What a client does not take at once is sent outside of the scope
        by which a sign of life may interrupt, since a send must not end in the middle.
        """
        pulse = Pulse(reader.form, writer, self._settings.keepalive * (1 - EARLY * self.spread()))
        rest = writer.send_nowait(opening(reader.form, reader.replay_from))
        self.signs.add(pulse)
        try:
            while True:
                if rest:
                    with self._pages_of(reader):
                        await writer.send(rest)
                rest = b""
                with trio.CancelScope() as pulse.scope:
                    rest = await _feed_willing(reader, writer, pulse)
                pulse.scope = None
                rest = rest or pulse.take_rest()
                if not rest and pulse.due:
                    rest = writer.send_nowait(keepalive(reader.form, await self.newest_id()))
        finally:
            self.signs.drop(pulse)

    @contextmanager
    def _pages_of(self, reader: Reader) -> Iterator[None]:
        """Let a reader keep its page while its client takes nothing, if there is room for it."""
        held = reader.held()
        if self._held + held > MOST_HELD:
            reader.let_go()
            held = 0
        self._held += held
        try:
            yield
        finally:
            self._held -= held

    async def _newest_known(self) -> str | None:
        try:
            return await self.newest_id()
        except StorageError:
            return None  # it will do better, and nobody is told that all is well

    def __len__(self) -> int:
        return len(self._open)

    def __repr__(self) -> str:
        return f"<Streams {len(self._open)} open of {len(self._of_key)} keys>"

    async def has_gone(self, holder: Holder) -> bool:
        """Return whether the key was deleted, or the session ended."""
        match holder:
            case ApiKey(sha256=hashed):
                return await self._storage.keys.by_hash(hashed) is None
            case Session(sha256=hashed):
                return await self._storage.people.session(hashed) is None
            case _:
                assert_never(holder)

    def _end_key(self, hashed: str) -> None:
        for scope, key in self._open.items():
            if key.sha256 == hashed:
                scope.cancel()


async def _feed_willing(reader: Reader, writer: Writer, pulse: Pulse) -> bytes:
    """Feed a client for as long as it takes everything at once; return the first rest that it did not."""
    while True:
        if reader.at_end():
            pulse.waits = True
            try:
                await reader.wait()
            finally:
                pulse.waits = False
            if pulse.rest:
                return pulse.take_rest()
        else:
            await trio.lowlevel.checkpoint()
        frames = await reader.take()
        reader.sent += len(frames)
        if frames and (rest := writer.send_nowait(frames)):
            return rest
