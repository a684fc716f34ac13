"""Spans, each one timed operation with its attributes, and the tracer: a queue of them to the exporter.

It holds up to `MOST` spans. When full, it drops and counts the oldest: no actor ever waits for a collector, and an
unavailable collector takes no more memory.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping, Sequence
from typing import Final, NamedTuple
from urllib.parse import urlsplit

import trio

from actors.metrics import Counter
from extras.tracing.identity import SpanContext, is_sampled
from storage.records.secrecy import without_secrets

INTERNAL: Final = 1
SERVER: Final = 2
CLIENT: Final = 3
"""Kinds, by their numbers in OTLP."""
LONGEST: Final = 1_024
"""Characters of a text in a span."""
MOST_IN_LIST: Final = 32
MOST_LINKS: Final = 128
CANCELLED: Final = "cancelled"
Value = str | bool | int | float | Sequence[str]
Attributes = Mapping[str, Value]


class Moment(NamedTuple):
    """A point in time within a span, in nanoseconds since 1970."""

    at: int
    name: str


class Span(NamedTuple):
    """One span. start, end: nanoseconds since 1970. parent: b"" at a root. error: its type, "" on success.

    Texts are already redacted: the maker of a span passes them through `clean`.
    """

    trace: bytes
    id: bytes
    parent: bytes
    name: str
    kind: int
    start: int
    end: int
    attributes: Attributes
    error: str = ""
    moments: Sequence[Moment] = ()
    links: Sequence[SpanContext] = ()


def clean(text: str) -> str:
    """Return a text for outside use: without secrets, and truncated."""
    return without_secrets(text)[:LONGEST]


def host_alone(address: str) -> str:
    """Return the visible part of a destination's address: the rest is often a secret.

    >>> host_alone("https://hooks.test:8443/services/T0/B0/s3cret"), host_alone("mailto:anna@example.com")
    ('https://hooks.test:8443/...', 'mailto:...')
    """
    parts = urlsplit(address)
    host = parts.netloc.rpartition("@")[2]
    return f"{parts.scheme}://{host}/..." if host else f"{parts.scheme}:..."


def error_type(error: BaseException) -> str:
    """Return the type of an exception for a span: its blame, if it has one, else its class name."""
    blame = getattr(getattr(error, "blame", None), "value", None)
    name = type(error).__name__
    return blame if isinstance(blame, str) else CANCELLED if name == "Cancelled" else name


MOST: Final = 2_048
"""Queued spans; two or three megabytes at most."""
BATCH: Final = 256
"""Spans in one request."""


class Times(NamedTuple):
    """A start and an end, in nanoseconds since 1970."""

    start: int
    end: int


class Tracer:
    """The service's tracer. wall: seconds since 1970. ratio: the share of sampled traces. counts: by a span's fate:
    sent, dropped, refused, lost.
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
        """Return the times from a moment of the loop's clock until now; a wall clock step does not distort the
        duration.
        """
        end = self.now()
        return Times(end - round(max(0.0, trio.current_time() - began) * 1e9), end)

    def now(self) -> int:
        """Return the wall clock in nanoseconds."""
        return round(self._wall() * 1e9)
