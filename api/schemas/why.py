"""Wire shapes of the check trail, of coverage, and of why an event was emitted or a text was not."""

from __future__ import annotations

from typing import Annotated, Literal

from msgspec import Meta, Struct

from api.schemas.sources import Cursor, Time
from storage.records.tiers import SourceType


class Looks(Struct, frozen=True, kw_only=True):
    """Looks that went alike, from the first to the last of them; `bytes` (on the wire) and `ms` are of the last.

    `verdict`: unchanged, changed (something was told), nothing_to_tell (the body changed, but not what matters), or
    why it failed: remote_transient, throttled, remote_permanent, content, local.
    """

    first_at: Time
    last_at: Time
    looks: int
    status: int | None
    bytes: int
    ms: int
    verdict: str


class LookPart(Struct, frozen=True, kw_only=True):
    """A block of a page or an entry of a feed: whether it came or went, whether it was told, and by which rule.

    `text` is its beginning; `key` the block's key or the entry's identity; `score` what a block weighed.
    """

    text: str
    rule: str
    key: str
    came: bool
    told: bool
    score: float


class LookNote(Struct, frozen=True, kw_only=True):
    """A look whose body changed, in words. `compared_with`: the look that it was compared with.

    `verdict`: told, baseline (the first look), churn (nothing in it was news), held (a doubt that the next look
    settles, or most of a feed new at once), failed (not the page itself), stretch (a time of listening to a push
    source, up to `until`). A page is told when `score` reaches `bar`. `counts` are numbers of entries or frames.
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
    """What makes the next request conditional, as the last answer gave it, and the hash of its body."""

    etag: str | None
    last_modified: str | None
    body_hash: str | None


class LooksQuery(Struct, frozen=True, forbid_unknown_fields=True):
    """The part of the trail to return."""

    limit: Annotated[int, Meta(ge=1, le=200, description="Most rows of a page", examples=[50])] = 200
    cursor: Cursor | None = None


class LookTrail(Struct, frozen=True, kw_only=True):
    """The last 200 looks at a source, and notes of those whose body changed (the newest 40 at most); newest first."""

    id: str
    looks: tuple[Looks, ...]
    notes: tuple[LookNote, ...]
    validators: LastValidators


MOST_NAMES = 20


class AlertsMatched(Struct, frozen=True, kw_only=True):
    """The active alerts that match an event as they are now; at most 20 are named, to a key with `alerts:read`."""

    count: int
    names: tuple[str, ...]


class EventWhy(Struct, frozen=True, kw_only=True):
    """Why an event was emitted: `says` is it in a sentence or two, the rest is what that was made of.

    `noted`: the note of its look is still kept; without it `score`, `bar`, `identity`, `weighed` and `withheld` are
    empty. `compared_with`: when the state was seen that the look was compared with; null when it is no longer known.
    `alerts_once`: the alerts that match it, and had its story from another event.
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

    text: Annotated[str, Meta(max_length=1000, description="What was expected to be told", examples=["Day ticket"])] = (
        ""
    )
    look: Annotated[bool, Meta(description="Also look again now", examples=[False])] = False


class KnownReason(Struct, frozen=True, kw_only=True):
    """One thing that is known, as a sentence.

    `kind`: told, withheld (seen and not told), due (there now, and the next look weighs it), failed (it could not be
    read now), known (there now, and no news), furniture, outside (of what is watched), there (at the first look),
    absent, unasked (a frame that nobody asked for), look (how one went). `text`: the block or entry it is about.
    """

    kind: Literal[
        "told", "withheld", "due", "failed", "known", "furniture", "outside", "there", "absent", "unasked", "look"
    ]
    says: str
    at: Time | None
    event_id: str | None
    text: str


class SourceWhy(Struct, frozen=True, kw_only=True):
    """Why something was not told: the best reason and how the watching stands, in `says`; then all that is known."""

    id: str
    url: str
    title: Annotated[str, Meta(description="What it is called, by its user or else by itself")]
    type: SourceType
    says: str
    state: str
    reasons: tuple[KnownReason, ...]


class Feedback(Struct, frozen=True, forbid_unknown_fields=True):
    """What a user says of an event."""

    verdict: FeedbackVerdict


class Lesson(Struct, frozen=True, kw_only=True):
    """What was learned; `noise_count` as in the source's record."""

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
    """The period, by default the last 7 days. It is widened to whole hours, and ends now at the latest."""

    start: Moment | None = None
    end: Moment | None = None
