"""Observations of deliveries: by receivers, by the operator, by the publisher."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Generic, TypeVar

from actors.destination_kinds.contract import Verdict
from tests.simulation.delivery_ledger import Ledger
from tests.simulation.delivery_plans import (
    AlertPlan,
    AlertState,
    DestinationPlan,
    DestinationState,
    ReaderPlan,
    Saying,
)

S = TypeVar("S")


@dataclass(frozen=True, slots=True)
class Told:
    """A delivery as a person reads it.

    id: the service's mark of duplicates, "" where it has none. titles: of the named events. count: its stated number of
    events, None when it is no digest. more: how many of them it does not name. unread: refused before it was read.
    """

    id: str
    titles: tuple[str, ...]
    count: int | None
    more: int
    test: bool
    unread: bool = False


@dataclass(slots=True)
class Receipt:
    """A delivery as a receiver got it. status: of its answer; 0 when it dropped the connection instead.

    hold: seconds that it asked to wait. until: when it had answered, or the client had gone. told: the text for people;
    None: for programs. verdict: the answer's meaning where its status does not show it. clear: it came whole.
    """

    at: float
    place: str
    headers: Mapping[str, str]
    body: bytes
    status: int
    hold: float = 0.0
    until: float = math.inf
    told: Told | None = None
    verdict: Verdict | None = None
    clear: bool = True

    @property
    def id(self) -> str:
        """Return the mark of duplicates: the id in it, or the title of its only event; "" if none."""
        if self.told is None:
            return self.headers.get("webhook-id", "")
        return self.told.id or (self.told.titles[0] if self.single and self.told.titles else "")

    @property
    def single(self) -> bool:
        """Whether it is known to be no digest."""
        return b'"window_start"' not in self.body if self.told is None else self.told.count is None and not self.unread

    @property
    def unread(self) -> bool:
        """Whether it was refused unread, so that its kind (a test or anything else) is unknown."""
        return self.told is not None and self.told.unread

    @property
    def test(self) -> bool:
        """Whether it is the sample that a user requested."""
        return b'"kind:test"' in self.body if self.told is None else self.told.test

    @property
    def taken(self) -> bool:
        return 200 <= self.status < 300 if self.verdict is None else self.verdict == "delivered"

    @property
    def gone(self) -> bool:
        """Whether the receiver refused all future deliveries."""
        return self.status == 410 if self.verdict is None else self.verdict == "revoked"

    @property
    def final(self) -> bool:
        """Whether the receiver refused this one for good."""
        return self.gone or self.verdict == "refused"

    @property
    def slow(self) -> bool:
        """Whether the receiver asked for fewer."""
        return self.status == 429 if self.verdict is None else self.verdict == "slow"


@dataclass(slots=True)
class Version(Generic[S]):
    """A state, first requested at `asked` and confirmed at `answered`. state None: deleted."""

    asked: float
    state: S | None
    answered: float = math.inf


@dataclass(slots=True)
class History(Generic[S]):
    """All versions of something, oldest first."""

    versions: list[Version[S]] = field(default_factory=lambda: [Version[S](-math.inf, None, -math.inf)])

    def begin(self, state: S | None, asked: float) -> Version[S]:
        """Add a version whose request begins."""
        self.versions.append(Version(asked, state))
        return self.versions[-1]

    @property
    def newest(self) -> S | None:
        """Return the last requested state."""
        return self.versions[-1].state

    def during(self, begins: float, ends: float) -> Iterator[S | None]:
        """Yield every state that may have been in force at some moment of this time."""
        for version, later in zip(self.versions, [*self.versions[1:], None], strict=True):
            if version.asked <= ends and (later is None or later.answered >= begins):
                yield version.state

    @property
    def deleted(self) -> float:
        """When its deletion was answered; infinity while there is none."""
        return self.versions[-1].answered if self.newest is None else math.inf


@dataclass(frozen=True, slots=True)
class Span:
    """The time from a request (`begins`) to its answer (`ends`)."""

    begins: float
    ends: float


@dataclass(frozen=True, slots=True)
class KnownSecret:
    """A secret that the service gave between two moments."""

    value: str
    asked: float
    answered: float


@dataclass(frozen=True, slots=True)
class Glance:
    """The service's report of a destination."""

    at: float
    state: str
    enabled: bool
    replay_from: str | None


