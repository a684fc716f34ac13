"""Wire shapes of the check trail, of coverage, and of why an event was emitted or a text was not."""

from __future__ import annotations

from typing import Annotated, Literal

from msgspec import Meta, Struct

from actors.messages.declaring import Time
from api.cursors import Cursor
from storage.records.tiers import SourceType


class Looks(Struct, frozen=True, kw_only=True):
    """Consecutive checks with the same result. `bytes` (received) and `ms` are those of the last one.

    `verdict`: unchanged, changed (an event), nothing_to_tell (the body changed, but no watched content), or the kind
    of failure: remote_transient, throttled, remote_permanent, content, local.
    """

    first_at: Time
    last_at: Time
    looks: int
    status: int | None
    bytes: int
    ms: int
    verdict: str


class LookPart(Struct, frozen=True, kw_only=True):
    """A block of a page or an entry of a feed, with the `rule` that reported or withheld it.

    `came`: added, else removed. `told`: reported, else withheld. `text`: its beginning. `key`: the block's key or the
    entry's identity. `score`: the weight of a block.
    """

    text: str
    rule: str
    key: str
    came: bool
    told: bool
    score: float


class LookNote(Struct, frozen=True, kw_only=True):
    """A check whose body changed. `compared_with`: the time of the earlier check that it was compared with.

    `verdict`: told (reported), baseline (the first check), churn (nothing to report), held (uncertain until the next
    check, or most of a feed new at once), failed (not the page itself), stretch (a period of listening to a push
    source, up to `until`). A page is reported if `score` reaches the threshold `bar`. `counts`: entries or frames.
    """

    at: Time
    verdict: Literal["told", "baseline", "churn", "held", "failed", "stretch"]
    reason: str
    compared_with: Time | None
    score: float | None
    bar: float | None
    withheld: tuple[LookPart, ...]
    told: tuple[LookPart, ...]
    counts: dict[str, int]
    until: Time | None


class LastValidators(Struct, frozen=True, kw_only=True):
    """Validators of the last answer, for the next conditional request, and the hash of its body."""

    etag: str | None
    last_modified: str | None
    body_hash: str | None


class LooksQuery(Struct, frozen=True, forbid_unknown_fields=True):
    """The part of the trail to return."""

    limit: Annotated[int, Meta(ge=1, le=200, description="Most rows of a page", examples=[50])] = 200
    cursor: Cursor | None = None


class LookTrail(Struct, frozen=True, kw_only=True):
    """The last 200 checks of a source, and notes on those with a changed body (at most 40); newest first."""

    id: str
    looks: tuple[Looks, ...]
    notes: tuple[LookNote, ...]
    validators: LastValidators


MOST_NAMES = 20


class AlertsMatched(Struct, frozen=True, kw_only=True):
    """The active alerts whose present queries match an event; `names` has at most 20, for keys with `alerts:read`."""

    count: int
    names: tuple[str, ...]


class EventWhy(Struct, frozen=True, kw_only=True):
    """Why an event was emitted: `says` has the reason in a sentence or two, the other fields have the evidence.

    `noted`: the note of its check is still stored; without it `score`, `bar`, `identity`, `weighed` and `withheld`
    are empty. `compared_with`: the time of the earlier state; null if no longer known.
    `alerts_once`: matching alerts that already had the story from another event.
    """

    id: str
    source_id: str
    source_type: SourceType
    kind: Literal["page", "new_item", "new_entry", "edited_entry", "frame", "notice"]
    says: str
    noted: bool
    compared_with: Time | None
    compared_with_event: str | None
    score: float | None
    bar: float | None
    identity: str | None
    weighed: tuple[LookPart, ...]
    withheld: tuple[LookPart, ...]
    alerts: AlertsMatched
    alerts_once: AlertsMatched


FeedbackVerdict = Literal["real", "noise"]


class WhyQuery(Struct, frozen=True, forbid_unknown_fields=True):
    """The expected text; without it, the last checks are explained. `look`: check now too, if politeness allows."""

    text: Annotated[str, Meta(max_length=1000, description="Text of the expected event", examples=["Day ticket"])] = ""
    look: Annotated[bool, Meta(description="Also check again now", examples=[False])] = False


class KnownReason(Struct, frozen=True, kw_only=True):
    """One known fact, as a sentence.

    `kind`: told (reported), withheld (seen, not reported), due (present; the next check decides), failed (not readable
    now), known (present before), furniture, outside (of the watched part), there (at the first check), absent, unasked
    (a frame that no alert or filter wants), look (the result of a check). `text`: its block or entry.
    """

    kind: Literal[
        "told", "withheld", "due", "failed", "known", "furniture", "outside", "there", "absent", "unasked", "look"
    ]
    says: str
    at: Time | None
    event_id: str | None
    text: str


class SourceWhy(Struct, frozen=True, kw_only=True):
    """Why a text was not reported. `says`: the best reason and the state of the source. `reasons`: all known facts."""

    id: str
    url: str
    title: Annotated[str, Meta(description="The user's name for it, else its own title")]
    type: SourceType
    says: str
    state: str
    reasons: tuple[KnownReason, ...]


class Feedback(Struct, frozen=True, forbid_unknown_fields=True):
    """A user's verdict on an event."""

    verdict: FeedbackVerdict


class Lesson(Struct, frozen=True, kw_only=True):
    """The effect of the feedback; `noise_count` as in the source's record."""

    event_id: str
    source_id: str
    verdict: FeedbackVerdict
    noise_count: int
    says: str


Moment = Annotated[
    str,
    Meta(
        max_length=100,
        description="RFC 3339 time with an offset",
        examples=["2026-04-15T00:00:00Z"],
        extra_json_schema={"format": "date-time"},
    ),
]


class CoverageQuery(Struct, frozen=True, forbid_unknown_fields=True, rename={"start": "from", "end": "to"}):
    """The period, by default the last 7 days. It is widened to whole hours and ends now at the latest."""

    start: Moment | None = None
    end: Moment | None = None
