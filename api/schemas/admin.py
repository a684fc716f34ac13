"""Wire shapes of the admin API. Rows are flat, and every field is always present."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from msgspec import Meta, Struct

from actors.overseer.rows import Kind, Sort
from api.schemas.sources import HeldEvents, Time
from storage.records.destination import DeliveryMode, Result
from storage.records.states import LOOKS, PARTS, Cause, Flag, PartState, SourceState


class TreeQuery(Struct, frozen=True, forbid_unknown_fields=True):
    """The rows to return, and their order."""

    sort: Annotated[
        Sort,
        Meta(
            description="worst: by state, then health; next: who does something next; since: who changed its state "
            "last; rate: whose looks are made most often; mailbox, restarts: the most; others: the lowest first"
        ),
    ] = "worst"
    reverse: Annotated[bool, Meta(description="The other way round")] = False
    tree: Annotated[
        bool,
        Meta(
            description="As a tree: each part is followed by what it supervises, as `open` and `troubled` say; a "
            "filter shows all that it finds"
        ),
    ] = False
    open: Annotated[
        tuple[Annotated[str, Meta(max_length=60)], ...],
        Meta(max_length=20, examples=[["sources"]], description="In a tree: parts of which all is shown"),
    ] = ()
    troubled: Annotated[
        tuple[Annotated[str, Meta(max_length=60)], ...],
        Meta(max_length=20, examples=[["sources"]], description="In a tree: parts of which what is not well is shown"),
    ] = ()
    filter: Annotated[
        str,
        Meta(
            max_length=500,
            examples=["state:quar shop"],
            description="Words in path, name or error, and `state:`, `host:`, `tag:`, `kind:`; all must hold, of "
            "several of one qualifier any",
        ),
    ] = ""
    start: Annotated[int, Meta(ge=0, le=10_000_000, description="The position of the first row")] = 0
    limit: Annotated[int, Meta(ge=1, le=500, description="Most rows")] = 100
    paths: Annotated[
        tuple[Annotated[str, Meta(max_length=60)], ...],
        Meta(
            max_length=100,
            examples=[["log"]],
            description="Only these, in this order, as they are now, whatever else is asked; what is gone is left out",
        ),
    ] = ()


class BelowSeen(Struct, frozen=True):
    """What a part supervises that comes and goes: how many, and the worst state among them."""

    total: int
    worst: PartState


class TreeRow(Struct, frozen=True):
    """One part of the service, one source or one destination. `error` is one line of plain text, or empty."""

    path: str
    name: Annotated[str, Meta(description="The URL of a source or a destination, else empty")]
    kind: Kind
    state: Annotated[
        PartState,
        Meta(description=" ".join(f"`{name}`: {state.says}" for name, state in PARTS.items())),
    ]
    health: Annotated[float | None, Meta(description="A source's score from 0 to 1")]
    flag: Flag | None
    restarts: int
    since: Annotated[Time, Meta(description="When it came into its state")]
    error: str
    next: Annotated[Time | None, Meta(description="When it does something by itself: a look, or a life after a crash")]
    title: Annotated[str, Meta(description="What a source is called, by its user or else by itself")] = ""
    mailbox: Annotated[int | None, Meta(description="Messages that wait for it; null without a mailbox")] = None
    handled: Annotated[int | None, Meta(description="Messages that it has taken so far")] = None
    pace_s: Annotated[float | None, Meta(description="Seconds between a source's looks at its present pace")] = None
    marks: Annotated[
        str,
        Meta(
            description="A source's last looks, newest last, a mark each. "
            + " ".join(f"`{state.short}`: {state.word}." for state in LOOKS.values())
        ),
    ] = ""
    below: Annotated[BelowSeen | None, Meta(description="What sources and destinations supervise")] = None


class TreePage(Struct, frozen=True):
    """Rows from `start` on, of `total` that the filter admits. Fewer than were asked for when some have just gone."""

    total: int
    start: int
    rows: tuple[TreeRow, ...]


class CrashSeen(Struct, frozen=True):
    """A crash, by the first line of its error."""

    at: Time
    error: str


class MailboxSeen(Struct, frozen=True):
    """A mailbox: how many wait, how many may, how many were taken in all, and how often it was met full."""

    depth: int
    bound: int
    received: int
    full: int


class LookSeen(Struct, frozen=True):
    """`looks` looks that went alike, the last of them at `at`. `bytes`: of the last one's body."""

    at: Time
    verdict: str
    looks: int
    status: int | None
    bytes: int
    ms: int


class HealthSeen(Struct, frozen=True):
    """One of the things that a score is made of: the part of it that is left (1: it costs nothing), and why."""

    cause: Cause
    left: float
    says: str


