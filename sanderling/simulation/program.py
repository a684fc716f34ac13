"""What users and origins do and what goes wrong, drawn from the seed as data: printable, comparable, cut down by
hand.

All times are virtual seconds since the world began. Nothing bad happens in the first hour (`CALM`), nor after
`days`; then the world goes on until everything owed has arrived, or fails as stuck.
"""

from __future__ import annotations

import random
from dataclasses import dataclass
from typing import Literal

from sanderling.simulation.chances import chance

DAY = 86_400.0
CALM = 3600.0

Tier = Literal["feed", "html", "push"]
_TIERS: tuple[Tier, ...] = ("feed", "html", "push", "feed", "feed", "html", "feed", "feed", "html", "feed")

WORDS = (
    *(
        "amber",
        "anchor",
        "basin",
        "beacon",
        "canyon",
        "cedar",
        "cinder",
        "copper",
        "delta",
        "ember",
        "fathom",
        "glacier",
    ),
    *(
        "granite",
        "harbor",
        "island",
        "jetty",
        "kelp",
        "lagoon",
        "marble",
        "meadow",
        "north",
        "orchard",
        "pebble",
        "quarry",
    ),
    *("reef", "saddle", "shingle", "timber", "upland", "valley", "willow", "yarrow"),
)
ALERT_WORD = "storm"
"""The alert asks for this word; every text either has it or not."""

HOST_FAULTS = (
    "refused", "unreachable", "partition", "slow", "reset", "nxdomain", "http500", "throttled", "truncated", "garbage",
)  # fmt: skip
SERVICE_FAULTS = ("dns", "offline", "partition", "slow", "reset", "disk full")
SERVICE, HOOK = "api.sanderling.org", "hook.receiver.org"


@dataclass(frozen=True, slots=True)
class Text:
    """Something published: when, and the words it is made of."""

    at: float
    words: tuple[str, ...]

    @property
    def alarming(self) -> bool:
        """Whether the alert must match it."""
        return ALERT_WORD in self.words


@dataclass(frozen=True, slots=True)
class OriginPlan:
    """A source and what it publishes: entries of a feed, altered blocks of a page, frames of a push stream.

    style: the feed's format, or how the page is built. validators: which headers make requests conditional.
    window: how many entries a feed keeps, blocks a page has. secure: https and wss.
    """

    host: str
    tier: Tier
    style: Literal["rss", "atom", "json", "plain", "busy", "frames"]
    validators: Literal["etag", "modified", "both"]
    window: int
    secure: bool
    added_at: float
    texts: tuple[Text, ...]

    @property
    def url(self) -> str:
        """The address a user gives."""
        scheme = ("wss" if self.secure else "ws") if self.tier == "push" else ("https" if self.secure else "http")
        path = {"feed": "/feed", "html": "/", "push": "/tide"}[self.tier]
        return f"{scheme}://{self.host}{path}"


@dataclass(frozen=True, slots=True)
class Session:
    """A client is connected from `begins` until it hangs up at `ends`."""

    begins: float
    ends: float


@dataclass(frozen=True, slots=True)
class ClientPlan:
    """A stream client that resumes with the last id it saw, each time it comes back."""

    name: str
    framing: Literal["sse", "ndjson"]
    resumes_by: Literal["header", "query"]
    sessions: tuple[Session, ...]


@dataclass(frozen=True, slots=True)
class Fault:
    """Something outside is broken for a while. `where` is a host; the service's own faults are those of its line."""

    at: float
    lasts: float
    kind: str
    where: str


@dataclass(frozen=True, slots=True)
class ClockStep:
    """The service's wall clock is set."""

    at: float
    by: float


@dataclass(frozen=True, slots=True)
class Ending:
    """A life ends: killed, or asked to stop (`politely`); the next one starts `downtime` later."""

    at: float
    downtime: float
    politely: bool


@dataclass(frozen=True, slots=True)
class Program:
    """One seed's world. `point_crash` is the chance that something ends each time the code reaches a named point: the
    whole process, or that actor alone.
    """

    seed: str
    days: float
    origins: tuple[OriginPlan, ...]
    clients: tuple[ClientPlan, ...]
    faults: tuple[Fault, ...]
    steps: tuple[ClockStep, ...]
    endings: tuple[Ending, ...]
    point_crash: float

    @property
    def ends(self) -> float:
        """When the program is over and the world only has to come to rest."""
        return self.days * DAY

    def describe(self) -> str:
        """Say in one line how much of what is in it."""
        return (
            f"{self.days:g} days, {len(self.origins)} sources, {sum(len(o.texts) for o in self.origins)} texts, "
            f"{len(self.faults)} faults, {len(self.steps)} clock steps, {len(self.endings)} endings, "
            f"{len(self.clients)} clients"
        )


