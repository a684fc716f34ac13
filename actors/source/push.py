"""A pushing source's life: connect, take frames, admit those that somebody wants, connect again when the link ends.

Frames come faster than commits, so those admitted while a commit is under way form the next harvest: one task reads
the socket into a bounded batch, and reading stops while the batch is full, which pushes back on the server by TCP
itself. Duplicates among the last `WINDOW` frames are dropped; frames that nobody wants are counted and forgotten.
Reconnecting waits with full jitter from 1 s up to 5 min; a minute of life or one admitted frame resets the streak,
so that a server which accepts and drops is not hammered.
"""

from __future__ import annotations

import contextlib
import random
from typing import Final

import msgspec
import trio
from msgspec.structs import replace

from actors.content.errors import ContentError
from actors.content.fingerprint import content_hash, simhash
from actors.content.frames import Frame, read_frame
from actors.content.text import cap
from actors.egress.failures import LookFailed
from actors.egress.turns import Claim
from actors.egress.url import parse_url
from actors.egress.websocket import Frames
from actors.errors import UrlRefused
from actors.messages import Record
from actors.source import health, progress
from actors.source.admission import own_filter
from actors.source.fetch import host_of, refusal
from actors.source.ports import Live, Ports, limits_of
from actors.source.troubles import notice
from storage.errors import StorageError
from storage.records.event import Draft
from storage.records.health import BreakerState
from storage.records.identity import Millis
from storage.records.source import Harvest, HotState, SourceState
from supervision import Child, Unanswered

WINDOW: Final = 10_000
BATCH: Final = 256
LINGER: Final = 0.01
AGAIN: Final = 1.0
FIRST_DELAY, LONGEST_DELAY = 1.0, 300.0
STEADY = 60.0
"""Seconds of life after which a connection counts as good."""
_MARK: Final = 12


