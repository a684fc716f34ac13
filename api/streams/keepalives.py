"""The signs of life of silent streams, given by one task for all of them.

A timer of its own for each of ten thousand streams, with the cancellation in which it ends, costs five times what the
sign itself does. So a stream that waits for events leaves a `Pulse` here, and who is due is written to straight. Only
what a client does not take at once goes the long way, through its own task.
"""

from __future__ import annotations

import math
from collections.abc import Awaitable, Callable
from typing import Protocol

import trio

from api.streams.sse import Form, keepalive

LOOK_EVERY = 0.25
"""Seconds between two looks at who is due, at the least: a sign comes up to so much early."""
TURN = 100
"""Signs given between two checkpoints."""


class Writer(Protocol):
    """Where a stream's bytes go. `spoke`: when something was last handed over, on Trio's clock."""

    spoke: float

    def send_nowait(self, data: bytes) -> bytes:
        """Hand over what is taken at once, framed; return the rest, which must go through `send` next."""

    async def send(self, rest: bytes) -> None:
        """Hand over a rest, within a deadline. Raises trio.BrokenResourceError, trio.TooSlowError."""


class Pulse:
    """One stream's side of it. silence: seconds after which it needs a sign.

    `waits` while its task waits for events, with nothing on its way: then others may write. `scope` is what to cancel
    for the task to send `rest`, or the sign itself.
    """

    __slots__ = ("form", "rest", "scope", "silence", "waits", "writer")

    def __init__(self, form: Form, writer: Writer, silence: float) -> None:
        self.form, self.writer, self.silence = form, writer, silence
        self.scope: trio.CancelScope | None = None
        self.waits = False
        self.rest = b""

    @property
    def ends(self) -> float:
        """When it will have been silent for too long, on Trio's clock."""
        return self.writer.spoke + self.silence

    @property
    def due(self) -> bool:
        """Whether it has been silent for so long that a sign must not wait for the next look."""
        return trio.current_time() > self.ends - LOOK_EVERY

    def take_rest(self) -> bytes:
        """Return what of a sign has not been taken, once."""
        rest, self.rest = self.rest, b""
        return rest

    def give(self, newest: str) -> None:
        """Write a sign, or have the stream's own task do it."""
        if self.waits and not self.rest:
            self.rest = self.writer.send_nowait(keepalive(self.form, newest))
            if not self.rest:
                return
        if self.scope is not None:
            self.scope.cancel()


class Signs:
    """The pulses of all open streams. `newest` says the newest id of the log, None while nobody can say it."""

    def __init__(self, newest: Callable[[], Awaitable[str | None]]) -> None:
        self._newest = newest
        self._pulses: dict[Pulse, None] = {}
        self._wakes = math.inf
        self._earlier = trio.Event()

    def add(self, pulse: Pulse) -> None:
        """Look after a stream until it is dropped."""
        self._pulses[pulse] = None
        if pulse.ends < self._wakes:
            self._earlier.set()

    def drop(self, pulse: Pulse) -> None:
        del self._pulses[pulse]

    async def run(self) -> None:
        """Give signs, for ever; sleeps until the first stream is due, and looks at them no more often than it must."""
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
                await self._give(due, newest)

    async def _give(self, due: list[Pulse], newest: str) -> None:
        for number, pulse in enumerate(due):
            if number % TURN == 0:
                await trio.lowlevel.checkpoint()
            if pulse in self._pulses and pulse.due:  # it may have spoken, or ended, meanwhile
                pulse.give(newest)