@dataclass(slots=True)
class KeptAlert:
    """An alert as its user knows it."""

    plan: AlertPlan
    id: str = ""
    history: History[AlertState] = field(default_factory=History)


@dataclass(slots=True)
class KeptDestination:
    """A destination as its user knows it.

    agreed: when the recipient followed the confirmation link; long ago where none is needed. rotations, tests: every
    try, answered or not. revived: when the user enabled it after the service had disabled it. lines: the newest
    attempts as the service lists them, oldest first; dead: the ids of failed deliveries.
    """

    plan: DestinationPlan
    alert: KeptAlert
    id: str = ""
    place: str = ""
    agreed: float = -math.inf
    history: History[DestinationState] = field(default_factory=History)
    secrets: list[KnownSecret] = field(default_factory=list)
    rotations: list[Span] = field(default_factory=list)
    glances: list[Glance] = field(default_factory=list)
    revived: list[Span] = field(default_factory=list)
    replays: list[Span] = field(default_factory=list)
    tests: list[Span] = field(default_factory=list)
    lines: Sequence[Mapping[str, object]] = ()
    dead: Sequence[str] = ()

    @property
    def label(self) -> str:
        """Its name in sentences."""
        return self.plan.name

    @property
    def gone(self) -> float:
        """When its end, or that of its alert, was answered."""
        return min(self.history.deleted, self.alert.history.deleted)

    def shut(self, received: Sequence[Receipt]) -> Iterator[Span]:
        """Yield the times when the service may have had it disabled.

        Glances are far apart: they miss a 410 that the user mended soon.
        """
        acts = [*(version.answered for version in self.history.versions), *(span.ends for span in self.revived)]
        for receipt in received:
            if receipt.gone:
                yield Span(receipt.at, min((at for at in acts if at > receipt.at), default=math.inf))
        if self.glances and self.glances[0].state == "disabled":
            yield Span(-math.inf, self.glances[0].at)
        for before, after in zip(self.glances, self.glances[1:], strict=False):
            if "disabled" in (before.state, after.state):
                yield Span(before.at, after.at)


@dataclass(frozen=True, slots=True)
class Said:
    """A saying sent to the recorder; if it reached the log, then between two moments."""

    saying: Saying
    offered: float
    known: float


@dataclass(slots=True)
class KeptReader:
    """A subscriber of the hub. confirmed: when it confirmed its subscription. ended: when it unsubscribed, answered
    that it is gone, or when its lease ended.
    """

    plan: ReaderPlan
    confirmed: list[float] = field(default_factory=list)
    ended: list[float] = field(default_factory=list)
    receipts: list[Receipt] = field(default_factory=list)

    @property
    def label(self) -> str:
        return self.plan.name

    def told_since(self) -> float:
        """Return when the current subscription was first confirmed; infinity when there is none."""
        last = max(self.ended, default=-math.inf)
        return min((at for at in self.confirmed if at > last), default=math.inf)


@dataclass(frozen=True, slots=True)
class Visit:
    """All pages of the published feed, as read from `began` on: the titles, newest first."""

    began: float
    titles: Sequence[str]


@dataclass(slots=True)
class Letters:
    """All observations. readers, visits: of the published feed. said: by the title of the event.

    right: everything is enabled and replayed, and only time is needed. invitations: by place, the path in the
    confirmation mail. hasty: its keeper hangs up. wrong: sentences about failed repairs. ledger: the disk's record of
    destinations.
    """

    ledger: Ledger
    hasty: bool = False
    said: dict[str, Said] = field(default_factory=dict)
    alerts: list[KeptAlert] = field(default_factory=list)
    destinations: list[KeptDestination] = field(default_factory=list)
    readers: list[KeptReader] = field(default_factory=list)
    visits: list[Visit] = field(default_factory=list)
    receipts: dict[str, list[Receipt]] = field(default_factory=dict)
    invitations: dict[str, str] = field(default_factory=dict)
    right: bool = False
    wrong: list[str] = field(default_factory=list)

    def received(self, destination: KeptDestination) -> list[Receipt]:
        """Return a destination's receipts, in order of arrival."""
        return self.receipts.get(destination.place, [])
