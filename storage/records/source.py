"""A watched source: what the user asked for, what was detected, and what the watching remembers.

Three classes of state, by when they are saved (STORAGE rule 5): what belongs to a harvest goes with it in one
transaction (`base`, the validators in `hot`); a breaker that opens goes with the next group commit; counters and times
are swept lazily. Hot and base are separate tables because hot is 450 bytes and base up to 12 KB.
"""

from __future__ import annotations

import re
from typing import Literal, NewType

from msgspec import Struct
from msgspec.structs import replace

from storage.records.event import Draft
from storage.records.health import BreakerState, Health
from storage.records.identity import Millis, Seq, SourceId
from storage.records.managed import Managed
from storage.records.picture import Picture
from storage.records.tag_defaults import Inheritable
from storage.records.tiers import TIERS, SourceType, Tier

Confidence = Literal["high", "medium", "low"]
Follow = Literal["none", "new_links"]
"""Which pages are fetched beside a source's own: those of its new items, once each, or none."""
Render = Literal["never", "auto", "always"]
"""When a browser shows a page before it is read: `auto` for pages that are empty without their scripts."""


_SEAM = "\0"
"""What no header has, between the two secrets of one box."""
PARTS = re.compile(r"\r?\n---\r?\n")
"""A line of its own between the messages of a hello."""
MOST_NOISE = 500
OWN_NAMESPACES = ("source_type", "template", "channel", "kind", "change", "practice")
"""Namespaces of tags that the service itself writes."""


def tag_of(text: str) -> str:
    """Return a tag with its namespace: a bare word is a label.

    >>> tag_of("prices"), tag_of("topic:ai")
    ('label:prices', 'topic:ai')
    """
    return text if ":" in text else f"label:{text}"


RESTS = Millis(600_000)
"""Milliseconds for which a deleted source can be had back."""


class Detection(Struct, frozen=True, gc=False):
    """What the service found a URL to be; `evidence` is a sentence that a person can check.

    forced: the user asked for a type that the body by itself is not; `type` stays that of the body.
    format: "html", the form of a text without elements of HTML, or the kind of feed; "" in records from before it.
    pending: nobody knows yet, since the URL has yet to answer; the rest is a guess.
    asks_password: the body has a field for one. A source with headers of its own is signed out when its body gets one.
    """

    type: SourceType
    confidence: Confidence
    evidence: str
    final_url: str
    content_type: str
    feed_url: str | None = None
    forced: bool = False
    format: str = ""
    pending: bool = False
    asks_password: bool = False

    @property
    def is_sitemap(self) -> bool:
        """Whether it was found to be a sitemap, or an index of them."""
        return self.format == "xml" and self.evidence.startswith("a sitemap")