def draw(seed: str, *, days: float, sources: int, point_crash: float = 0.01) -> Program:
    """Draw the program of a seed."""
    origins = tuple(_origin(chance(seed, f"origin/{n}"), n, days * DAY) for n in range(sources))
    hosts = [origin.host for origin in origins]
    ends = days * DAY
    return Program(
        seed=seed,
        days=days,
        origins=origins,
        clients=tuple(_client(chance(seed, f"client/{n}"), n, ends) for n in range(3)),
        faults=_faults(chance(seed, "faults"), hosts, ends),
        steps=_steps(chance(seed, "steps"), ends),
        endings=_endings(chance(seed, "endings"), ends),
        point_crash=point_crash,
    )


def _origin(dice: random.Random, number: int, ends: float) -> OriginPlan:
    tier = _TIERS[number % len(_TIERS)]
    styles = {"feed": ("rss", "atom", "json"), "html": ("plain", "busy"), "push": ("frames",)}
    per_day = {"feed": (0.5, 12.0), "html": (0.5, 4.0), "push": (10.0, 60.0)}[tier]
    quiet = number % 10 == 9
    return OriginPlan(
        host=f"{tier}{number}.shore.org",
        tier=tier,
        style=dice.choice(styles[tier]),  # type: ignore[arg-type]  # one of the literals above
        validators=dice.choice(("etag", "modified", "both")),
        window=dice.randint(6, 12) if tier == "html" else dice.randint(30, 50),
        secure=dice.random() < 0.5,
        added_at=dice.uniform(5.0, CALM / 2),
        texts=() if quiet else _texts(dice, dice.uniform(*per_day), ends),
    )


def _texts(dice: random.Random, per_day: float, ends: float) -> tuple[Text, ...]:
    drawn: list[Text] = []
    for at in _moments(dice, per_day, 0.0, ends - 2):
        words = dice.sample(WORDS, dice.randint(12, 24))
        if dice.random() < 0.3:
            words.insert(dice.randrange(len(words)), ALERT_WORD)
        # Whole seconds, each once: Last-Modified can't tell more apart.
        drawn.append(Text(max(float(round(at)), drawn[-1].at + 1 if drawn else 1.0), tuple(words)))
    return tuple(drawn)


def _client(dice: random.Random, number: int, ends: float) -> ClientPlan:
    sessions, at = [], dice.uniform(60.0, CALM)
    while at < ends:
        leaves = at + dice.choice((dice.uniform(5, 600), dice.uniform(600, 6 * 3600)))
        sessions.append(Session(at, min(leaves, ends)))
        at = leaves + dice.choice((dice.uniform(0.1, 10), dice.uniform(10, 2 * 3600)))
    return ClientPlan(
        name=f"client{number}",
        framing="ndjson" if number % 3 == 1 else "sse",
        resumes_by="query" if number % 3 == 2 else "header",
        sessions=tuple(sessions),
    )


def _faults(dice: random.Random, hosts: list[str], ends: float) -> tuple[Fault, ...]:
    drawn = []
    for at in _moments(dice, 24.0, CALM, ends):
        lasts = min(dice.expovariate(1 / 900), 3600.0, ends - at)
        if dice.random() < 0.2:
            drawn.append(Fault(at, lasts, dice.choice(SERVICE_FAULTS), SERVICE))
        else:
            drawn.append(Fault(at, lasts, dice.choice(HOST_FAULTS), dice.choice([*hosts, HOOK, HOOK])))
    return tuple(drawn)


def _steps(dice: random.Random, ends: float) -> tuple[ClockStep, ...]:
    return tuple(ClockStep(at, round(dice.uniform(-3600, 3600), 3)) for at in _moments(dice, 2.0, CALM, ends))


def _endings(dice: random.Random, ends: float) -> tuple[Ending, ...]:
    return tuple(
        Ending(at, dice.choice((dice.uniform(0.05, 3), dice.uniform(3, 900))), dice.random() < 0.3)
        for at in _moments(dice, 6.0, CALM, ends)
    )


def _moments(dice: random.Random, per_day: float, begins: float, ends: float) -> list[float]:
    """Draw the moments of a Poisson process."""
    drawn, at = [], begins + dice.expovariate(per_day / DAY)
    while at < ends:
        drawn.append(at)
        at += dice.expovariate(per_day / DAY)
    return drawn
