"""Wire shapes of the admin API. Rows are flat, and every field is always present."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from msgspec import Meta, Struct

from actors.messages.declaring import Declared, Time, record_of
from actors.overseer.overseer import OpenStream, StateTransition
from actors.overseer.rows import ChildSummary, Kind, Sort
from api.fields import WORDS
from api.fields.sources import HeldEvents
from storage.records.access import ApiKey
from storage.records.destination import Attempt, Destination
from storage.records.source import LOOKS, PARTS, Cause, Flag, PartState, SourceRuntime, SourceStateName
from supervision import MailboxStatistics

_Path = Annotated[str, Meta(max_length=60)]
_Start = Annotated[int, Meta(ge=0, le=10_000_000)]


class TreeQuery(Struct, frozen=True, forbid_unknown_fields=True):
    """The rows to return, and their order."""

    sort: Sort = "worst"
    reverse: bool = False
    tree: bool = False
    open: Annotated[tuple[_Path, ...], Meta(max_length=20)] = ()
    troubled: Annotated[tuple[_Path, ...], Meta(max_length=20)] = ()
    filter: Annotated[str, Meta(max_length=500)] = ""
    start: _Start = 0
    limit: Annotated[int, Meta(ge=1, le=500)] = 100
    paths: Annotated[tuple[_Path, ...], Meta(max_length=100)] = ()


@record_of(ChildSummary, "total worst")
class BelowSeen(Declared, frozen=True):
    """The dynamic children of a part: their number and their worst state."""


_MARKS = " ".join(f"`{state.short}`: {state.word}." for state in LOOKS.values())


class TreeRow(Struct, frozen=True):
    """One part of the service, one source or one destination. `error` is one line of plain text, or empty."""

    path: str
    name: Annotated[str, Meta(description="The URL of a source or a destination, else empty")]
    kind: Kind
    state: Annotated[PartState, Meta(description=" ".join(f"`{name}`: {state.says}" for name, state in PARTS.items()))]
    health: Annotated[float | None, Meta(description="A source's score from 0 to 1")]
    flag: Flag | None
    restarts: int
    since: Annotated[Time, Meta(description="When it entered its state")]
    error: str
    next: Annotated[Time | None, Meta(description="Its next action: a check, or a restart after a crash")]
    title: Annotated[str, Meta(description="The user's name for a source, else its own title")] = ""
    mailbox: Annotated[int | None, Meta(description="Messages in its mailbox; null without one")] = None
    handled: Annotated[int | None, Meta(description="Messages that it has received so far")] = None
    pace_s: Annotated[float | None, Meta(description="Seconds between a source's checks at its present pace")] = None
    marks: Annotated[str, Meta(description=f"A source's last checks, newest last, one mark each. {_MARKS}")] = ""
    below: Annotated[BelowSeen | None, Meta(description="The children of `sources` and `destinations`")] = None


class TreePage(Struct, frozen=True):
    """Rows from `start` on, of `total` that match the filter; fewer than requested if some have just vanished."""

    total: int
    start: int
    rows: tuple[TreeRow, ...]


@record_of(StateTransition, "at error")
class CrashSeen(Declared, frozen=True):
    """A crash, by the first line of its error."""


@record_of(MailboxStatistics, "depth bound received full")
class MailboxSeen(Declared, frozen=True):
    """A mailbox: `depth` messages of `bound` wait, `received` so far; a sender met it `full` so often."""


class LookSeen(Struct, frozen=True):
    """`looks` checks with the same result, the last at `at`. `bytes`: size of the last body."""

    at: Time
    verdict: str
    looks: int
    status: int | None
    bytes: int
    ms: int


class HealthSeen(Struct, frozen=True):
    """One factor of a score: the share `left` (1: no loss), and the reason."""

    cause: Cause
    left: float
    says: str


@record_of(
    SourceRuntime,
    "id url tags reason health interval_s next_look looks unchanged events last_look_at last_success_at last_event_at "
    "last_status last_error breaker failures retry_at trail held covered",
)
class Watching(Declared, frozen=True):
    """The state of a source's checks."""

    id: str
    url: str
    tags: tuple[str, ...]
    reason: str
    health: tuple[HealthSeen, ...]
    interval_s: float
    next_look: str
    breaker: Literal["closed", "open", "half-open"]
    failures: int
    retry_at: Time | None
    trail: tuple[LookSeen, ...]
    held: HeldEvents
    covered: Annotated[str, Meta(description="The checks of the last 7 days, and the gaps in their record")]


class TreePart(Struct, frozen=True):
    """The details of one part."""

    row: TreeRow
    task: Annotated[str | None, Meta(description="Its state in the supervisor")]
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
    """Sources by health, by state and by state of their actors. `total` includes paused ones."""

    total: int
    ok: int
    degraded: int
    rotten: int
    running: int
    backoff: int
    quarantined: int
    overdue: int
    states: Annotated[dict[SourceStateName, int], Meta(description="How many sources are in each state now")]


class Destinations(Struct, frozen=True):
    """The actors of destinations that are neither paused nor disabled."""

    total: int
    running: int
    backoff: int
    quarantined: int


class Matching(Struct, frozen=True):
    """The matcher's lag: events, and the age of the oldest. `says`: a warning, empty while the lag is short."""

    behind: int
    seconds: float
    says: str = ""


class LookRate(Struct, frozen=True):
    """Checks per second in the last half minute, and the setting `looks_per_second`. `says`: a warning, else empty."""

    per_second: float
    budget: float
    passed_for_s: Annotated[float, Meta(description="How long the rate has exceeded the budget; 0 within it")]
    says: str = ""