class Watching(Struct, frozen=True):
    """How the watching of a source goes. `trail`: its last looks, newest first. `health`: what its score is made of.

    next_look: why the next look is when it is.
    """

    id: str
    url: str
    tags: tuple[str, ...]
    reason: str
    health: tuple[HealthSeen, ...]
    interval_s: float
    next_look: str
    looks: int
    unchanged: int
    events: int
    last_look_at: Time | None
    last_success_at: Time | None
    last_event_at: Time | None
    last_status: int | None
    last_error: str | None
    breaker: Literal["closed", "open", "half-open"]
    failures: int
    retry_at: Time | None
    trail: tuple[LookSeen, ...]
    held: HeldEvents
    covered: Annotated[str, Meta(description="How often it was looked at in the last 7 days, and what is unknown")]


class TreePart(Struct, frozen=True):
    """All that is known of one part. `crash`: of its last life that crashed, with the innermost places.

    task: what its supervisor says of it; null when it has none. slowest_step_s: the longest that it has held the loop.
    """

    row: TreeRow
    task: Annotated[str | None, Meta(description="The supervisor's word for its state")]
    note: str
    awaiting: Annotated[str, Meta(description="The innermost await, as `file:line in function`")]
    crash: str
    places: tuple[str, ...]
    crashes: Annotated[tuple[CrashSeen, ...], Meta(description="The newest crashes, newest first")]
    mailbox: MailboxSeen | None
    slowest_step_s: float | None
    idle_s: float | None
    source: Watching | None


class SettingsSeen(Struct, frozen=True):
    """The settings of a running service, by their names. A secret that is set is shown as asterisks."""

    settings: dict[str, Any]


class Sources(Struct, frozen=True):
    """Sources by health, by state, and what their actors do. `total` counts paused ones too."""

    total: int
    ok: int
    degraded: int
    rotten: int
    running: int
    backoff: int
    quarantined: int
    overdue: int
    states: Annotated[dict[SourceState, int], Meta(description="How many sources are in each state now")]


class Destinations(Struct, frozen=True):
    """The actors of destinations that are neither paused nor disabled."""

    total: int
    running: int
    backoff: int
    quarantined: int


class Matching(Struct, frozen=True):
    """How far the matcher is behind the log: events, and the age of the oldest. `says`: empty while that is short."""

    behind: int
    seconds: float
    says: str = ""


class LookRate(Struct, frozen=True):
    """Looks a second in the last half minute, beside the setting `looks_per_second`. `says`: empty while it is kept."""

    per_second: float
    budget: float
    passed_for_s: Annotated[float, Meta(description="How long more looks than the budget are made; 0 while it is kept")]
    says: str = ""


class MissingEvents(Struct, frozen=True):
    """Between these two times, of the events' ids. Feeds and pages are found again, frames of WebSockets are not."""

    after: Time
    until: Time


class Node(Struct, frozen=True):
    """One of the nodes on one database, as it was at its last beat."""

    name: Annotated[str, Meta(description="Its name, and chance that is new at each start")]
    this: Annotated[bool, Meta(description="Whether it is the one that answers")]
    inside: Annotated[bool, Meta(description="Whether sources and destinations may be its own")]
    version: str
    url: str
    sources: Annotated[int, Meta(description="Sources that it watches")]
    overdue: int
    streams: int
    role: Annotated[
        Literal["all", "web"], Meta(description="`web`: it answers requests and streams, and watches nothing")
    ] = "all"
    missing: Annotated[
        MissingEvents | None,
        Meta(description="Events that its readers had seen, and that a failover of PostgreSQL took"),
    ] = None


class Replica(Struct, frozen=True):
    """How far the copy for a standby is."""

    place: str
    told_at: Annotated[Time | None, Meta(description="All that was committed up to then is in it; null before any is")]
    untold: Annotated[int, Meta(description="Bytes of the write-ahead log that are not in it yet")]
    says: Annotated[str, Meta(description="What keeps it from going on; empty when all is well")]


class Overview(Struct, frozen=True):
    """The figures of the whole. `failing`: part to sentence, empty when all is well.

    queues: messages that wait in the mailboxes of the fixed parts. totals: counted since `started_at`; two answers give
    a rate.
    """

    at: Time
    started_at: Time
    version: str
    url: Annotated[str, Meta(description="The service's address, as clients see it")]
    local_url: Annotated[str, Meta(description="Where programs on its own machine reach it")]
    ready: bool
    draining: Annotated[bool, Meta(description="Looks are not made until `resume`")]
    failing: dict[str, str]
    sources: Sources
    destinations: Destinations
    matching: Matching
    newest_event: Annotated[str | None, Meta(description="The id of the newest event")]
    queues: dict[str, int]
    streams: int
    looks: LookRate
    loop_lag_s: Annotated[float, Meta(description="How late the loop came to its work at the last measurement")]
    totals: dict[str, int]
    nodes: Annotated[list[Node], Meta(description="The nodes that share the database; empty where there is one alone")]
    replica: Annotated[
        Replica | None, Meta(description="The copy that is kept for a standby; null where none is kept")
    ] = None


