"""A watched source: its settings, detected type, memory and state; and the defaults of tags.

State is saved in three ways: a harvest's state in the harvest's transaction (`base`, the validators in `hot`); an
opened breaker with the next group commit; counters and times in lazy sweeps. Hot and base are separate tables because
hot is 450 bytes and base up to 12 KB.

Several writers store a source's cookies without waiting for each other: its own checks, checks of sources that borrow
its headers, edits, other nodes. So each text carries its age, and only a younger one may overwrite another.

`State` shows how the last check went and whether checks happen; health is a score over days, which a single failed
check does not lower. `states.toml` has their names for dashboard, console, commands and `docs/states.md`.
"""

from __future__ import annotations

import re
import struct
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from importlib.resources import files
from typing import Any, Final, Literal, NamedTuple, NewType, TypeAlias, get_args

from msgspec import Struct, toml
from msgspec.structs import replace

from storage.records.checks import Verdict, read_rows
from storage.records.event import Draft, Picture
from storage.records.identity import Managed, Millis, Seq, SourceId
from storage.records.message import Message
from storage.records.tiers import TIERS, SourceType, Tier

Flag = Literal["ok", "degraded", "rotten"]
Cause = Literal["none", "reach", "yield", "partial", "stuck"]
"""The main reason for a low score: failures, silence, unreadable responses, or a problem that needs a person."""
RANK: dict[Flag, int] = {"ok": 0, "degraded": 1, "rotten": 2}


class OpenNotices(Struct, frozen=True):
    """The notices about the present trouble, and the time of the last.

    failing: the longest `notice_after`, in seconds, whose alerts got `source_failing`; None: no alert did.
    quiet: `source_quiet` was sent.
    """

    at: Millis
    failing: int | None = None
    quiet: bool = False


class Health(Struct, frozen=True):
    """A score from 0 to 1 with the sentence that explains it.

    `down_since` is the first of the present run of failures. `told` None: no notice is open. `remark`: a note on the
    page that does not lower the score, part of the reason. `said`: the reason with its values, if it has any.
    """

    score: float = 1.0
    flag: Flag = "ok"
    reason: str = "No check has failed."
    down_since: Millis | None = None
    cause: Cause = "none"
    told: OpenNotices | None = None
    remark: str = ""
    said: Message | None = None

    @property
    def words(self) -> Message | str:
        return self.said or self.reason

    def explained(self, reason: Message) -> Health:
        return replace(self, reason=str(reason), said=reason if reason.values else None)


class BreakerState(Struct, frozen=True):
    """The circuit breaker's persistent part: its state, failures in a row, times opened in a row, when it may retry."""

    state: Literal["closed", "open", "half-open"] = "closed"
    failures: int = 0
    opened: int = 0
    retry_at: Millis | None = None


DAYS = 90
_VERSION = b"\x01"
_RUN = struct.Struct(">HBB")  # first day (since 1970, UTC), number of days, and their worst score in hundredths


def scored(packed: bytes, day: int, score: float) -> bytes:
    """Record a day's score; return `packed` itself if the day's worst score stays the same.

    A day before the newest one (the clock was set back) counts as the newest.

    >>> read(scored(scored(b"", 20_000, 1.0), 20_000, 0.25))
    {20000: 0.25}
    """
    worst = min(100, max(0, round(100 * score)))
    if not (runs := _runs(packed)):
        return _packed([(day, 1, worst)])
    first, days, known = runs[-1]
    newest = first + days - 1
    if day <= newest:
        if worst >= known:
            return packed
        rest = [(first, days - 1, known)] if days > 1 else []
        return _packed([*runs[:-1], *rest, (newest, 1, worst)])
    if day == newest + 1 and worst == known:
        runs[-1] = first, days + 1, known
    else:
        runs.append((day, 1, worst))
    oldest, kept = day - DAYS + 1, []
    for first, days, worst in runs:
        gone = max(0, oldest - first)
        if days > gone:
            kept.append((first + gone, days - gone, worst))
    return _packed(kept)


def read(packed: bytes) -> dict[int, float]:
    """Return the worst score by day, oldest first; empty for another version."""
    return {first + at: worst / 100 for first, days, worst in _runs(packed) for at in range(days)}


