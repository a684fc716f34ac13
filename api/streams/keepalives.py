"""Keepalives for silent streams, sent by one task for all of them.

A timer for each of ten thousand streams costs five times as much as the keepalives. So a waiting stream leaves a
`KeepaliveState` here, and this task writes to due streams directly. Only bytes that a client does not take at once go
through the stream's own task.

A timer wheel holds the streams: a slot for each `LOOK_EVERY`. An event moves no stream to another slot, since one event
may reach all of them. The task compares the time of the last write when a slot is due, once or twice an interval.
"""

from __future__ import annotations

import math
from collections.abc import Awaitable, Callable, Mapping
from typing import Protocol

import trio

from api.streams.sse import MEDIA, Form, keepalive

LOOK_EVERY = 0.25  # seconds a slot; a keepalive may come this much early
EARLY = 0.3  # the largest part of the interval that a keepalive may come early; see `Streams.spread`
TURN = 100  # keepalives between two checkpoints


class Writer(Protocol):
    """The outlet of a stream's bytes. spoke: time of the last write, on Trio's clock."""

    spoke: float

    def send_nowait(self, data: bytes) -> bytes:
        """Write as much as is taken at once, framed; return the rest, which must go to `send` next."""

    async def send(self, rest: bytes) -> None:
        """Write a rest, within a deadline. Raises trio.BrokenResourceError, trio.TooSlowError."""

    async def finish(self) -> None:
        """Write the end of the body, as `send` does."""


class KeepaliveState:
    """One stream's keepalive state. silence: seconds after which it needs a keepalive.

    `waits`: it waits for events and nothing is in flight, so others may write. `scope`: cancel it to make the task send
    `rest` or the keepalive. `parks`: it needs no task while it waits.
    """

    __slots__ = ("form", "parks", "rest", "scope", "silence", "slot", "waits", "writer")

    def __init__(self, form: Form, writer: Writer, silence: float) -> None:
        self.form, self.writer, self.silence = form, writer, silence
        self.scope: trio.CancelScope | None = None
        self.slot = 0
        self.waits = self.parks = False
        self.rest = b""

    @property
    def ends(self) -> float:
        """When the silence becomes too long, on Trio's clock."""
        return self.writer.spoke + self.silence

    @property
    def due(self) -> bool:
        return trio.current_time() > self.ends - LOOK_EVERY

    def take_rest(self) -> bytes:
        rest, self.rest = self.rest, b""
        return rest

    def give(self, frame: bytes) -> None:
        if self.waits and not self.rest:
            self.rest = self.writer.send_nowait(frame)
            if not self.rest:
                return
        self.interrupt()

    def interrupt(self) -> None:
        """Make the task send `rest` or the keepalive."""
        if self.scope is not None:
            self.scope.cancel()


class Keepalives:
    """The keepalives of all open streams. newest: returns the log's newest id, or None if unknown.

    interval: seconds from one keepalive to the next at most. The first one after an event comes earlier (see
    `Streams.spread`), and so do those of full slots.
    """

    def __init__(self, newest: Callable[[], Awaitable[str | None]], interval: float) -> None:
        self._newest, self._interval = newest, interval
        self._slots: dict[int, dict[KeepaliveState, None]] = {}
        self._wakes = math.inf
        self._earlier = trio.Event()

    def add(self, pulse: KeepaliveState) -> None:
        self._file(pulse, pulse.ends)
        if pulse.ends < self._wakes:
            self._earlier.set()

    def drop(self, pulse: KeepaliveState) -> None:
        del self._slots[pulse.slot][pulse]

    async def run(self) -> None:
        """Send keepalives, forever. Sleeps until the first slot is due, with a minimum pause between passes."""
        looked = -math.inf
        while True:
            first = min(self._slots, default=math.inf) * LOOK_EVERY
            self._wakes, self._earlier = max(looked + LOOK_EVERY, first), trio.Event()
            with trio.move_on_at(self._wakes):
                await self._earlier.wait()
                continue
            looked = trio.current_time()
            if (newest := await self._newest()) is not None:
                frames = {form: keepalive(form, newest) for form in MEDIA}
                for number in [each for each in self._slots if each * LOOK_EVERY <= looked]:
                    await self._empty(number, frames, looked)

    async def _empty(self, number: int, frames: Mapping[Form, bytes], looked: float) -> None:
        """Visit a slot's streams and file each again. One that was given a keepalive leaves a full slot for a free one.

        Otherwise streams that one event has reached would share a third of the interval until the next event.
        """
        slot, visited = self._slots[number], 0
        earliest = looked + self._interval * (1 - EARLY)
        full = TURN + sum(map(len, self._slots.values())) * LOOK_EVERY / self._interval
        while slot:
            pulse, _ = slot.popitem()
            again = pulse.ends
            if again < trio.current_time() + LOOK_EVERY:
                pulse.give(frames[pulse.form])
                again = pulse.writer.spoke + self._interval - LOOK_EVERY
                while self._count(again) > full and again > earliest:
                    again -= LOOK_EVERY
            self._file(pulse, max(again, looked + LOOK_EVERY))
            visited += 1
            if visited % TURN == 0:
                await trio.lowlevel.checkpoint()
        del self._slots[number]

    def _count(self, at: float) -> int:
        return len(self._slots.get(int(at / LOOK_EVERY), ()))

    def _file(self, pulse: KeepaliveState, at: float) -> None:
        pulse.slot = int(at / LOOK_EVERY)
        self._slots.setdefault(pulse.slot, {})[pulse] = None
