"""A correspondence as data: events, the alerts and destinations that wait for them, and users' changes to these.

All times are virtual seconds since the world began; see `program.py`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Mode = Literal["instant", "15min", "hourly", "daily"]

RECEIVER_FAULTS = (
    *("http500", "busy", "unavailable", "refused", "reset", "nxdomain", "partition", "slow", "unreachable"),
    *("silent", "trickle", "half", "truncated", "throttled", "throttled until", "throttled plainly"),
    *("gone", "forbidden", "redirects", "lost", "absurd wait", "long wait", "odd success", "rebound"),
)
"""Troubles of a receiver: of its network, those of origins, and those of `receivers.py`."""
OWN_WORDS = ("asks for fewer", "refuses", "revokes")
"""Troubles that a messenger reports in its own format."""
READER_FAULTS = (
    *("http500", "busy", "unavailable", "refused", "reset", "nxdomain", "partition", "slow", "unreachable"),
    *("silent", "trickle", "throttled", "lost", "gone"),
)
"""Troubles of a subscriber of the hub."""
SERVICE_FAULTS = (
    *("http500", "busy", "unavailable", "refused", "reset", "nxdomain", "partition", "slow", "unreachable"),
    *("silent", "trickle", "half", "truncated", "throttled", "lost", "long wait", *OWN_WORDS, *OWN_WORDS),
)
"""Troubles of a messenger."""
MAIL_FAULTS = (
    *("refused", "reset", "nxdomain", "partition", "slow", "unreachable", "busy", "http500", "silent", "lost"),
    *("full", "refuses in the middle", *OWN_WORDS, *OWN_WORDS),
)
"""Troubles of a mail server; "asks for fewer" is greylisting, "revokes" a deleted address."""


@dataclass(frozen=True, slots=True)
class Saying:
    """An event for the log. tags: those of its source at that moment, as users edit them."""

    at: float
    source: int
    words: tuple[str, ...]
    tags: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class AlertState:
    """An alert for any of the words, from some sources, by number or tag, or (none named) from all."""

    words: tuple[str, ...]
    sources: tuple[int, ...] = ()
    enabled: bool = True
    tags: tuple[str, ...] = ()

    def wants(self, saying: Saying) -> bool:
        named = saying.source in self.sources or any(tag in saying.tags for tag in self.tags)
        here = named or not (self.sources or self.tags)
        return self.enabled and here and any(word in saying.words for word in self.words)


@dataclass(frozen=True, slots=True)
class AlertStep:
    """A user adds or changes an alert; without a `state`, deletes it."""

    at: float
    state: AlertState | None


@dataclass(frozen=True, slots=True)
class AlertPlan:
    """An alert and its life; the first step adds it. notices: it also wants notices about destinations."""

    name: str
    steps: tuple[AlertStep, ...]
    notices: bool = False


@dataclass(frozen=True, slots=True)
class Quiet:
    """Quiet hours, "HH:MM" by a clock in a zone, on all days."""

    begins: str
    ends: str
    zone: str


@dataclass(frozen=True, slots=True)
class DestinationState:
    """A user's settings of a destination."""

    mode: Mode = "instant"
    enabled: bool = True
    quiet: Quiet | None = None
    hour: int = 8
    zone: str = "UTC"


@dataclass(frozen=True, slots=True)
class DestinationStep:
    """A user changes a destination; the first `set` adds it."""

    at: float
    do: Literal["set", "rotate", "test", "delete"]
    state: DestinationState | None = None


@dataclass(frozen=True, slots=True)
class DestinationPlan:
    """A destination of an alert on a receiver's host, and its life."""

    name: str
    alert: str
    host: str
    steps: tuple[DestinationStep, ...]
    kind: str = "webhook"


@dataclass(frozen=True, slots=True)
class ReaderPlan:
    """A subscriber of the hub: from `at` on, until it unsubscribes, or gets no more after one lease.

    lease: seconds; renewed: it requests another one in time.
    """

    name: str
    host: str
    format: Literal["atom", "rss", "json"]
    at: float
    ends: float
    lease: int
    renewed: bool


@dataclass(frozen=True, slots=True)
class Correspondence:
    """sources: how many. looks_every: seconds between two of the keeper's checks of all destinations.

    hasty: the keeper hangs up in the middle of most requests, and then checks whether they took effect.
    """

    sources: int
    sayings: tuple[Saying, ...]
    alerts: tuple[AlertPlan, ...]
    destinations: tuple[DestinationPlan, ...]
    looks_every: float
    hasty: bool = False
    readers: tuple[ReaderPlan, ...] = ()

    @property
    def hosts(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(plan.host for plan in self.destinations))

    def describe(self) -> str:
        """Summarise its contents in one line."""
        return (
            f"{len(self.sayings)} events, {len(self.alerts)} alerts, {len(self.destinations)} destinations on "
            f"{len(self.hosts)} receivers"
        )
