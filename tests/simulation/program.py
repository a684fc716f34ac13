"""The program of a world: users, origins and faults, as data: printable, comparable, cut down by hand.

All times are virtual seconds since the world began. Nothing bad happens in the first hour (`CALM`), nor after
`days`; then the world goes on until everything owed has arrived, or fails as stuck. `drawing` makes programs of seeds.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

from storage.records.tiers import SourceType
from tests.simulation.delivery_plans import Correspondence

DAY = 86_400.0
CALM = 3600.0

Tier = SourceType
Style = Literal["rss", "atom", "json", "plain", "busy", "frames", "labels", "entries", "list"]
Instead = Literal["", "login", "loading", "error", "home", "elsewhere"]
News = Literal["", "told", "reverted", "moved", "few", "several"]
Churn = Literal["clock", "counter", "promos", "flap", "shuffle", "token", "redate", "stamp"]
Do = Literal["edit", "refused", "pause", "renew", "import", "pick"]
NodeTroubleKind = Literal["kill", "leave", "freeze", "stuck", "cut", "outage"]
Charset = Literal["utf-8", "iso-8859-1", "utf-16"]

SOON = 60.0
"""Seconds within which a node must append, to be stopped there."""
ALERT_WORD = "storm"
"""The alert asks for this word; every text either has it or not."""

HOST_FAULTS = (
    *("refused", "unreachable", "partition", "slow", "reset", "nxdomain", "http500", "truncated", "garbage"),
    *("silent", "half", "trickle", "wall", "error page", "empty"),
    *("throttled", "throttled until", "throttled plainly", "unavailable", "busy"),
    *("loop", "to a private address", "to the metadata service", "to plain http", "rebound"),
    *("robots forbids", "robots fails", "closes", "hangs"),
)
"""Troubles of an origin. Those of HTTP do nothing to a WebSocket server, and the last two nothing to HTTP."""
OURS = ("dns", "servfail", "offline")
"""Outages of our own line that show as such: no source may be blamed."""
LINE_FAULTS = (*OURS, "slow dns", "dead line", "lossy", "partition", "slow", "reset", "disk full")
DISK_FAULTS = ("disk slow", "disk locked", "disk errors", "disk mute", "power cut")
"""Troubles of our own disk, beside a full one: each call takes up to half a minute, or waits for another program in
vain; some calls fail; some commits are not said to have happened; what was not synced is gone.
"""
BROWSER_FAULTS = ("browser dies", "browser hangs", "no browser")
"""Troubles of our own browser, in worlds that have one. They slow nothing down, and delay no other look."""
FIRST_SESSION = "session=s0"
"""What a user has copied out of his browser."""
SESSION_FAULTS = ("renews and fails", "renews and is cut")
"""Troubles of a site with sessions: an answer gives a new one and is a failure, or its body is cut."""
SERVICE_FAULTS = (*LINE_FAULTS, *DISK_FAULTS)
SERVICE, HOOK = "api.sanderling.org", "hook.receiver.org"
COLLECTOR = "collector.people.org"
"""Where spans go, in worlds with traces."""
UNWATCHED = (HOOK, COLLECTOR)
"""Machines that the service speaks to, and looks at nothing there."""


@dataclass(frozen=True, slots=True)
class Text:
    """Something published: when, and the words it is made of.

    revised_at: from then on a feed's entry says `revision` instead. away: while it is not in its feed.
    """

    at: float
    words: tuple[str, ...]
    revised_at: float = math.inf
    revision: tuple[str, ...] = ()
    away: tuple[float, float] = (math.inf, math.inf)

    @property
    def alarming(self) -> bool:
        """Whether the alert must match it."""
        return ALERT_WORD in self.words


@dataclass(frozen=True, slots=True)
class Manners:
    """How an origin speaks, whatever it says.

    content_type: a wrong one, "" for the right one. churn: what of it changes without being news. resets_at: from then
    on all of a feed's identities are others.
    """

    content_type: str = ""
    charset: Charset = "utf-8"
    zipped: bool = False
    churn: tuple[Churn, ...] = ()
    resets_at: float = math.inf


@dataclass(frozen=True, slots=True)
class Scene:
    """What a scripted page shows for so many requests, and what its reader wants to hear of it.

    lines: its labels or entries; `{n}` in one is another number at each request. rotates: each request is shown
    one of them, by lot. instead: another page stands in its place. news: how its difference to what was told is to be
    told; "" not at all, "few" at most twice and at a tenth of its looks, "several" at most five times and at a fifth.
    """

    visits: int
    lines: tuple[str, ...]
    news: News = ""
    rotates: bool = False
    instead: Instead = ""


@dataclass(frozen=True, slots=True)
class OriginPlan:
    """A source and what it publishes: entries of a feed, altered blocks of a page, frames of a push stream.

    style: the feed's format, or how the page is built. validators: which headers make requests conditional.
    window: how many entries a feed keeps, blocks a page has. secure: https and wss. texts: those before 0 were there
    when the world began. via: what the user gives instead of the address itself, and what that redirects to.
    scenes: what a scripted page plays, which has no texts; the last one stays.
    shell: it is sent empty, and its scripts fill it. render: what its user asks for, "" for nothing; pictures: with
    pictures of each change.
    session: its user has given a cookie, which it renews at each visit. other: of a list, the host on which every third
    item has its page, "" where all are its own.
    """

    host: str
    tier: Tier
    style: Style
    validators: Literal["etag", "modified", "both", "none"]
    window: int
    secure: bool
    added_at: float
    texts: tuple[Text, ...]
    path: str = "/"
    via: tuple[str, ...] = ()
    manners: Manners = Manners()
    scenes: tuple[Scene, ...] = ()
    shell: bool = False
    render: Literal["", "never", "always"] = ""
    pictures: bool = False
    session: bool = False
    other: str = ""

    @property
    def astray(self) -> bool:
        """Whether another page ever stands in its place, which it can be failing for."""
        return any(scene.instead for scene in self.scenes)

    @property
    def address(self) -> str:
        """Where it really is."""
        scheme = ("wss" if self.secure else "ws") if self.tier == "push" else ("https" if self.secure else "http")
        return f"{scheme}://{self.host}{self.path}"

    @property
    def url(self) -> str:
        """The address a user gives."""
        return self.via[0] if self.via else self.address

    @property
    def name(self) -> str:
        """How its texts and the timeline call it."""
        return self.host + self.path.rstrip("/")

    @property
    def machine(self) -> str:
        return machine_of(self.host)

    @property
    def machines(self) -> tuple[str, ...]:
        """All the machines that a look at it asks."""
        hosts = (*(host_of(url) for url in (*self.via, self.address)), *filter(None, [self.other]))
        return tuple(dict.fromkeys(machine_of(host) for host in hosts))


@dataclass(frozen=True, slots=True)
class RobotsPlan:
    """A machine's robots.txt in good times; without a `text` it has none."""

    text: str = ""
    crawl_delay: float = 0.0
    max_age: int = 0


