"""A StreamEvent: the draft, the wire form, its values, its picture, and positions in the log.

The wire form has no floats and only integers within 2^53, so its sorted compact JSON *is* its RFC 8785 form (a property
test compares it with the rfc8785 library). The stored bytes are the sent, signed bytes, and the only source of truth; a
column repeats a field only if SQL filters on it.

A number is an integer with a scale: 1,099.00 EUR is number 109900, scale 2, unit "EUR". A picture must be a whole PNG,
JPEG or WebP by its own header: a compromised browser may return any bytes.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from decimal import Decimal
from typing import Final, Literal, NamedTuple, get_args

import msgspec
from msgspec import UNSET, Struct, UnsetType, field

from storage.records.identity import Millis, Seq, SourceId, seq_of
from storage.records.tiers import TIERS, Kind, SourceType


class _Names(Struct, gc=False):
    """The fields of an event that are read alone, and the events of a digest."""

    id: str = ""
    tags: tuple[str, ...] = ()
    story: str = ""
    events: list[_Names] = []


_decode = msgspec.json.Decoder(_Names).decode


def id_in(body: bytes) -> str:
    """Return an event's id. Raises msgspec.DecodeError or UnicodeDecodeError if the body is not an event's JSON.

    >>> id_in(b'{"content":"...","id":"x","tags":["topic:a"]}')
    'x'
    """
    return _decode(body).id


def story_in(body: bytes, seq: Seq) -> Seq:
    """Return the position of the first event of the story; `seq` (the event's position) if the body names no story."""
    story = _decode(body).story
    return seq_of(story) if story else seq


def first_seq_in(body: bytes, seq: Seq) -> Seq:
    """Return the position of a body's first event; `seq` if none is readable."""
    try:
        return seq_of(_decode(body).events[0].id)
    except (msgspec.MsgspecError, ValueError, IndexError):
        return seq


def tags_in(body: bytes) -> tuple[str, ...]:
    """Return an event's tags. Raises msgspec.DecodeError or UnicodeDecodeError if the body is not an event's JSON.

    >>> tags_in(b'{"content":"...","id":"x","tags":["topic:a"]}')
    ('topic:a',)
    """
    return _decode(body).tags


ValueType = Literal["money", "number", "percent", "date", "time", "version", "availability"]
Availability = Literal["in_stock", "limited", "preorder", "backorder", "out_of_stock", "discontinued"]
ChangeKind = Literal[
    "price", "availability", "date", "number", "version", "name", "negation", "added", "removed", "text"
]
CHANGE_KINDS: tuple[ChangeKind, ...] = get_args(ChangeKind)
AVAILABILITIES: tuple[Availability, ...] = get_args(Availability)

_CURRENCY, _NO_CENTS = re.compile("[A-Z]{3}"), re.compile(r"\.0+$")
SIGNS: Final = {"EUR": "€", "GBP": "£", "USD": "$"}
MOST_CHANGES = 20  # most typed changes of an event; the first ones are kept
MOST_VALUE_TEXT = 80  # most characters of a value's text or a label
MOST_STANDING = 500  # most current values of a page: prices first, then in page order
MOST_SCALE = 9
LARGEST = 2**53 - 1  # the largest integer that JavaScript reads exactly (RFC 8259, 6)


class Value(Struct, frozen=True, omit_defaults=True):
    """A value as written (`text`), and its type; plain text has none.

    money, number and percent have `number` and `scale` (decimal places); `unit` is the currency (ISO 4217), "%", or a
    unit of measure ("GB"), absent where none is known. date: `value` is YYYY-MM-DD, YYYY-MM or MM-DD; time: HH:MM;
    version: its numbers with dots; availability: one of `AVAILABILITIES`.
    """

    text: str
    type: ValueType | UnsetType = UNSET
    number: int | UnsetType = UNSET
    scale: int = 0
    unit: str = ""
    value: str = ""

    def same_as(self, other: Value) -> bool:
        return self.type == other.type and self.meaning() == other.meaning()

    @property
    def digits(self) -> str:
        """The digits of a number, else the date, version or state.

        >>> Value("1.099,00 €", "money", 109900, 2, "EUR").digits, Value("1. Mai", "date", value="05-01").digits
        ('1099.00', '05-01')
        """
        return f"{Decimal(self.number).scaleb(-self.scale):f}" if isinstance(self.number, int) else self.value

    def meaning(self) -> tuple[int | str, ...]:
        """Return the value without its notation: 5 and 5.00 are the same number."""
        if isinstance(self.number, int):
            number, scale = self.number, self.scale
            while scale and not number % 10:
                number, scale = number // 10, scale - 1
            return number, scale, self.unit
        return (self.value or self.text,)


def with_unit(digits: str, unit: str, mark: str = ".") -> str:
    """Return an amount with its unit, a price without empty decimals. mark: of decimals;
    languages with another than a point write the sign after the amount.

    >>> with_unit("349.00", "GBP"), with_unit("349.00", "GBP", ","), with_unit("12.5", "EUR", ","), with_unit("2.0", "")
    ('£349', '349 £', '12,5 €', '2.0')
    """
    written = (_NO_CENTS.sub("", digits) if _CURRENCY.fullmatch(unit) else digits).replace(".", mark)
    sign = SIGNS.get(unit, unit)
    return f"{sign}{written}" if unit in SIGNS and mark == "." else f"{written} {sign}".rstrip()


class TypedChange(Struct, frozen=True, omit_defaults=True):
    """One thing that changed. `before` or `after` is absent where it came, or went.

    label: the value's name ("Team · Seats") in the page's own words. path: its place in a document that has
    paths. lowest_since, highest_since: of a price, from when on it was never lower, or higher, as far as is known
    (RFC 3339).
    """

    kind: ChangeKind
    label: str = ""
    path: str = ""
    before: Value | UnsetType = UNSET
    after: Value | UnsetType = UNSET
    lowest_since: str | UnsetType = UNSET
    highest_since: str | UnsetType = UNSET


class StandingValue(Struct, frozen=True, array_like=True):
    """A value of a page at its last report. block: the number of its text. label, path: as in a change's event."""

    value: Value
    block: int
    label: str = ""
    path: str = ""


class StandingValues(Struct, frozen=True, array_like=True):
    """At most `MOST_STANDING`; more: others. began: milliseconds of the first check of this baseline, 0 unknown."""

    values: tuple[StandingValue, ...] = ()
    more: int = 0
    began: int = 0


NEW, UPDATED, REVERTED = "change:new", "change:updated", "change:reverted"
"""Tags for how an event came about. Every event of a push source is new."""
RESET = "change:reset"
"""The tag of a held entry: it is in the log, but no alert matches it. A source's content cannot set this tag."""
CONTENT_CAP = 64 * 1024  # most bytes of UTF-8 in `content`


MOST_CONTEXT = 120  # most characters of a heading, a label or a head in a `Context`
MOST_SUMMARY = 140  # most characters of `summary`
Span = tuple[int, int]  # code points from the first (inclusive) to the second (exclusive)


class Context(Struct, frozen=True, omit_defaults=True):
    """Where a block stands: its heading, and its row and column in a table. Unknown parts are absent."""

    heading: str = ""
    row: str = ""
    column: str = ""

    def __str__(self) -> str:
        """
        >>> str(Context("Plans", "Team", "Seats")), str(Context(row="Team")), str(Context())
        ('Plans › Team · Seats', 'Team', '')
        """
        return " › ".join(filter(None, (self.heading, " · ".join(filter(None, (self.row, self.column))))))


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
    """A page's change for readers. `context` is absent where nothing is known of any text."""

    added: tuple[str, ...]
    removed: tuple[str, ...]
    changed: tuple[Change, ...]
    truncated: bool = False
    context: Contexts | UnsetType = UNSET

    def singles(self) -> Iterator[tuple[bool, str, Context]]:
        """Yield the added texts, then the removed ones: whether it came, the text, its place."""
        places = self.context or Contexts((), ())
        for came, texts, contexts in ((True, self.added, places.added), (False, self.removed, places.removed)):
            yield from ((came, text, contexts[i] if i < len(contexts) else Context()) for i, text in enumerate(texts))


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
    """A change in reading order; it rebuilds the new text from the old."""

    ops: tuple[Op, ...]
    stats: DeltaStats
    truncated: bool = False
    v: Literal[1] = 1
    granularity: Literal["paragraph"] = "paragraph"


HEARTBEAT: Final = "heartbeat"


class Heartbeat(Struct, frozen=True):
    """The fields of a heartbeat: that the service did its work at that moment, and had the log up to there.

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
    """A change found by a source tier, before the recorder adds id, times and signature. `content` is NFC text, already
    capped; `content_hash` covers the uncut text. `url` is the content's URL, which may differ from the source's.
    Without a `summary` the recorder uses the title or the start of the content.
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
    story: str | UnsetType = UNSET
    """The id of the story's first event, which may be this one. Absent before version 1.5."""
    signed_at: str | UnsetType = UNSET
    key_id: str | UnsetType = UNSET
    signature: str | UnsetType = UNSET


def kind_of(draft: Draft) -> int:
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
    """Raise ValueError unless another log's events may follow. last: newest position assigned; newest: stored, or 0."""
    if newest and newest <= floor:
        raise ValueError(f"{newest} is here, at or below the floor {floor}")
    at = max(floor, last)
    for event in events:
        if event.seq <= at:
            raise ValueError(f"position {event.seq} after {at}: positions must rise")
        at = event.seq


MATCHED = "matcher"  # the matcher's durable cursor: the outbox has the matches of all events up to it


class Filter(Struct, frozen=True):
    """A reader's filter. The values of a field are alternatives; all fields must match. An empty tuple matches all.
    `sources` are source ids, `source_prefixes` prefixes of ids; the two count as one field. `tags` match whole tags.
    `kinds` are `Kind` numbers. An event whose kind is in `also` always passes.
    """

    sources: tuple[str, ...] = ()
    source_prefixes: tuple[str, ...] = ()
    kinds: tuple[int, ...] = ()
    tags: tuple[str, ...] = ()
    also: tuple[int, ...] = ()

    def admits(self, event: Stored) -> bool:
        """Return whether a stored event passes. The in-memory ring and every engine use this definition."""
        if event.kind in self.also:
            return True
        if self.kinds and event.kind not in self.kinds:
            return False
        if (self.sources or self.source_prefixes) and not (
            event.source in self.sources or event.source.startswith(self.source_prefixes)
        ):
            return False
        return not self.tags or any(tag in self.tags for tag in event.tags)


EVERYTHING = Filter()


class Page(NamedTuple):
    """The result of a read. Continue from `scanned`, which advances even if no event passed the filter. `head` is the
    newest position, as in `Bounds`; a forward read that reached the end has scanned up to it. `floor` is as in
    `Bounds`, taken after the read; if it is at or below the position where the read began, no event is missing.
    """

    events: Sequence[Stored]
    scanned: Seq
    head: Seq
    floor: Seq


class SourceSize(NamedTuple):
    """A source's share of the log. bytes: approximate."""

    events: int
    bytes: int


class Bounds(NamedTuple):
    """The log's ends. `floor`: retention has deleted every event at or below it (0: none). `oldest`: the oldest stored
    event (0: none). `newest`: the newest position that any reader may have seen, whether or not its event is still
    stored.
    """

    floor: Seq
    oldest: Seq
    newest: Seq


Media = Literal["image/png", "image/jpeg", "image/webp"]
Side = Literal["before", "after"]

LARGEST_PICTURE: Final = 2 << 20
MOST_PIXELS: Final = 16_384  # most pixels of each side
_PNG, _PNG_END = b"\x89PNG\r\n\x1a\n", b"IEND\xaeB`\x82"
_FRAMES: Final = frozenset({0xC0, 0xC1, 0xC2})  # JPEG markers with the image size: baseline, extended, progressive


class Picture(Struct, frozen=True):
    """A screenshot of a page. at: when it was taken."""

    media: Media
    body: bytes
    at: Millis

    def __repr__(self) -> str:
        return f"Picture({self.media}, {len(self.body)} bytes)"


class KeptPicture(Struct, frozen=True):
    """A picture without its bytes. seq: the event it belongs to; 0 for the picture of the first check."""

    seq: Seq
    at: Millis
    media: Media
    size: int


def picture_of(body: bytes, at: Millis) -> Picture | None:
    """Validate bytes as a picture; None if they are none, incomplete or too large.

    >>> picture_of(b"<svg onload=alert(1)>", Millis(0)) is None
    True
    """
    found = described(body) if len(body) <= LARGEST_PICTURE else None
    return None if found is None else Picture(found[0], body, at)


def described(body: bytes) -> tuple[Media, int, int] | None:
    """Return an image's media type, width and height in pixels; None if it is none or too large."""
    for media, size_of in _SIZES.items():
        size = size_of(body)
        if size is not None and all(0 < side <= MOST_PIXELS for side in size):
            return media, *size
    return None


def _size_of_png(body: bytes) -> tuple[int, int] | None:
    if len(body) < 45 or not body.startswith(_PNG) or body[8:16] != b"\0\0\0\rIHDR" or not body.endswith(_PNG_END):
        return None
    return int.from_bytes(body[16:20]), int.from_bytes(body[20:24])


def _size_of_webp(body: bytes) -> tuple[int, int] | None:
    if len(body) < 30 or body[:4] != b"RIFF" or body[8:12] != b"WEBP":
        return None
    if int.from_bytes(body[4:8], "little") + 8 not in (len(body), len(body) + 1):
        return None
    kind, data = body[12:16], body[20:30]
    if kind == b"VP8X":
        return int.from_bytes(data[4:7], "little") + 1, int.from_bytes(data[7:10], "little") + 1
    if kind == b"VP8 " and data[3:6] == b"\x9d\x01\x2a":
        return int.from_bytes(data[6:8], "little") & 0x3FFF, int.from_bytes(data[8:10], "little") & 0x3FFF
    if kind == b"VP8L" and data[:1] == b"\x2f":
        bits = int.from_bytes(data[1:5], "little")
        return (bits & 0x3FFF) + 1, (bits >> 14 & 0x3FFF) + 1
    return None


def _size_of_jpeg(body: bytes) -> tuple[int, int] | None:
    if not body.startswith(b"\xff\xd8\xff") or not body.endswith(b"\xff\xd9"):
        return None
    at = 2
    while at + 9 <= len(body) and body[at] == 0xFF:
        if body[at + 1] in _FRAMES:
            return int.from_bytes(body[at + 7 : at + 9]), int.from_bytes(body[at + 5 : at + 7])
        at += 2 + max(2, int.from_bytes(body[at + 2 : at + 4]))
    return None


_SIZES: Final[dict[Media, Callable[[bytes], tuple[int, int] | None]]] = {
    "image/png": _size_of_png, "image/webp": _size_of_webp, "image/jpeg": _size_of_jpeg,
}  # fmt: skip