class PushSource:
    """The actor of one WebSocket."""

    __slots__ = ("_chance", "_live", "_own", "_ports", "_seen", "_streak")

    def __init__(self, ports: Ports, live: Live) -> None:
        self._ports = ports
        self._live = live
        self._own = own_filter(live.source)
        self._chance: random.Random = ports.world.chance(f"source/{live.source.id}")
        self._seen: dict[str, None] = {}
        self._streak = 0

    async def run(self, child: Child) -> None:
        """Stay connected until cancelled."""
        await self._remember()
        while True:
            await self._await_line(child)
            child.note("connecting")
            try:
                await self._session(child)
            except (LookFailed, UrlRefused) as error:
                failure = error if isinstance(error, LookFailed) else refusal(error)
                await self._failed(self._ports.egress.line.failed(host_of(self._live.source.watch_url), failure))
            child.attention = self._streak > 1
            child.note("waiting to reconnect")
            await self._rest(self._delay())

    async def _await_line(self, child: Child) -> None:
        """Wait while our own line is down, and after that for this source's moment in the spread."""
        line = self._ports.egress.line
        if line.down:
            child.note("paused: our own line is down")
            wait = await line.clearance(host_of(self._live.source.watch_url), self._chance.random())
            if wait:
                await self._rest(wait)

    async def _session(self, child: Child) -> None:
        """Hold one connection until it ends, which is always a LookFailed; deliver what it brings."""
        ports = self._ports
        url = parse_url(self._live.source.watch_url, schemes=("ws", "wss"))
        async with ports.egress.hosts.turn(url.host, Claim(self._live.source.id, self._live.hot.last_look_at or 0)):
            pass  # a handshake is one request; the open connection must not keep others from the host
        async with ports.egress.websocket(url) as frames:
            opened = trio.current_time()
            ports.egress.line.answered(url.host)
            child.note("connected")
            await self._connected()
            while True:
                batch = await _some(frames)
                if await self._harvest(batch) or trio.current_time() - opened > STEADY:
                    self._streak = 0

    async def _harvest(self, batch: list[str]) -> bool:
        """Have the wanted frames of a batch committed; return whether there were any.

        Without an answer from the recorder, storage says which frames it had; the rest are sent again.
        """
        await self._ports.admission.refresh()
        admitted = False
        while True:
            now = self._ports.world.now()
            drafts = tuple(draft for text in batch if (draft := self._draft(text, now)) is not None)
            self._note(now, len(batch), len(drafts))
            if not drafts or await self._send(drafts):
                return admitted or bool(drafts)
            admitted = True
            await trio.sleep(AGAIN)
            await self._remember()

    async def _send(self, drafts: tuple[Draft, ...]) -> bool:
        source = self._live.source.id
        harvest = Harvest(source, drafts, SourceState(source, self._live.hot, self._memory()))
        try:
            await self._ports.recorder.ask(lambda reply: Record(harvest, reply))
        except (Unanswered, StorageError) as error:
            self._ports.world.log("harvest.unacknowledged", source_id=source, error=str(error))
            return False
        self._live.unsaved = False
        return True

    def _note(self, now: Millis, frames: int, events: int) -> None:
        hot = self._live.hot
        self._live.hot = replace(
            hot,
            looks=hot.looks + frames,
            events=hot.events + events,
            last_look_at=now,
            last_success_at=now,
            last_event_at=now if events else hot.last_event_at,
        )
        self._live.unsaved = True

    def _draft(self, text: str, now: Millis) -> Draft | None:
        """Return the event a frame becomes; None when it is unreadable, a duplicate, or wanted by nobody."""
        source = self._live.source
        try:
            frame = read_frame(text, source.watch_url)
        except ContentError:
            return None
        mark = content_hash(frame.key)[7 : 7 + 2 * _MARK]
        if mark in self._seen or not self._ports.admission.admits(source, self._own, frame.title, frame.content):
            return None
        self._seen[mark] = None
        if len(self._seen) > WINDOW:
            del self._seen[next(iter(self._seen))]
        return _draft(source.url, source.tags, frame, now)

    async def _connected(self) -> None:
        now = self._ports.world.now()
        hot = self._live.hot
        after = replace(
            hot,
            breaker=BreakerState(),
            health=health.after_success(hot.health),
            last_look_at=now,
            last_success_at=now,
            next_look_at=None,
            last_status=101,
            last_error=None,
        )
        await self._settle(after, now)

    async def _settle(self, after: HotState, now: Millis) -> None:
        """Keep a state; with its notice, if it has one. One that was not committed is tried again with the next."""
        said = notice(self._live.source, self._live.hot.health, after.health, now)
        before, self._live.hot, self._live.unsaved = self._live.hot, after, True
        if said is not None and not await self._send((said,)):
            self._live.hot = replace(after, health=before.health)

    async def _failed(self, failure: LookFailed) -> None:
        self._streak += 1
        ports = self._ports
        limits = limits_of(self._live.source, ports.settings)
        now = ports.world.now()
        await self._settle(progress.failed(self._live.hot, failure, now, limits, self._chance.random()), now)
        ports.world.log("push.ended", source_id=self._live.source.id, blame=failure.blame.value, why=failure.reason)

    def _delay(self) -> float:
        """Return the seconds before the next try, with full jitter."""
        ceiling = min(LONGEST_DELAY, FIRST_DELAY * 2.0 ** min(self._streak, 10))
        delay = max(FIRST_DELAY, self._chance.uniform(0, ceiling))
        held = self._live.hot.not_before
        if held is not None:
            delay = max(delay, (held - self._ports.world.now()) / 1000)
        return delay

    async def _rest(self, delay: float) -> None:
        """Wait so many seconds; a request to look now ends the wait."""
        due = Millis(self._ports.world.now() + round(delay * 1000))
        self._live.hot = replace(self._live.hot, next_look_at=due)
        with trio.move_on_after(delay):
            await self._live.mailbox.receive()

    async def _remember(self) -> None:
        """Read the window of seen frames back from storage."""
        stored = await self._ports.storage.sources.get(self._live.source.id)
        marks: list[str] = msgspec.msgpack.decode(stored.base, type=list[str]) if stored and stored.base else []
        self._seen = dict.fromkeys(marks)

    def _memory(self) -> bytes:
        """Return the part of the window that is worth a write with each harvest: what a reconnect may repeat."""
        return msgspec.msgpack.encode(list(self._seen)[-BATCH:])


async def _some(frames: Frames) -> list[str]:
    """Return at least one frame, and what follows it within `LINGER` seconds, at most `BATCH`."""
    batch = [await frames.receive()]
    with trio.move_on_after(LINGER), contextlib.suppress(LookFailed):  # a link that has ended says so again
        while len(batch) < BATCH:
            batch.append(await frames.receive())
    return batch


def _draft(source_url: str, tags: tuple[str, ...], frame: Frame, now: Millis) -> Draft:
    content, truncated = cap(frame.content)
    return Draft(
        source_type="push",
        source_url=source_url,
        url=frame.url or source_url,
        title=frame.title,
        author=frame.author,
        content=content,
        content_truncated=truncated,
        content_hash=content_hash(frame.content),
        simhash=simhash(frame.content),
        tags=tuple(dict.fromkeys((*tags, "change:new", *frame.tags))),
        published_at=frame.published_at,
        fetched_at=now,
    )
