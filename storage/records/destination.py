"""Destinations that receive an alert's matches, and the outbox of their deliveries and attempts."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Literal, NamedTuple, get_args

from msgspec import Struct, field
from msgspec.structs import asdict, replace

from storage.records.identity import Managed, Millis, Seq, id_of

WEBHOOK, EMAIL, WEBPUSH = "webhook", "email", "webpush"
"""The kinds that need code: a signed POST to a program, mail, and a push subscription of a browser.

A messenger is a file instead; see `actors/destination_kinds/`.
"""
ADDRESS = "url"  # the name of the private value that holds the whole address, where the address is a secret
LINK = "link"
"""The name of the private value in links that confirm or stop delivery; without it, consent is asked again."""
DeliveryMode = Literal["instant", "15min", "hourly", "daily"]
Format = Literal["event", "cloudevents"]
"""A webhook's body: the event or digest as it is, or in a CloudEvents 1.0.2 envelope."""
Weekday = Literal["mon", "tue", "wed", "thu", "fri", "sat", "sun"]
WEEKDAYS: tuple[Weekday, ...] = get_args(Weekday)
Notice = Literal["destination_failing", "destination_disabled"]


class Secret(Struct, frozen=True):
    """A `whsec_` signing secret. until: when it stops signing (None: it is the current one)."""

    value: str
    until: Millis | None = None

    def __repr__(self) -> str:
        return f"Secret(until={self.until})"


class Private(Struct, frozen=True):
    """A value that grants access: a token, a password, a secret address."""

    value: str

    def __repr__(self) -> str:
        return "Private()"


class QuietHours(Struct, frozen=True):
    """When instant deliveries wait: from `start` (HH:MM) on the named days to the next `end`, in a time zone."""

    start: str = field(name="from")
    end: str = field(name="to")
    timezone: str = "UTC"
    weekdays: tuple[Weekday, ...] = WEEKDAYS


class Destination(Struct, frozen=True):
    """An address of a kind, and when to deliver to it. url: the address, or its public part. secrets: signing secrets,
    newest first, at most five; empty for kinds that do not sign. options, private: the kind's settings by name, open
    and sealed. private_names: the names in `private` when it was last set; a name now missing from `private` was lost.
    """

    id: str
    alert_id: str
    kind: str
    url: str
    delivery_mode: DeliveryMode
    label: str
    secrets: tuple[Secret, ...]
    created_at: Millis
    updated_at: Millis
    digest_hour: int = 8
    digest_timezone: str = "UTC"
    enabled: bool = True
    quiet_hours: QuietHours | None = None
    state: Literal["active", "failing", "disabled"] = "active"
    failing_since: Millis | None = None
    last_delivery_at: Millis | None = None
    told: int = 0
    """Notices sent about the present run of failures."""
    owes: Notice | None = None
    """The kind of a notice that is due but not yet in the log."""
    missed_after: Seq | None = None
    """Matches after this position may be neither delivered nor waiting; None: none is missed."""
    was_enabled: bool | None = None
    """Set while a secret is missing here: whether it was enabled before; None: none is missing."""
    format: Format = "event"
    most_at_once: int = 0
    """If more events than this are due at once, they become one digest; 0: one delivery per event."""
    options: Mapping[str, str] = {}
    private: Mapping[str, Private] = {}
    private_names: tuple[str, ...] = ()
    confirmed: bool = True
    """Whether the recipient has confirmed, if the kind requires it; until then only the request is sent."""
    updated_by: str = ""
    managed: Managed | None = None

    def is_as(self, known: Destination | None) -> bool:
        """Return whether this is the known record, ignoring the time of its newest delivery."""
        return known is not None and self == replace(known, last_delivery_at=self.last_delivery_at)

    @property
    def works(self) -> bool:
        return self.enabled and self.state != "disabled"

    @property
    def address(self) -> str:
        """The whole address. Never show or log it."""
        whole = self.private.get(ADDRESS)
        return self.url if whole is None else whole.value

    @property
    def values(self) -> dict[str, str]:
        return {**self.options, **{name: sealed.value for name, sealed in self.private.items()}}

    @property
    def lost(self) -> tuple[str, ...]:
        """The names of private values that were set once and are not stored here."""
        return tuple(name for name in self.private_names if name not in self.private)

    def missing(self, after: Seq) -> Destination:
        return replace(self, missed_after=after if self.missed_after is None else min(self.missed_after, after))

    def replayed(self, after: Seq, to: Seq, *, whole: bool) -> Destination:
        """Record that the missed matches after one position and up to another now wait or were sent."""
        if self.missed_after is None or not after <= self.missed_after <= to:
            return self
        return replace(self, missed_after=None if whole and self.works else to)