def _runs(packed: bytes) -> list[tuple[int, int, int]]:
    if packed[:1] != _VERSION or (len(packed) - 1) % _RUN.size:
        return []
    return list(_RUN.iter_unpack(packed[1:]))


def _packed(runs: list[tuple[int, int, int]]) -> bytes:
    return _VERSION + b"".join([_RUN.pack(*run) for run in runs])


Mood = Literal["good", "calm", "warn", "bad"]  # the colour of a state: green, blue, yellow, red
SourceStateName = Literal["failing", "resting", "throttled", "unrendered", "overdue", "new", "ok", "paused"]
"""The present state of a source, exactly one; see `storage.records.source`. Worst first."""
PartState = Literal[
    "quarantined", "backoff", "failing", "resting", "throttled", "unrendered", "overdue", "ended", "stopping",
    "starting", "held", "new", "ok", "paused",
]  # fmt: skip
AlertState = Literal["active", "paused"]
DestinationState = Literal[
    "disabled", "failing", "active", "unconfirmed", "needs_secret", "last_failed", "unused", "paused"
]


class State(NamedTuple):
    """A state for people. short: for narrow columns, in capitals if it needs attention."""

    word: str
    short: str
    mood: Mood
    says: str


_TABLES = toml.decode(files("storage.records").joinpath("states.toml").read_bytes(), type=dict[str, dict[Any, State]])
SOURCES: Final[Mapping[SourceStateName, State]] = _TABLES["sources"]
HEALTH: Final[Mapping[Flag, State]] = _TABLES["health"]  # a source's health over days, independent of its state
PARTS: Final[Mapping[PartState, State]] = {
    state: _TABLES["parts"].get(state) or _TABLES["sources"][state] for state in get_args(PartState)
}
"""States of everything with a task: fixed parts, sources, destinations. Worst first."""
ALERTS: Final[Mapping[AlertState, State]] = _TABLES["alerts"]
DESTINATIONS: Final[Mapping[DestinationState, State]] = _TABLES["destinations"]
ATTEMPTS: Final[Mapping[Literal["sent", "retry", "given_up"], State]] = _TABLES["attempts"]
BREAKERS: Final[Mapping[Literal["closed", "half-open", "open"], State]] = _TABLES["breakers"]
LOOKS: Final[Mapping[Verdict, State]] = {Verdict[name.upper()]: state for name, state in _TABLES["looks"].items()}
"""Results of a check. The short form is the mark in the console."""


Inheritable = Literal["schedule", "hours", "bar", "selector", "ignore"]
"""The settings that a source can get from its tags."""
MOST_TAGGED = 1000


class TagDefaults(Struct, frozen=True):
    """The fields are those of `Source`; None or () sets nothing.

    destinations: ids; a new alert over the tag gets a copy of each.
    """

    tag: str
    updated_at: Millis
    schedule: int | None = None
    hours: str | None = None
    bar: float | None = None
    selector: str | None = None
    ignore: tuple[str, ...] = ()
    destinations: tuple[str, ...] = ()
    updated_by: str = ""
    """The last editor: a key's name, the dashboard, this machine; "" for the service itself."""
    managed: Managed | None = None


Confidence = Literal["high", "medium", "low"]
Follow = Literal["none", "new_links"]
"""The pages fetched in addition to the source's own: those of new items, once each, or none."""
Render = Literal["never", "auto", "always"]
"""When a browser renders a page before it is read. `auto`: for pages that are empty without their scripts."""


_SEAM = "\0"  # cannot occur in a header, so it separates the two secrets of one box
PART_BREAK = re.compile(r"\r?\n---\r?\n")  # the separator line between the messages of a hello
MOST_NOISE = 500
OWN_NAMESPACES = ("source_type", "template", "channel", "kind", "change", "practice")
"""Tag namespaces that the service itself writes."""


def tag_of(text: str) -> str:
    """Return a tag with its namespace; a bare word becomes a label.

    >>> tag_of("prices"), tag_of("topic:ai")
    ('label:prices', 'topic:ai')
    """
    return text if ":" in text else f"label:{text}"


RESTS = Millis(600_000)  # milliseconds that a deleted source can be restored