class DeliveriesPageQuery(Struct, frozen=True, forbid_unknown_fields=True):
    """The destinations to return."""

    start: Annotated[int, Meta(ge=0, le=10_000_000, description="The position of the first row")] = 0
    limit: Annotated[int, Meta(ge=1, le=100, description="Most rows")] = 50


DeliveryState = Literal["active", "failing", "disabled", "paused"]


class LastAttempt(Struct, frozen=True):
    """The newest attempt at a destination. `error`: one line of plain text."""

    at: Time
    result: Result
    status: int | None
    latency_ms: int
    error: str | None


class DeliveryRow(Struct, frozen=True):
    """How one destination stands. waiting: deliveries that wait or are under way; oldest: since when the first does.

    next: when the next one is due, null when nothing waits or all that does is under way.
    """

    id: str
    alert_id: str
    label: str
    url: str
    delivery_mode: DeliveryMode
    state: DeliveryState
    failing_since: Time | None
    waiting: int
    oldest: Time | None
    next: Time | None
    failure_rate: Annotated[float, Meta(description="Of its newest 100 attempts")]
    last: LastAttempt | None


class DeliveriesPage(Struct, frozen=True):
    """Rows from `start` on, of `total`: who fails first, then who has most waiting."""

    total: int
    start: int
    rows: tuple[DeliveryRow, ...]


class LogQuery(Struct, frozen=True, forbid_unknown_fields=True):
    """The log lines to return."""

    actor: Annotated[
        str,
        Meta(max_length=200, examples=["sources"], description="A path of the tree; lines of those below it come too"),
    ] = ""
    after: Annotated[int, Meta(ge=0, le=2**53 - 1, description="Only lines after this number")] = 0
    limit: Annotated[int, Meta(ge=1, le=500, description="Most lines, the newest ones")] = 200


class LogLine(Struct, frozen=True):
    """A line as it was written, with a number of its own."""

    number: int
    ts: str
    level: str
    event: str
    actor: str
    fields: dict[str, Any]


class LogPage(Struct, frozen=True):
    """The newest lines, oldest first, and the number to go on after."""

    last: int
    lines: tuple[LogLine, ...]


class Done(Struct, frozen=True):
    """What was done, or was begun and goes on."""

    done: str
    path: str


class SourceSize(HeldEvents, frozen=True, kw_only=True):
    """What a source has in the log. `url` is null for one that was deleted, and for the service's own notices."""

    source_id: str
    url: str | None
    title: Annotated[str, Meta(description="What it is called, by its user or else by itself")] = ""


class SizesQuery(Struct, frozen=True, forbid_unknown_fields=True):
    """How many sources to return."""

    limit: Annotated[int, Meta(ge=1, le=100, description="The heaviest so many", examples=[10])] = 10


class Sizes(Struct, frozen=True):
    """What the storage takes: bytes in all, those of them that are free for new events, and its heaviest sources."""

    bytes: int
    free: int
    sources: tuple[SourceSize, ...]


class StreamsQuery(Struct, frozen=True, forbid_unknown_fields=True):
    """How many streams to return."""

    limit: Annotated[int, Meta(ge=1, le=500, description="The first so many", examples=[100])] = 100


class StreamSeen(Struct, frozen=True):
    """A stream that is open. `key`: the id of its API key, of a session of the dashboard, "" on the admin socket.

    `cursor`: the position up to which it has looked, as an id; null of one that follows no log. `behind_s`: how much
    older that is than the newest event, 0 when it has seen all. `bytes`: what it was sent of events.
    """

    number: int
    key: str
    name: str
    prefix: str
    address: str
    asked: str
    since: Time
    cursor: str | None
    behind_s: float
    bytes: int


class StreamsSeen(Struct, frozen=True):
    """The streams of this node alone, who is furthest behind first. `node`: its name; "" of a service of one node."""

    total: int
    node: str
    streams: tuple[StreamSeen, ...]


class KeySeen(Struct, frozen=True):
    """An API key without what lets in. `prefix`: its first characters. `streams`: those it has open at this node."""

    id: str
    name: str
    prefix: str
    scopes: tuple[str, ...]
    rate_per_minute: int
    burst: int
    created_at: Time
    last_used_at: Time | None
    streams: int


class KeysSeen(Struct, frozen=True):
    """All API keys, newest first."""

    keys: tuple[KeySeen, ...]