Result = Literal["sent", "retry", "given_up"]


class Match(NamedTuple):
    """One event for one destination. The pair is unique in the outbox."""

    destination: str
    seq: Seq
    due: Millis


class Hit(NamedTuple):
    """An alert matched `times` more events, the last one at `at`."""

    alert: str
    times: int
    at: Millis


class Met(NamedTuple):
    """An alert that matches once per story matched this one in the event `seq`. story: its first position."""

    alert: str
    story: Seq
    seq: Seq


class Portion(NamedTuple):
    """Rows first due in [start, end), at most `limit` and `size` bytes, at least one. fresh: those never attempted."""

    start: Millis
    end: Millis
    limit: int
    size: int
    least: int = 1
    fresh: bool = False


Freeze = Callable[[Sequence[bytes]], tuple[str, bytes]]
"""Makes a digest's id and body from the wire JSON of its events, in order. Pure; may run in a thread."""


class Delivery(Struct, frozen=True):
    """A claimed outbox row. `attempt` counts from 1. `body`: the exact stored wire JSON of an event or a digest."""

    destination: str
    seq: Seq
    event_id: str
    attempt: int
    first_due: Millis
    body: bytes


class Outcome(Struct, frozen=True):
    """The outcome of an attempt. `retry_at` is set only, and always, for `retry`."""

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
    """One row of a destination's attempts log. `number`: its index there, from 1, assigned by the log."""

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
    """Shares among a destination's newest attempts. duplicate: those that had, or may have, arrived before."""

    failure: float
    duplicate: float


class Waiting(Struct, frozen=True):
    """oldest: when the oldest delivery began to wait. next_due: None if all are being attempted."""

    count: int
    oldest: Millis
    next_due: Millis | None


class Replayed(NamedTuple):
    """The outbox holds matches after `after`, up to `to`. whole: none is missed later; if unsure, `matches` has all."""

    destination: str
    after: Seq
    to: Seq
    whole: bool
    matches: Sequence[tuple[Seq, str]] = ()

    def reaching(self, waiting: Collection[Seq], sent: Collection[str]) -> Replayed:
        """Cut the range before the first of the `matches` that neither waits nor was sent."""
        owed = next((seq for seq, id in self.matches if seq not in waiting and id not in sent), None)
        return self if owed is None else self._replace(to=Seq(owed - 1), whole=False)


KEPT_ATTEMPTS = 1_000
KEPT_DEAD = 10_000  # newest given-up attempts kept for each destination in addition
RATED_ATTEMPTS = 100  # newest attempts that count for the failure rate; all kept ones count for the rate of duplicates


class AttemptLine(Struct, gc=False):
    """The part of an attempt that rates need. event_id: the event's, or a digest's. attempt: counts from 1."""

    event_id: str
    attempt: int
    result: Result


def attempt_of(outcome: Outcome, event_id: str, number: int) -> Attempt:
    """Return the row of an outcome; `number` counts the attempts at this event from 1."""
    fields = asdict(outcome)
    del fields["seq"]
    return Attempt(event_id=event_id, attempt=number, next_at=fields.pop("retry_at"), **fields)


def rates_of(lines: Sequence[AttemptLine]) -> Rates:
    """Return the rates of a destination's newest attempts, given oldest first. A delivery counts as a duplicate if its
    id was delivered before, or if an attempt before it has no row: a crash cut that attempt, and the receiver may have
    got it.
    """
    rated = lines[-RATED_ATTEMPTS:]
    known: dict[str, int] = {}
    taken: set[str] = set()
    delivered = again = 0
    for line in lines:
        # If the log was ever full, an event's first attempts may have left it.
        cut = line.attempt > known.get(line.event_id, 0) + 1 and (line.event_id in known or len(lines) < KEPT_ATTEMPTS)
        if line.result == "sent":
            delivered += 1
            again += cut or line.event_id in taken
            taken.add(line.event_id)
        known[line.event_id] = line.attempt
    failed = sum(line.result != "sent" for line in rated)
    return Rates(failed / len(rated) if rated else 0.0, again / delivered if delivered else 0.0)


def gone_attempt(destination: str, seq: Seq, attempts: int, now: Millis) -> Attempt:
    """Return a given-up row for an event that left the log; its id is the first of its position, all that is known."""
    error = "the event was removed by retention before it could be delivered"
    return Attempt(destination, id_of(seq, 0), attempts, "given_up", now, None, 0, error, None)
