"""Wire shapes of the admin API. Rows are flat, and every field is always there."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from msgspec import Meta, Struct

from actors.overseer.rows import Kind, Sort, Word
from api.v1.schemas import Time
from storage.records.health import Flag


class TreeQuery(Struct, frozen=True, forbid_unknown_fields=True):
    """Which rows, and in which order."""

    sort: Annotated[Sort, Meta(description="worst: by state, then health; next: who does something next")] = "worst"
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


class TreeRow(Struct, frozen=True):
    """One part of the service, one source or one destination. `error` is one line of plain text, or empty."""

    path: str
    name: Annotated[str, Meta(description="The URL of a source or a destination, else empty")]
    kind: Kind
    state: Annotated[
        Word,
        Meta(
            description="ok; paused: waits on purpose; retrying: its peer fails; open: its breaker is; the others are "
            "the supervisor's"
        ),
    ]
    health: Annotated[float | None, Meta(description="A source's score from 0 to 1")]
    flag: Flag | None
    restarts: int
    since: Annotated[Time, Meta(description="When it came into its state")]
    error: str
    next: Annotated[Time | None, Meta(description="When it does something by itself: a look, or a life after a crash")]


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
    """`looks` looks that went alike, the last of them at `at`."""

    at: Time
    verdict: str
    looks: int
    status: int | None
    ms: int


class Watching(Struct, frozen=True):
    """How the watching of a source goes. `trail`: its last looks, newest first."""

    id: str
    url: str
    tags: tuple[str, ...]
    reason: str
    interval_s: float
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


class Sources(Struct, frozen=True):
    """Sources by health, and what their actors do. `total` counts disabled ones too."""

    total: int
    ok: int
    degraded: int
    rotten: int
    running: int
    backoff: int
    quarantined: int
    overdue: int


class Destinations(Struct, frozen=True):
    """The actors of enabled destinations."""

    total: int
    running: int
    backoff: int
    quarantined: int


class Overview(Struct, frozen=True):
    """The figures of the whole. `failing`: part to sentence, empty when all is well.

    queues: messages that wait in the mailboxes of the fixed parts. totals: counted since `started_at`; two answers give
    a rate.
    """

    at: Time
    started_at: Time
    version: str
    ready: bool
    draining: Annotated[bool, Meta(description="Looks are not made until `resume`")]
    failing: dict[str, str]
    sources: Sources
    destinations: Destinations
    newest_event: Annotated[str | None, Meta(description="The id of the newest event")]
    queues: dict[str, int]
    streams: int
    loop_lag_s: Annotated[float, Meta(description="How late the loop came to its work at the last measurement")]
    totals: dict[str, int]


class LogQuery(Struct, frozen=True, forbid_unknown_fields=True):
    """Which log lines."""

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