class Detection(Struct, frozen=True, gc=False):
    """The detected type of a URL; `evidence` is a sentence that a person can verify.

    forced: the user asked for a type that the body by itself is not; `type` stays that of the body.
    format: "html", the form of a text without elements of HTML, or the kind of feed; "" in records from before it.
    pending: the URL has yet to answer; the rest is a guess. sitemap: also an index; None in records from before it.
    asks_password: the body has a field for one. A source with its own headers is signed out when its body gets one.
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
    sitemap: bool | None = None

    @property
    def is_sitemap(self) -> bool:
        return self.evidence.startswith("a sitemap, as XML") if self.sitemap is None else self.sitemap


class Source(Struct, frozen=True, gc=False):
    """The user's settings. `url` is normalised and unique; `watch_url` is the fetched URL (a found feed)."""

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
    """Seconds between checks; replaces the adaptive cadence."""
    hours: str | None = None
    """Days, hours and a time zone; outside of them only requested checks run. See `actors/hours.py`."""
    backfill: int = 0
    filter: str | None = None
    """A push source's admission query; "" admits every frame, None only frames that match an alert."""
    subprotocols: tuple[str, ...] = ()
    """The subprotocols that a push source's handshake offers, best first."""
    hello: str | None = None
    """Messages that a push source sends after each handshake, separated by `PART_BREAK`: the first at once, one more
    after each answer. It may contain a secret: never show or log it."""

    def __repr__(self) -> str:
        return f"Source({self.id} {self.type} {self.url!r}, {'enabled' if self.enabled else 'disabled'})"

    noise: tuple[str, ...] = ()
    """Keys of blocks that the user marked as churn, newest last; at most `MOST_NOISE`."""
    bar: float | None = None
    """The least score of a reported page difference; None: the default."""
    practice: int | None = None
    """How often the practice document that it watches was changed; None: an ordinary source."""
    title: str = ""
    found_title: str = ""
    """The title of the page or feed in recent checks."""
    deleted_at: Millis | None = None
    """When it was deleted. From then on it is hidden, and can be restored for `RESTS`."""
    headers: str | None = None
    """Headers that each check or handshake adds to ours, to the origin of `url` only: `Name: value`, one per line. They
    may contain a secret: never show or log them."""
    render: Render = "never"
    """Whether a browser renders the page; see `actors/sources/checks/rendering.py`."""
    wait_for: str | None = None
    """A CSS selector that must match before a rendered page is read."""

    screenshots: bool = False
    """Whether each change of a rendered page is stored with a screenshot."""
    follow: Follow = "none"
    """Whether each new list item or feed entry is reported with its page's text."""
    updated_by: str = ""
    managed: Managed | None = None
    follow_hosts: tuple[str, ...] = ()
    """Other hosts, with their subdomains, whose pages are fetched when following; `*`: every host."""

    headers_for: tuple[str, ...] = ()
    """Where its headers are sent for sources that have none; see `actors/sources/lending.py`."""
    replies: tuple[str, ...] = ()
    """Rules that answer a push source's pings; see `actors/sources/push/connection.py`."""
    own_only: tuple[Inheritable, ...] = ()
    """Settings that never come from tags: the source's own value applies, or none."""

    @property
    def secret(self) -> str | None:
        """The sealed part: the headers of a polled source; a push source's hello, after its headers if it has any."""
        if self.tier.polled:
            return self.headers
        if self.headers is None and not (self.hello or "").startswith(_SEAM):
            return self.hello
        return f"{_SEAM}{self.headers or ''}{_SEAM}{self.hello or ''}"

    @property
    def without_secret(self) -> Source:
        return replace(self, hello=None, headers=None)

    def with_secret(self, secret: str) -> Source:
        if self.tier.polled:
            return replace(self, headers=secret)
        if not secret.startswith(_SEAM):
            return replace(self, hello=secret)
        _, headers, hello = secret.split(_SEAM, 2)
        return replace(self, headers=headers or None, hello=hello or None)

    @property
    def tier(self) -> Tier:
        return TIERS[self.type]

    @property
    def is_web_page(self) -> bool:
        """Whether it is an HTML page, not a feed, JSON or a file. Assumed so until the first response."""
        return self.tier.has_diff and self.detection.format in ("", "html")

    @property
    def name(self) -> str:
        """The user's title, else the found title, else ""."""
        return called(self.title, self.found_title)

    @property
    def called(self) -> str:
        return called(self.title, self.found_title, self.url)


