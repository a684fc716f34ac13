"""Keepalives for silent streams, sent by one task for all of them.

A timer for each of ten thousand streams costs five times as much as the keepalives. So a waiting stream leaves a
`KeepaliveState` here, and this task writes to due streams directly. Only bytes that a client does not take at once go
through the stream's own task.
"""

from __future__ import annotations

import math
from collections.abc import Awaitable, Callable
from typing import Protocol

import trio

from api.streams.sse import Form, keepalive

LOOK_EVERY = 0.25  # seconds between two passes at least; a keepalive may come this much early
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

    __slots__ = ("form", "parks", "rest", "scope", "silence", "waits", "writer")

    def __init__(self, form: Form, writer: Writer, silence: float) -> None:
        self.form, self.writer, self.silence = form, writer, silence
        self.scope: trio.CancelScope | None = None
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

    def give(self, newest: str) -> None:
        if self.waits and not self.rest:
            self.rest = self.writer.send_nowait(keepalive(self.form, newest))
            if not self.rest:
                return
        if self.scope is not None:
            self.scope.cancel()


class Signs:
    """The pulses of all open streams. newest: returns the log's newest id, or None if unknown."""

    def __init__(self, newest: Callable[[], Awaitable[str | None]]) -> None:
        self._newest = newest
        self._pulses: dict[KeepaliveState, None] = {}
        self._wakes = math.inf
        self._earlier = trio.Event()

    def add(self, pulse: KeepaliveState) -> None:
        self._pulses[pulse] = None
        if pulse.ends < self._wakes:
            self._earlier.set()

    def drop(self, pulse: KeepaliveState) -> None:
        del self._pulses[pulse]

    async def run(self) -> None:
        """Send keepalives, forever. Sleeps until the first stream is due, with a minimum pause between passes."""
        looked = -math.inf
        while True:
            first = min((pulse.ends for pulse in self._pulses), default=math.inf)
            self._wakes, self._earlier = max(looked + LOOK_EVERY, first), trio.Event()
            with trio.move_on_at(self._wakes):
                await self._earlier.wait()
                continue
            looked = trio.current_time()
            due = [pulse for pulse in self._pulses if pulse.ends < looked + LOOK_EVERY]
            if due and (newest := await self._newest()) is not None:
                for number, pulse in enumerate(due):
                    if number % TURN == 0:
                        await trio.lowlevel.checkpoint()
                    if pulse in self._pulses and pulse.due:  # it may have written or ended since
                        pulse.give(newest)
