"""A StreamEvent: the draft from a source, the signed and stored wire form, and the stored row.

The wire form has no floats and only integers within 2^53, so its sorted compact JSON *is* its RFC 8785 form (a property
test compares it with the rfc8785 library). The stored bytes are the sent bytes; no code re-encodes an event after its
commit.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, Literal, NamedTuple

from msgspec import UNSET, Struct, UnsetType, field

from storage.records.body import tags_in
from storage.records.identity import Millis, Seq, SourceId
from storage.records.tiers import TIERS, Kind, SourceType
from storage.records.value import TypedChange

NEW, UPDATED, REVERTED = "change:new", "change:updated", "change:reverted"
"""Tags for how an event came about. Every event of a push source is new."""
RESET = "change:reset"
"""The tag of a held entry: it is in the log, but no alert matches it. A source's content cannot set this tag."""
CONTENT_CAP = 64 * 1024
"""Most bytes of UTF-8 in `content`."""


MOST_CONTEXT = 120
"""Most characters of a heading, a label or a head in a `Context`."""
MOST_SUMMARY = 140
"""Most characters of `summary`."""
Span = tuple[int, int]
"""Code points from the first (inclusive) to the second (exclusive)."""


class Context(Struct, frozen=True, omit_defaults=True):
    """Where a block stands: below which heading, in which row and column of a table. What is not known is absent."""

    heading: str = ""
    row: str = ""
    column: str = ""


class Spans(Struct, frozen=True):
    """The words that differ, in each of the two texts: rising, apart from each other."""

    before: tuple[Span, ...]
    after: tuple[Span, ...]


class Change(Struct, frozen=True):
    """One block whose text was altered. `spans` is absent where the two texts have too little in common."""

    before: str
    after: str
    context: Context | UnsetType = UNSET
    spans: Spans | UnsetType = UNSET


class Contexts(Struct, frozen=True):
    """One context for each text of `added` and `removed`, in their order; `{}` where nothing is known."""

    added: tuple[Context, ...]
    removed: tuple[Context, ...]


class Diff(Struct, frozen=True):
    """What a reader wants to see of a page's change. `context` is absent where nothing is known of any text."""

    added: tuple[str, ...]
    removed: tuple[str, ...]
    changed: tuple[Change, ...]
    truncated: bool = False
    context: Contexts | UnsetType = UNSET


class Op(Struct, frozen=True, omit_defaults=True):
    """One step from the old text to the new; `para` counts old paragraphs for delete, new ones else, from 0.

    `context` is where the text stands that it names, for "replace" the new one.
    """

    op: Literal["insert", "delete", "replace"]
    para: int
    text: str | UnsetType = UNSET
    before: str | UnsetType = UNSET
    after: str | UnsetType = UNSET
    context: Context | UnsetType = UNSET


class DeltaStats(Struct, frozen=True):
    """Paragraph counts of a delta."""

    added: int
    removed: int
    changed: int
    unchanged: int


class Delta(Struct, frozen=True):
    """A change in reading order, from which the new text can be rebuilt from the old."""

    ops: tuple[Op, ...]
    stats: DeltaStats
    truncated: bool = False
    v: Literal[1] = 1
    granularity: Literal["paragraph"] = "paragraph"


HEARTBEAT: Final = "heartbeat"


class Heartbeat(Struct, frozen=True):
    """What a heartbeat says: that the service did its work at that moment, and had the log up to there.

    number: of the heartbeats in this log, from 1. due_at: when it was due by the service's clock. before: the id of the
    heartbeat before it. head: of the newest event before it, of whatever kind. looks: that ended since `looks_since`,
    when the process that writes this wrote the one before, or began. watched, failing, paused: sources.
    """

    number: int
    every_seconds: int
    due_at: str
    before: str | None
    head: str | None
    running_since: str
    looks: int
    looks_since: str
    watched: int
    failing: int
    paused: int


class Draft(Struct, frozen=True):
    """A change found by a source tier, before the recorder adds id, times and signature.

    `content` is NFC text, already capped; `content_hash` covers the uncut text. `url` is the content's URL, which may
    differ from the source's. Without a `summary` the recorder uses the title or the start of the content.
    """

    source_type: SourceType
    source_url: str
    url: str
    title: str
    author: str
    content: str
    content_truncated: bool
    content_hash: str
    simhash: int
    tags: tuple[str, ...]
    published_at: Millis | None
    fetched_at: Millis
    diff: Diff | None = None
    delta: Delta | None = None
    alert_type: str | None = None
    practice: bool = False
    summary: str = ""
    changes: tuple[TypedChange, ...] = ()
    unread: str = ""
    """Why a linked page was not read although the source follows links; `content` is then the list's own text."""
    heartbeat: Heartbeat | None = None
    story: str = ""
    """The id of the story's first event; "" if this event starts one."""


class Event(Struct, frozen=True, kw_only=True):
    """The wire form of an event: every field of the contract, in the order that people read them."""

    schema: str = field(name="$schema")
    id: str
    source_id: str
    source_type: SourceType
    source_url: str
    url: str
    title: str
    summary: str | UnsetType = UNSET
    """Absent in events older than this field."""
    author: str
    content: str
    content_truncated: bool | UnsetType = UNSET
    content_hash: str
    simhash: int
    tags: tuple[str, ...]
    published_at: str | None
    fetched_at: str
    emitted_at: str
    schema_version: int
    diff: Diff | UnsetType = UNSET
    delta: Delta | UnsetType = UNSET
    changes: tuple[TypedChange, ...] | UnsetType = UNSET
    """Typed changes with their values; absent if there are none, as in events older than this field."""
    unread: str | UnsetType = UNSET
    """Why the item's own page was not read, in a sentence; `content` is then the text in the list or feed."""
    alert_type: str | UnsetType = UNSET
    heartbeat: Heartbeat | UnsetType = UNSET
    """Only in heartbeats."""
    story: str | UnsetType = UNSET
    """The id of the story's first event, which may be this one. Absent before version 1.5."""
    signed_at: str | UnsetType = UNSET
    key_id: str | UnsetType = UNSET
    signature: str | UnsetType = UNSET


def kind_of(draft: Draft) -> int:
    """Return the draft's kind in the log: heartbeat, notice, practice or held, else that of its tier."""
    if draft.heartbeat is not None:
        return Kind.HEARTBEAT
    if draft.alert_type is not None:
        return Kind.NOTICE
    if draft.practice:
        return Kind.PRACTICE
    return Kind.HELD if RESET in draft.tags else TIERS[draft.source_type].kinds[0]


class Stored(NamedTuple):
    """An event as stored in the log. `body` is the exact signed wire JSON."""

    seq: Seq
    source: SourceId
    kind: int
    body: bytes

    @property
    def tags(self) -> tuple[str, ...]:
        """The event's tags, decoded from its body on access. Raises msgspec.DecodeError if the body is damaged."""
        return tags_in(self.body)


def check_adopted(events: Sequence[Stored], floor: Seq, last: Seq, newest: Seq) -> None:
    """Raise ValueError unless another log's events can follow this log's, with their floor below them.

    last: the newest position assigned here. newest: that of the newest stored event, 0 if there is none.
    """
    if newest and newest <= floor:
        raise ValueError(f"{newest} is here, at or below the floor {floor}")
    at = max(floor, last)
    for event in events:
        if event.seq <= at:
            raise ValueError(f"position {event.seq} after {at}: positions must rise")
        at = event.seq