def called(title: str, found_title: str, address: str = "") -> str:
    """Return a source's display name: the user's title, else the found title, else the address. Used by all faces.

    >>> called("", "Tickets and prices", "https://shop.example/t"), called("", "", "https://shop.example/t")
    ('Tickets and prices', 'https://shop.example/t')
    """
    return title or found_title or address


def distinct_names(sources: Iterable[tuple[str, str, str]]) -> dict[str, str]:
    """Return the names to choose from, by id; equal ones show their addresses. sources: id, name and address of each.

    >>> distinct_names([("1", "A", "https://a.test/x"), ("2", "A", "https://a.test/y"), ("3", "B", "https://b.test/")])
    {'1': 'A (a.test/x)', '2': 'A (a.test/y)', '3': 'B'}
    """
    rows = list(sources)
    count = Counter(name for _, name, _ in rows)
    return {
        id: f"{name} ({url.partition('://')[2].rstrip('/')})" if count[name] > 1 else name for id, name, url in rows
    }


class Validators(Struct, frozen=True, gc=False):
    """Validators for the next conditional request, the hash of their body, and their URL.

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
    """Seconds between checks at the present cadence, before jitter and hints."""
    looks: int = 0
    unchanged: int = 0
    events: int = 0
    last_look_at: Millis | None = None
    last_success_at: Millis | None = None
    last_event_at: Millis | None = None
    next_look_at: Millis | None = None
    not_before: Millis | None = None
    """No check before this: the server asked (Retry-After, skipHours), or egress is closed."""
    last_status: int | None = None
    last_error: str | None = None
    pace: bytes = b""
    """The cadence model's packed memory."""
    pulse: bytes = b""
    """The health model's packed memory of gaps."""
    trail: bytes = b""
    """The last checks, packed."""
    tally: bytes = b""
    """Checks by hour, packed, for the days not yet moved out."""
    scores: bytes = b""
    """The worst score of each of the last 90 days, packed."""
    rendered: bool = False
    """The baseline is a rendered page; compare it with rendered pages only."""
    part: bytes = b""
    """A mark of the page part in the baseline, if tags chose the part; see `actors/inheritance.py`."""
    lent: bool = False
    """The baseline was fetched with borrowed headers; compare it only with pages fetched so."""
    cookies: str = ""
    """The source's `Cookie` as renewed by its origin, in the form of `actors/egress/cookies.py`; "" before any renewal.
    A secret like the headers: stored sealed; never show, log or export it."""
    private: bool = False
    """The last check used headers, or was led into a network that the operator opened."""
    private_since: Millis | None = None
    """The time of the first private check; 0: every check was. None: the last one was not."""

    def __repr__(self) -> str:
        shown = (name for name in self.__struct_fields__ if name != "cookies")
        return f"SourceRuntime({', '.join(f'{name}={getattr(self, name)!r}' for name in shown)})"

    @property
    def without_secret(self) -> SourceRuntime:
        return replace(self, cookies="") if self.cookies else self


def key_of(address: str) -> str:
    """Return an address without the parts that its twins differ in: http or https, www, a slash at the end."""
    return address.partition("://")[2].removeprefix("www.").rstrip("/")


def feed_keys(source: Source) -> Sequence[str]:
    if not source.tier.has_entries:
        return ()
    to_page = source.detection.feed_url is not None
    return (key_of(source.watch_url), *(() if to_page else (key_of(source.detection.final_url),)))


def reads_plainly(source: Source) -> bool:
    """Return whether a source reads its feed as anybody may: headers may open another one at the same address."""
    return source.tier.has_entries and source.headers is None and not source.headers_for and source.practice is None


def same_feed(source: Source, other: Source) -> bool:
    alike = reads_plainly(source) and reads_plainly(other)
    return alike and not set(feed_keys(source)).isdisjoint(feed_keys(other))


Version = NewType("Version", int)
"""The version of a source's stored state: 62 random bits, new with each write of the state or the record."""
FIRST = Version(0)


class SourceState(Struct, frozen=True):
    """A source's memory to save. `base` None keeps the stored base; b"" is an empty base. since: the version of the
    stored state that this one derives from; if another is stored, nothing is written. FIRST: never written before, or
    in an edit any stored state. version: the version stored from now on.
    """

    source: SourceId
    hot: SourceRuntime
    base: bytes | None = None
    since: Version = FIRST
    version: Version = FIRST


