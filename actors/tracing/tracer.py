"""The tracer: what all actors put their spans into, and what the exporter takes them out of.

Its queue holds `MOST` spans. When it is full the oldest go, and are counted: nobody ever waits for a collector, and
none takes more memory by being away.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from typing import Final, NamedTuple

import trio

from actors.metrics import Counter
from actors.tracing.identity import is_sampled
from actors.tracing.span import Span

MOST: Final = 2_048
"""Spans that wait; two or three megabytes at most."""
BATCH: Final = 256
"""Spans in one request."""


class Times(NamedTuple):
    """When something began and ended, in nanoseconds since 1970."""

    start: int
    end: int


class Tracer:
    """One of the service. wall: seconds since 1970. ratio: of the traces that are kept. counts: by what became of a
    span: sent, dropped, refused, lost.
    """

    def __init__(self, wall: Callable[[], float], ratio: float, counts: Counter) -> None:
        self._wall, self.ratio, self.counts = wall, ratio, counts
        self._waiting: deque[Span] = deque()
        self._grew = trio.Event()
        self._full = trio.Event()

    def __repr__(self) -> str:
        return f"<Tracer of {self.ratio:g}, {len(self._waiting)} spans wait>"

    def __len__(self) -> int:
        return len(self._waiting)

    def samples(self, trace: bytes) -> bool:
        """Return whether the spans of a trace are kept."""
        return is_sampled(trace, self.ratio)

    def put(self, *spans: Span) -> None:
        """Take spans of traces that are sampled. Never waits."""
        self._waiting.extend(spans)
        while len(self._waiting) > MOST:
            self._waiting.popleft()
            self.counts.add("dropped")
        self._grew.set()
        if len(self._waiting) >= BATCH:
            self._full.set()

    def take(self) -> Sequence[Span]:
        """Return the oldest spans that wait, as many as one request takes."""
        return [self._waiting.popleft() for _ in range(min(BATCH, len(self._waiting)))]

    async def wait_batch(self, most: float) -> None:
        """Wait for a span, then so many seconds for more of them, or until there are enough for a request."""
        while not self._waiting:
            self._grew = trio.Event()
            await self._grew.wait()
        if len(self._waiting) < BATCH:
            self._full = trio.Event()
            with trio.move_on_after(most):
                await self._full.wait()

    def since(self, began: float) -> Times:
        """Return the times of what began at a moment of the loop's clock and ends now: no step of the wall clock
        makes it longer.
        """
        end = self.now()
        return Times(end - round(max(0.0, trio.current_time() - began) * 1e9), end)

    def now(self) -> int:
        """Return the wall clock in nanoseconds."""
        return round(self._wall() * 1e9)