@dataclass(frozen=True, slots=True)
class Session:
    """A client is connected from `begins` until it hangs up at `ends`."""

    begins: float
    ends: float


@dataclass(frozen=True, slots=True)
class AlertPlan:
    """An alert over the whole library that a user makes at a time, for texts with a word."""

    at: float
    word: str
    notice_after: int


@dataclass(frozen=True, slots=True)
class Wish:
    """What a stream client asks for: the events of a tier, of a source (by its URL), with a word; "" is whatever."""

    tier: str = ""
    source: str = ""
    word: str = ""


@dataclass(frozen=True, slots=True)
class Revocation:
    """A client's key is deleted; it gets another one `later`, and asks with the old one until then."""

    at: float
    later: float


@dataclass(frozen=True, slots=True)
class ClientPlan:
    """A stream client that resumes with the last id it saw, each time it comes back.

    rests: seconds before it reads on, after each event. revocations: of the keys that it has, which are its own then.
    """

    name: str
    framing: Literal["sse", "ndjson"]
    resumes_by: Literal["header", "query"]
    sessions: tuple[Session, ...]
    wish: Wish = Wish()
    rests: float = 0.0
    revocations: tuple[Revocation, ...] = ()


@dataclass(frozen=True, slots=True)
class Fault:
    """Something outside is broken for a while. `where` is a machine; the service's own faults are those of its line."""

    at: float
    lasts: float
    kind: str
    where: str

    @property
    def ends(self) -> float:
        """When it is over."""
        return self.at + self.lasts


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
class NodeTrouble:
    """What happens to one of several nodes; it is over, or the node is there again, after `lasts`.

    kill: as by `kill -9`. leave: it is asked to stop. freeze: nothing of it runs. stuck: the same, from its next append
    on, if that comes soon. cut: it does not reach the database. outage: no node does.
    """

    at: float
    node: int
    kind: NodeTroubleKind
    lasts: float

    @property
    def ends(self) -> float:
        """When it is over at the latest."""
        return self.at + self.lasts + (SOON if self.kind == "stuck" else 0.0)