class Harvest(Struct, frozen=True):
    """The result of one check: drafts in reading order (oldest first) and the next state, committed together.

    The service's own harvest has the source SERVICE and no state. `debtor`: a destination that owes this notice; the
    harvest is committed only while it is owed, and the same transaction settles it. `born`: a source to add in the same
    transaction, with its first state; `known` as in `Sources.add`. `follows`: of a heartbeat, the position of the
    previous one (0: none); committed only while that is the newest. `picture`: of the page, stored with the event of
    its change; if there is no such event, as the picture of the first check.
    """

    source: SourceId
    drafts: tuple[Draft, ...]
    state: SourceState | None
    debtor: str | None = None
    born: Source | None = None
    follows: Seq | None = None
    picture: Picture | None = None
    known: int | None = None

    def pays(self, owed: str | None) -> bool:
        return owed is not None and all(draft.alert_type == owed for draft in self.drafts)


class WatchedSource(Struct, frozen=True):
    """A source and its saved memory."""

    source: Source
    hot: SourceRuntime
    base: bytes
    version: Version = FIRST


def state_of(source: Source, hot: SourceRuntime, *, overdue: bool) -> SourceStateName:
    """Return the state of a source. overdue: `next_look_at` has passed without a check."""
    if not source.enabled:
        return "paused"
    if hot.breaker.failures or hot.breaker.state != "closed" or hot.health.down_since is not None:
        # A 404 opens the breaker at once. It will not pass, so the state is failing, not resting.
        rests = hot.breaker.state != "closed" and _last(hot) is not Verdict.REMOTE_PERMANENT
        return "resting" if rests else "failing"
    if overdue:
        return "overdue"
    if hot.last_look_at is None:
        return "new"
    if is_unrendered(source, hot):
        return "unrendered"
    return "throttled" if hot.last_error is not None and _last(hot) is Verdict.THROTTLED else "ok"


def is_unrendered(source: Source, hot: SourceRuntime) -> bool:
    """Return whether the last check failed because no browser here could render the page."""
    wants = source.is_web_page and (source.render == "always" or (source.render == "auto" and hot.rendered))
    newest = read_rows(hot.trail)[-1:] if wants and hot.last_error is not None else ()
    return any(row.verdict is Verdict.LOCAL for row in newest)


def _last(hot: SourceRuntime) -> Verdict | None:
    verdicts = (row.verdict for row in reversed(read_rows(hot.trail)))
    return next((verdict for verdict in verdicts if verdict is not Verdict.LOCAL), None)


StoredJar: TypeAlias = tuple[SourceId, str]
_HEAD = re.compile(r"([0-9]{1,18}) ([0-9]{1,18}) ([0-9]{1,18})\n")


class Age(NamedTuple):
    """The age of cookies; the greater one is younger. given: how often the source's headers were set; cookies from
    earlier headers are obsolete. worked: checks that proved renewed cookies good; these win over unproven ones. turn:
    changes since the headers were set.
    """

    given: int = 0
    worked: int = 0
    turn: int = 0


_UNCHANGED = Age()


def parted(text: str) -> tuple[Age, str]:
    """Split stored cookies into age and value. The value is "" if none were renewed.

    >>> parted("1 2 5\\n[]"), parted("[]")
    ((Age(given=1, worked=2, turn=5), '[]'), (Age(given=0, worked=0, turn=0), '[]'))
    """
    head = _HEAD.match(text)
    return (_UNCHANGED, text) if head is None else (Age(*map(int, head.groups())), text[head.end() :])


def joined(age: Age, kept: str) -> str:
    """Prefix cookies with their age, unless it is zero: the headers were never changed and no cookie was renewed."""
    return f"{age.given} {age.worked} {age.turn}\n{kept}" if any(age) else kept


def is_younger(text: str, stored: str) -> bool:
    """Return whether cookies may overwrite the stored ones.

    >>> is_younger("0 1 2\\n[]", "0 0 9\\n[]"), is_younger("0 7 9\\n[]", "1 0 0\\n"), is_younger("[]", "[]")
    (True, False, False)
    """
    return parted(text)[0] > parted(stored)[0]