class Source(Struct, frozen=True, gc=False):
    """What the user asked for. `url` is normalised and unique; `watch_url` is what is really fetched (a found feed)."""

    id: SourceId
    url: str
    watch_url: str
    type: SourceType
    detection: Detection
    created_at: Millis
    updated_at: Millis
    enabled: bool = True
    tags: tuple[str, ...] = ()
    selector: str | None = None
    ignore: tuple[str, ...] = ()
    schedule: int | None = None
    """Seconds between looks that replace the adaptive cadence."""
    hours: str | None = None
    """Days, hours and a zone, outside of which it is looked at only when somebody asks; see `actors/look_hours.py`."""
    backfill: int = 0
    filter: str | None = None
    """A push source's own admission query; "" admits every frame, None only those that match an alert."""
    subprotocols: tuple[str, ...] = ()
    """What a push source's handshake offers, best first."""
    hello: str | None = None
    """What a push source says after each handshake, in messages that `PARTS` separates: one, and one more after each
    answer. It may hold a secret: it is sent, never shown or logged."""

    def __repr__(self) -> str:
        return f"Source({self.id} {self.type} {self.url!r}, {'enabled' if self.enabled else 'disabled'})"

    noise: tuple[str, ...] = ()
    """Keys of a page's blocks that the user has called noise, the newest last; at most `MOST_NOISE`."""
    bar: float | None = None
    """The score from which a page's difference is told; None: the default."""
    practice: int | None = None
    """How often a practice document of the service's own was changed; None: a source like any other."""
    title: str = ""
    """The user's own name for it."""
    found_title: str = ""
    """What the page or the feed calls itself, as its last looks found it."""
    deleted_at: Millis | None = None
    """When it was deleted: it rests for a while, unseen, and can be had back."""
    headers: str | None = None
    """What each look, or handshake, sends beside our own headers, to the origin of `url` only: `Name: value`, one a
    line. It may hold a secret: it is sent, never shown or logged."""
    render: Render = "never"
    """Of a page: whether a browser shows it, see `actors/sources/looks/rendering.py`."""
    wait_for: str | None = None
    """A CSS selector that must be there before a rendered page is read."""

    screenshots: bool = False
    """Whether a picture of a rendered page is kept with each of its changes."""
    follow: Follow = "none"
    """Whether each new item of a list, or entry of a feed, is told with the text of its own page."""
    updated_by: str = ""
    """Who set something last: a key's name, the dashboard, this machine; "" for the service itself."""
    managed: Managed | None = None
    """The files that describe it, if any do."""
    follow_hosts: tuple[str, ...] = ()
    """Other hosts, with what lies below them, whose pages are fetched for that, too; `*` is every host."""

    headers_for: tuple[str, ...] = ()
    """Where its headers are sent for sources that have none of their own; see `actors/sources/lending.py`."""
    replies: tuple[str, ...] = ()
    """Rules by which a push source's pings are answered; see `actors/sources/push/replies.py`."""
    own_only: tuple[Inheritable, ...] = ()
    """The settings of which its own value holds, or none if it has none, whatever its tags say."""

    @property
    def secret(self) -> str | None:
        """What is kept in a box: what looks send; what a push source says, behind what its handshake sends."""
        if self.tier.polled:
            return self.headers
        if self.headers is None and not (self.hello or "").startswith(_SEAM):
            return self.hello
        return f"{_SEAM}{self.headers or ''}{_SEAM}{self.hello or ''}"

    @property
    def without_secret(self) -> Source:
        """The record as it may be written down."""
        return replace(self, hello=None, headers=None)

    def with_secret(self, secret: str) -> Source:
        """Return the record with what lay in its box."""
        if self.tier.polled:
            return replace(self, headers=secret)
        if not secret.startswith(_SEAM):
            return replace(self, hello=secret)
        _, headers, hello = secret.split(_SEAM, 2)
        return replace(self, headers=headers or None, hello=hello or None)

    @property
    def tier(self) -> Tier:
        """What a source of its type is."""
        return TIERS[self.type]

    @property
    def is_web_page(self) -> bool:
        """Whether it is a page that browsers are made for: no feed, JSON or file. Nobody knows before it answers."""
        return self.type == "html" and self.detection.format in ("", "html")

    @property
    def name(self) -> str:
        """Its name for people: the user's own, else its own, else ""."""
        return called(self.title, self.found_title)

    @property
    def called(self) -> str:
        """What people are told that it is: its name, else its address."""
        return called(self.title, self.found_title, self.url)


def called(title: str, found_title: str, address: str = "") -> str:
    """Return what a source is called: by its user, else by itself, else by its address. All faces ask here.

    >>> called("", "Tickets and prices", "https://shop.example/t"), called("", "", "https://shop.example/t")
    ('Tickets and prices', 'https://shop.example/t')
    """
    return title or found_title or address


class Validators(Struct, frozen=True, gc=False):
    """What makes the next request conditional, the hash of the body they belong to, and the URL that gave them.

    lies: they stayed when the body changed, so none are sent any more.
    """

    etag: str | None = None
    last_modified: str | None = None
    body_hash: str | None = None
    url: str | None = None
    lies: bool = False


