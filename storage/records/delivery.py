"""The outbox: what must reach a destination, and what became of each attempt."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import Literal, NamedTuple

from msgspec import Struct

from storage.records.identity import Millis, Seq

Result = Literal["sent", "retry", "given_up"]


class Match(NamedTuple):
    """One event for one destination; the pair is unique in the outbox."""

    destination: str
    seq: Seq
    due: Millis


class Hit(NamedTuple):
    """An alert has met so many events more, the last of them at `at`."""

    alert: str
    times: int
    at: Millis


class Met(NamedTuple):
    """An alert that meets each story once has met this one, by its position, in the event `seq`."""

    alert: str
    story: Seq
    seq: Seq


class Portion(NamedTuple):
    """What one digest takes at most: rows that were first due from `start` on and before `end`, `limit` of them, and
    `size` bytes of events, but one event at least. least: with fewer rows there is no digest. fresh: only rows that
    were never tried, as those may have arrived by themselves.
    """

    start: Millis
    end: Millis
    limit: int
    size: int
    least: int = 1
    fresh: bool = False


Freeze = Callable[[Sequence[bytes]], tuple[str, bytes]]
"""Makes the id and the body of a digest from the wire JSON of its events, in order. Pure; may run in a thread."""


class Delivery(Struct, frozen=True):
    """A claimed outbox row. `attempt` counts from 1; `body` is the exact stored wire JSON, of an event or a digest."""

    destination: str
    seq: Seq
    event_id: str
    attempt: int
    first_due: Millis
    body: bytes


class Outcome(Struct, frozen=True):
    """What became of an attempt. `retry_at` is set exactly for `retry`."""

    destination: str
    seq: Seq
    result: Result
    at: Millis
    status: int | None = None
    latency_ms: int = 0
    error: str | None = None
    retry_at: Millis | None = None
    response_excerpt: str = ""


class Attempt(Struct, frozen=True):
    """One line of a destination's attempts log. `number`: its place there, from 1; the log gives it."""

    destination: str
    event_id: str
    attempt: int
    result: Result
    at: Millis
    status: int | None
    latency_ms: int
    error: str | None
    next_at: Millis | None
    response_excerpt: str = ""
    number: int = 0


class Rates(NamedTuple):
    """failure: the share of failures among a destination's newest attempts. duplicate: the share of its deliveries
    that had, or may have, arrived before.
    """

    failure: float
    duplicate: float


class Waiting(Struct, frozen=True):
    """What waits for a destination: how many, since when the oldest does, and when the next is due (None: all that
    there are, are under way).
    """

    count: int
    oldest: Millis
    next_due: Millis | None


class Replayed(NamedTuple):
    """A destination's matches after `after` and up to `to` are in its outbox; `whole`: after `to` none is missed.

    Where that is not sure, `matches` are the positions and ids of all of them, in order.
    """

    destination: str
    after: Seq
    to: Seq
    whole: bool
    matches: Sequence[tuple[Seq, str]] = ()

    def reaching(self, waiting: Collection[Seq], sent: Collection[str]) -> Replayed:
        """Return it as far as each of the `matches` waits or was sent."""
        owed = next((seq for seq, id in self.matches if seq not in waiting and id not in sent), None)
        return self if owed is None else self._replace(to=Seq(owed - 1), whole=False)
