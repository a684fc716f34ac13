"""The program of a world: users, origins and faults, as data: printable, comparable, cut down by hand.

All times are virtual seconds since the world began. No fault comes in the first hour (`CALM`), nor after `days`; then
the world continues until everything owed has arrived, or fails as stuck. `drawing` makes programs of seeds.
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
Do = Literal["edit", "refused", "pause", "renew", "import", "pick", "title"]
NodeTroubleKind = Literal["kill", "leave", "freeze", "stuck", "cut", "outage"]
Charset = Literal["utf-8", "iso-8859-1", "utf-16"]

SOON = 60.0
"""Seconds within which a node must append, to be stopped there."""
ALERT_WORD = "storm"
"""The alert matches this word; every text either has it or not."""

HOST_FAULTS = (
    *("refused", "unreachable", "partition", "slow", "reset", "nxdomain", "http500", "truncated", "garbage"),
    *("silent", "half", "trickle", "wall", "error page", "empty"),
    *("throttled", "throttled until", "throttled plainly", "unavailable", "busy"),
    *("loop", "to a private address", "to the metadata service", "to plain http", "rebound"),
    *("robots forbids", "robots fails", "closes", "hangs"),
)
"""Troubles of an origin. Those of HTTP do nothing to a WebSocket server, and the last two nothing to HTTP."""
OURS = ("dns", "servfail", "offline")
"""Recognisable outages of our own line: no source may be blamed."""
LINE_FAULTS = (*OURS, "slow dns", "dead line", "lossy", "partition", "slow", "reset", "disk full")
DISK_FAULTS = ("disk slow", "disk locked", "disk errors", "disk mute", "power cut")
"""Troubles of our own disk, in addition to a full one: calls take up to half a minute; calls wait in vain for another
program's lock; some calls fail; some commits get no answer; unsynced data is lost.
"""
BROWSER_FAULTS = ("browser dies", "browser hangs", "no browser")
"""Troubles of our own browser, in worlds that have one. They slow nothing down, and delay no other check."""
FIRST_SESSION = "session=s0"
"""The cookie that a user has copied from a browser."""
SESSION_FAULTS = ("renews and fails", "renews and is cut")
"""Troubles of a site with sessions: an answer renews the session and is an error, or its body is cut."""
SERVICE_FAULTS = (*LINE_FAULTS, *DISK_FAULTS)
SERVICE, HOOK = "api.sanderling.org", "hook.receiver.org"
COLLECTOR = "collector.people.org"
"""The target of spans, in worlds with traces."""
UNWATCHED = (HOOK, COLLECTOR)
"""Machines that the service connects to, but watches no source on."""


@dataclass(frozen=True, slots=True)
class Text:
    """A published text: when, and its words.

    revised_at: from then on a feed's entry has `revision` instead. away: while it is not in its feed.
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
    """An origin's format.

    content_type: a wrong one, "" for the right one. churn: its parts that change without a change to report. resets_at:
    from then on all of a feed's identities are others.
    """

    content_type: str = ""
    charset: Charset = "utf-8"
    zipped: bool = False
    churn: tuple[Churn, ...] = ()
    resets_at: float = math.inf


@dataclass(frozen=True, slots=True)
class Scene:
    """A scripted page's content for so many requests, and the reports that its reader wants.

    lines: its labels or entries; `{n}` in one is another number at each request. rotates: each request is shown one of
    them, by lot. instead: another page replaces the page. news: the wanted report of its difference to the last
    reported state; "" none, "few" at most two and at a tenth of its checks, "several" at most five and at a fifth.
    """

    visits: int
    lines: tuple[str, ...]
    news: News = ""
    rotates: bool = False
    instead: Instead = ""