class SourceRuntime(Struct, frozen=True, gc=False):
    """The small, often changing part of a source's memory."""

    validators: Validators = Validators()
    breaker: BreakerState = BreakerState()
    health: Health = Health()
    interval: float = 300.0
    """Seconds between looks at the present pace, before jitter and hints."""
    looks: int = 0
    unchanged: int = 0
    events: int = 0
    last_look_at: Millis | None = None
    last_success_at: Millis | None = None
    last_event_at: Millis | None = None
    next_look_at: Millis | None = None
    not_before: Millis | None = None
    """A server's order (Retry-After, skipHours) or a closed egress: no look before this."""
    last_status: int | None = None
    last_error: str | None = None
    pace: bytes = b""
    """The cadence model's own compact memory."""
    pulse: bytes = b""
    """The health model's own compact memory of gaps."""
    trail: bytes = b""
    """The last looks in compact form."""
    tally: bytes = b""
    """The looks by hour in compact form, of the days that are not yet put away."""
    scores: bytes = b""
    """The worst score of each of the last 90 days in compact form."""
    rendered: bool = False
    """What is remembered is a page as a browser showed it: only such a page is compared with it."""
    part: bytes = b""
    """A mark of the part of the page that is remembered, if tags have chosen it; see `actors/inheriting.py`."""
    lent: bool = False
    """What is remembered was seen with the headers of another source: only such a page is compared with it."""
    cookies: str = ""
    """What the source's `Cookie` has become since its origin renews it, as `actors/egress/cookies.py` writes it; "" as
    long as nothing was renewed. It is a secret like the headers: sealed, sent, never shown, logged or exported."""
    private: bool = False
    """The last look was made with headers, or led into a network that the operator has opened."""

    def __repr__(self) -> str:
        shown = (name for name in self.__struct_fields__ if name != "cookies")
        return f"SourceRuntime({', '.join(f'{name}={getattr(self, name)!r}' for name in shown)})"

    @property
    def without_secret(self) -> SourceRuntime:
        """The memory as it may be written down."""
        return replace(self, cookies="") if self.cookies else self


Version = NewType("Version", int)
"""Which of a source's stored states this is: 62 random bits, drawn anew by whoever writes a state or the record."""
FIRST = Version(0)


class SourceState(Struct, frozen=True):
    """A source's memory as it is saved. `base` None leaves the stored base as it is; b"" is a base that is empty.

    since: the version of the stored state that this one came from; where that is another, nothing is written. FIRST: of
    one that was never written before, or beside an edit whatever is stored.
    version: the one that is stored from now on.
    """

    source: SourceId
    hot: SourceRuntime
    base: bytes | None = None
    since: Version = FIRST
    version: Version = FIRST


class Harvest(Struct, frozen=True):
    """What one look brought: drafts in reading order (oldest first) and the source's next state, committed together.

    The service's own harvest has the source SERVICE and no state. With a `debtor` it is the notice which this
    destination owes: committed only while it does, and in the same transaction it no longer does. `born`: a source that
    is added with its first state, in the same transaction. `follows`: of a heartbeat, the position of the one before (0
    for none): committed only while that is the newest. `picture`: of the page, kept with the event that
    tells its change; without such an event as that of the first look.
    """

    source: SourceId
    drafts: tuple[Draft, ...]
    state: SourceState | None
    debtor: str | None = None
    born: Source | None = None
    follows: Seq | None = None
    picture: Picture | None = None

    def pays(self, owed: str | None) -> bool:
        """Whether this is the notice that is owed."""
        return owed is not None and all(draft.alert_type == owed for draft in self.drafts)


class WatchedSource(Struct, frozen=True):
    """A source with its saved memory, as read at start."""

    source: Source
    hot: SourceRuntime
    base: bytes
    version: Version = FIRST
