"""The tracer: a queue of spans from all actors to the exporter.

It holds up to `MOST` spans. When full, it drops and counts the oldest: no actor ever waits for a collector, and an
unavailable collector takes no more memory.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from typing import Final, NamedTuple

import trio

from actors.observer import Counter
from extras.tracing.identity import is_sampled
from extras.tracing.span import Span

MOST: Final = 2_048  # queued spans; two or three megabytes at most
BATCH: Final = 256  # spans in one request


class Times(NamedTuple):
    """A start and an end, in nanoseconds since 1970."""

    start: int
    end: int


class Tracer:
    """wall: seconds since 1970. ratio: of sampled traces. counts: spans by fate: sent, dropped, refused, lost."""

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
        return is_sampled(trace, self.ratio)

    def put(self, *spans: Span) -> None:
        """Queue spans of sampled traces. Never waits."""
        self._waiting.extend(spans)
        while len(self._waiting) > MOST:
            self._waiting.popleft()
            self.counts.add("dropped")
        self._grew.set()
        if len(self._waiting) >= BATCH:
            self._full.set()

    def take(self) -> Sequence[Span]:
        """Return the oldest queued spans, up to one request's worth."""
        return [self._waiting.popleft() for _ in range(min(BATCH, len(self._waiting)))]

    async def wait_batch(self, most: float) -> None:
        """Wait for a span, then so many seconds for more, or until there are enough for a request."""
        while not self._waiting:
            self._grew = trio.Event()
            await self._grew.wait()
        if len(self._waiting) < BATCH:
            self._full = trio.Event()
            with trio.move_on_after(most):
                await self._full.wait()

    def since(self, began: float) -> Times:
        """Return the times from a moment of the loop's clock until now, without steps of the wall clock."""
        end = self.now()
        return Times(end - round(max(0.0, trio.current_time() - began) * 1e9), end)

    def now(self) -> int:
        return round(self._wall() * 1e9)