@dataclass(frozen=True, slots=True)
class OriginPlan:
    """A source and its texts: entries of a feed, altered blocks of a page, frames of a push stream.

    style: the feed's format, or the page's layout. validators: the headers that make requests conditional. window: how
    many entries a feed keeps, blocks a page has. secure: https and wss. texts: those before 0 existed when the world
    began. via: the user's address and further redirects, in place of the address itself. scenes: the script of a page,
    which has no texts; the last one stays. shell: it is sent empty, and its scripts fill it. render: the user's
    setting, "" for none; pictures: with pictures of each change. session: its user has given a cookie, which it renews
    at each visit. other: of a list, the host of every third item's page, "" if all are its own.
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
        """Whether another page ever replaces it, which may count as a failure."""
        return any(scene.instead for scene in self.scenes)

    @property
    def address(self) -> str:
        """Its real address."""
        scheme = ("wss" if self.secure else "ws") if self.tier == "push" else ("https" if self.secure else "http")
        return f"{scheme}://{self.host}{self.path}"

    @property
    def url(self) -> str:
        """The address a user gives."""
        return self.via[0] if self.via else self.address

    @property
    def name(self) -> str:
        """Its name in texts and the timeline."""
        return self.host + self.path.rstrip("/")

    @property
    def machine(self) -> str:
        return machine_of(self.host)

    @property
    def machines(self) -> tuple[str, ...]:
        """All the machines that a check of it asks."""
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
    """A stream client's filters: a tier, a source (by its URL), a word; "" is no filter."""

    tier: str = ""
    source: str = ""
    word: str = ""


@dataclass(frozen=True, slots=True)
class Revocation:
    """A client's key is deleted; it gets another one `later`, and uses the old one until then."""

    at: float
    later: float


@dataclass(frozen=True, slots=True)
class ClientPlan:
    """A stream client that resumes with the last id it saw, each time it comes back.

    rests: seconds before it reads on, after each event. revocations: of its keys, which no other client has then.
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
    """An external fault for a while. `where` is a machine; the service's own faults are those of its line."""

    at: float
    lasts: float
    kind: str
    where: str

    @property
    def ends(self) -> float:
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
    """A trouble of one of several nodes; after `lasts` it is over, or the node is back.

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
    """A user changes a source, sends an invalid request, pauses it for a while, deletes and adds it, imports a list
    with all sources that are never deleted, picks the parts of a page, or gives a title without a check before it.

    place: of the paragraph to ignore, or to watch alone (`only`); None: watch the whole page again.
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
    whole process, or that actor alone. robots: by machine. looks_per_second: the service's setting. alerts: those made
    during the program; one for `ALERT_WORD` exists from the beginning. letters: events without origins, and their
    destinations. season: how far ahead the service's clock begins. meddling: a user's changes to sources. tight: all
    pages and mailboxes are small, and the log keeps little (`tightness`). hooks: destinations of the alert. key_check:
    seconds between two checks of the keys of open streams; the API's two per second would take most of the simulation.
    epilogue: after the world is at rest: "restore" of a backup taken at nine tenths of the program, or "log" or another
    table, one page of which is damaged, "at rest log" between two lives; "take over" by a standby from a dead service,
    "take over alive" from a live one. heartbeat: seconds between two heartbeats in the log; 0: none. traces: the share
    of traces that is kept and sent to a collector; 0: no traces. hops: pages of new items in an hour for one list.
    keeps: events that the log keeps; 0: all. sweep: seconds between two sweeps, which store what no commit has. nodes:
    how many lives run at once, on one database, and troubles: theirs. Then `endings` apply to none.
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
    sweep: float = 1800.0
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
        """Whether its machine has a browser: where a page needs one."""
        return any(plan.shell or plan.render for plan in self.origins)

    @cached_property
    def machines(self) -> tuple[str, ...]:
        """All machines with origins, in the order of their first mention."""
        return tuple(dict.fromkeys(machine for plan in self.origins for machine in plan.machines))

    @cached_property
    def twins(self) -> frozenset[str]:
        """The machines that are known under two names."""
        hosts = [host_of(url) for plan in self.origins for url in (*plan.via, plan.address)]
        return frozenset(machine_of(host) for host in hosts if host != machine_of(host))

    def robots_of(self, machine: str) -> RobotsPlan:
        return dict(self.robots).get(machine, RobotsPlan())

    def faults_at(self, machine: str, kinds: Iterable[str] | None = None) -> list[Fault]:
        wanted = None if kinds is None else frozenset(kinds)
        return [fault for fault in self.faults if fault.where == machine and (wanted is None or fault.kind in wanted)]

    def describe(self) -> str:
        """Summarise its contents in one line."""
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