@dataclass(frozen=True, slots=True)
class Meddling:
    """A user changes a source, asks for what is refused, pauses it for a while, deletes it and adds it anew, imports a
    list with all that nobody deletes, or picks the parts of a page.

    place: of the paragraph that he leaves out of the page, or watches alone (`only`); None: he watches all of it again.
    """

    at: float
    url: str
    do: Do
    lasts: float = 0.0
    place: int | None = None
    only: bool = False


@dataclass(frozen=True)
class Program:
    """One seed's world. `point_crash` is the chance that something ends each time the code reaches a named point: the
    whole process, or that actor alone. robots: by machine. looks_per_second: the service's setting.
    alerts: those that are made in its course; one that asks for `ALERT_WORD` is there from the beginning.
    letters: what is said without origins, and who is written to. season: how far ahead the service's clock begins.
    meddling: what a user does to sources.
    tight: all pages and mailboxes are small, and the log keeps little (`tightness`). hooks: destinations of the alert.
    key_check: seconds between two looks at the keys of open streams; the API looks twice a second, and that would be
    nearly all that is simulated. epilogue: what comes after all is at rest: "restore" of a backup that was taken at
    nine tenths of the program, or "log" or another table of which a page is bent, "at rest log" between two lives;
    "take over" by a standby from a dead service, "take over alive" from one that lives.
    heartbeat: seconds between two heartbeats in the log; 0: there are none. traces: the share of traces that is kept
    and sent to a collector; 0: nothing is traced.
    hops: pages of new items in an hour for one list. keeps: events that the log keeps; 0: all.
    nodes: how many lives there are at once, on one database, and troubles: theirs. Then `endings` are nobody's.
    """

    seed: str
    days: float
    origins: tuple[OriginPlan, ...]
    clients: tuple[ClientPlan, ...]
    faults: tuple[Fault, ...]
    steps: tuple[ClockStep, ...]
    endings: tuple[Ending, ...]
    point_crash: float
    looks_per_second: float
    robots: tuple[tuple[str, RobotsPlan], ...] = ()
    alerts: tuple[AlertPlan, ...] = ()
    letters: Correspondence | None = None
    season: float = 0.0
    meddling: tuple[Meddling, ...] = ()
    tight: bool = False
    hooks: int = 1
    key_check: float = 300.0
    epilogue: str = ""
    heartbeat: float = 0.0
    hops: int = 60
    keeps: int = 0
    traces: float = 0.0
    nodes: int = 1
    troubles: tuple[NodeTrouble, ...] = ()
    has_standby: bool = False

    @property
    def ends(self) -> float:
        """When the program is over and the world only has to come to rest."""
        return self.days * DAY

    @property
    def browses(self) -> bool:
        """Whether its machine has a browser: where there is something to show."""
        return any(plan.shell or plan.render for plan in self.origins)

    @cached_property
    def machines(self) -> tuple[str, ...]:
        """All machines with origins, in the order in which they are first named."""
        return tuple(dict.fromkeys(machine for plan in self.origins for machine in plan.machines))

    @cached_property
    def twins(self) -> frozenset[str]:
        """The machines that are known under two names."""
        hosts = [host_of(url) for plan in self.origins for url in (*plan.via, plan.address)]
        return frozenset(machine_of(host) for host in hosts if host != machine_of(host))

    def robots_of(self, machine: str) -> RobotsPlan:
        """Return a machine's robots.txt."""
        return dict(self.robots).get(machine, RobotsPlan())

    def faults_at(self, machine: str, kinds: Iterable[str] | None = None) -> list[Fault]:
        wanted = None if kinds is None else frozenset(kinds)
        return [fault for fault in self.faults if fault.where == machine and (wanted is None or fault.kind in wanted)]

    def describe(self) -> str:
        """Say in one line how much of what is in it."""
        return (
            f"{self.days:g} days, {len(self.origins)} sources, {sum(len(o.texts) for o in self.origins)} texts, "
            f"{len(self.faults)} faults, {len(self.steps)} clock steps, {len(self.endings)} endings, "
            f"{len(self.clients)} clients, {len(self.meddling)} changes of sources"
        )


def host_of(url: str) -> str:
    """Return the host of one of the program's own URLs.

    >>> host_of("https://www.shore.org/feed")
    'www.shore.org'
    """
    return url.split("/")[2]


def machine_of(host: str) -> str:
    """Return the machine behind a name: a name and its twin with `www.` are one.

    >>> machine_of("www.shore.org")
    'shore.org'
    """
    return host.removeprefix("www.")