class MissingEvents(Struct, frozen=True):
    """The period of the lost events. Checks of feeds and pages report theirs again; frames of WebSockets are lost."""

    after: Time
    until: Time


class Node(Struct, frozen=True):
    """One node of a shared database, at its last beat."""

    name: Annotated[str, Meta(description="Its name and a random part that changes at each start")]
    this: Annotated[bool, Meta(description="Whether it is the answering node")]
    inside: Annotated[bool, Meta(description="Whether it may own sources and destinations")]
    version: str
    url: str
    sources: Annotated[int, Meta(description="Sources that it watches")]
    overdue: int
    streams: int
    role: Annotated[Literal["all", "web"], Meta(description=WORDS["role"])] = "all"
    missing: Annotated[MissingEvents | None, Meta(description=WORDS["missing"])] = None


class Replica(Struct, frozen=True):
    """The progress of the copy for a standby."""

    place: str
    told_at: Annotated[Time | None, Meta(description="It contains all commits up to this time; null before the first")]
    untold: Annotated[int, Meta(description="Bytes of the write-ahead log that it lacks")]
    says: Annotated[str, Meta(description="The obstacle to its progress, else empty")]


class Overview(Struct, frozen=True):
    """The figures of the whole service."""

    at: Time
    started_at: Time
    version: str
    url: Annotated[str, Meta(description="The service's address, as clients see it")]
    local_url: Annotated[str, Meta(description="Its address for programs on its own machine")]
    ready: bool
    draining: Annotated[bool, Meta(description="No checks until `resume`")]
    failing: dict[str, str]
    sources: Sources
    destinations: Destinations
    matching: Matching
    newest_event: Annotated[str | None, Meta(description="The id of the newest event")]
    queues: dict[str, int]
    streams: int
    looks: LookRate
    loop_lag_s: Annotated[float, Meta(description="The delay of the event loop at the last measurement")]
    totals: dict[str, int]
    nodes: Annotated[list[Node], Meta(description="The nodes that share the database; empty with one node")]
    replica: Annotated[Replica | None, Meta(description="The copy for a standby; null without one")] = None


class DeliveriesPageQuery(Struct, frozen=True, forbid_unknown_fields=True):
    """The destinations to return."""

    start: _Start = 0
    limit: Annotated[int, Meta(ge=1, le=100)] = 50


DeliveryState = Literal["active", "failing", "disabled", "paused"]


@record_of(Attempt, "at result status latency_ms error")
class LastAttempt(Declared, frozen=True):
    """The newest attempt of a destination. `error`: one line of plain text."""


@record_of(Destination, "id alert_id label url delivery_mode state failing_since waiting oldest next failure_rate last")
class DeliveryRow(Declared, frozen=True):
    """The state of one destination. waiting: deliveries that wait or are running; oldest: the time of the first."""

    state: DeliveryState
    waiting: int
    oldest: Time | None
    next: Time | None
    failure_rate: Annotated[float, Meta(description="The share of its newest 100 attempts")]
    last: LastAttempt | None


class DeliveriesPage(Struct, frozen=True):
    """Rows from `start` on, of `total`: failing ones first, then those with the most waiting deliveries."""

    total: int
    start: int
    rows: tuple[DeliveryRow, ...]


class LogQuery(Struct, frozen=True, forbid_unknown_fields=True):
    """The log lines to return."""

    actor: Annotated[str, Meta(max_length=200)] = ""
    after: Annotated[int, Meta(ge=0, le=2**53 - 1)] = 0
    limit: Annotated[int, Meta(ge=1, le=500)] = 200


class LogLine(Struct, frozen=True):
    """A line of the log with its number."""

    number: int
    ts: str
    level: str
    event: str
    actor: str
    fields: dict[str, Any]


class LogPage(Struct, frozen=True):
    """The newest lines, oldest first; `last` is the next request's `after`."""

    last: int
    lines: tuple[LogLine, ...]


class Done(Struct, frozen=True):
    """The finished or started action."""

    done: str
    path: str


class SourceSize(HeldEvents, frozen=True, kw_only=True):
    """A source's events in the log. `url` is null for a deleted source and for the service's notices."""

    source_id: str
    url: str | None
    title: Annotated[str, Meta(description="The user's name for it, else its own title")] = ""


class SizesQuery(Struct, frozen=True, forbid_unknown_fields=True):
    """The number of sources to return."""

    limit: Annotated[int, Meta(ge=1, le=100)] = 10


class Sizes(Struct, frozen=True):
    """The size of the storage in bytes, the part that is free for new events, and the largest sources."""

    bytes: int
    free: int
    sources: tuple[SourceSize, ...]


class StreamsQuery(Struct, frozen=True, forbid_unknown_fields=True):
    """The number of streams to return."""

    limit: Annotated[int, Meta(ge=1, le=500)] = 100


@record_of(OpenStream, "number key name prefix address asked since cursor behind_s bytes")
class StreamSeen(Declared, frozen=True):
    """An open stream."""

    key: str
    name: str
    prefix: str
    cursor: str | None
    behind_s: float
    bytes: int


class StreamsSeen(Struct, frozen=True):
    """The streams of this node only, furthest behind first. `node`: its name; "" in a service of one node."""

    total: int
    node: str
    streams: tuple[StreamSeen, ...]


@record_of(ApiKey, "id name prefix scopes rate_per_minute burst created_at last_used_at streams")
class KeySeen(Declared, frozen=True):
    """An API key without its secret. `prefix`: its first characters. `streams`: its open streams at this node."""

    streams: int


class KeysSeen(Struct, frozen=True):
    """All API keys, newest first."""

    keys: tuple[KeySeen, ...]
