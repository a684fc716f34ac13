"""Messages between the service and a worker, encoded with msgspec's MessagePack. No parser is imported.

A reading of a feed has hints about the next check. feedparser keeps only the last of several hours to skip, so
patterns read the head of the document.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Mapping
from importlib.resources import files
from typing import Final, Literal
from urllib.parse import parse_qsl, urlsplit

from msgspec import Struct

from actors.messages.requests import PagePreview
from storage.records.event import Delta, Diff, TypedChange
from storage.records.identity import Millis
from storage.records.source import Confidence

_HEAD = 64 * 1024
_TTL = re.compile(r"<ttl>\s*(\d{1,6})\s*</ttl>", re.I)
_HOURS = re.compile(r"<skipHours>(.{0,2000}?)</skipHours>", re.I | re.S)
_DAYS = re.compile(r"<skipDays>(.{0,1000}?)</skipDays>", re.I | re.S)
_HOUR = re.compile(r"<hour>\s*(\d{1,2})\s*</hour>", re.I)
_DAY = re.compile(r"<day>\s*(\w{3,10})\s*</day>", re.I)
_PERIOD = re.compile(r"<sy:updatePeriod>\s*(\w+)\s*</sy:updatePeriod>", re.I)
_FREQUENCY = re.compile(r"<sy:updateFrequency>\s*(\d{1,5})\s*</sy:updateFrequency>", re.I)
_PERIODS = {"hourly": 3600, "daily": 86_400, "weekly": 7 * 86_400, "monthly": 30 * 86_400, "yearly": 365 * 86_400}
_WEEKDAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")


class FeedHints(Struct, frozen=True):
    """Seconds to live, hours (UTC, 0..23) and weekdays (0 = Monday) to skip, seconds between updates."""

    ttl_s: int | None = None
    skip_hours: tuple[int, ...] = ()
    skip_days: tuple[int, ...] = ()
    period_s: int | None = None


NO_HINTS = FeedHints()


def hints_of(text: str) -> FeedHints:
    """Read the hints in an XML feed. RSS 0.91 counts hours from 1 to 24: 24 means midnight.

    >>> hints_of("<ttl>60</ttl><skipHours><hour>24</hour><hour>3</hour></skipHours>")
    FeedHints(ttl_s=3600, skip_hours=(0, 3), skip_days=(), period_s=None)
    """
    head = text[:_HEAD]
    ttl = _TTL.search(head)
    hours = {int(hour) % 24 for hour in _HOUR.findall(_inside(_HOURS, head)) if int(hour) <= 24}
    days = {day.lower() for day in _DAY.findall(_inside(_DAYS, head))}
    period = _PERIOD.search(head)
    seconds = _PERIODS.get(period[1].lower()) if period else None
    frequency = _FREQUENCY.search(head)
    return FeedHints(
        ttl_s=int(ttl[1]) * 60 if ttl and int(ttl[1]) else None,
        skip_hours=tuple(sorted(hours)),
        skip_days=tuple(i for i, name in enumerate(_WEEKDAYS) if name in days),
        period_s=max(1, seconds // max(1, int(frequency[1]) if frequency else 1)) if seconds else None,
    )


def _inside(pattern: re.Pattern[str], text: str) -> str:
    found = pattern.search(text)
    return found[1] if found else ""


FILE: Final = "file"  # the format of a binary file: its bytes are compared
_TABLES: Final = tomllib.loads(files("actors.content").joinpath("formats.toml").read_text("utf-8"))
FORMATS: Final[Mapping[str, str]] = _TABLES["formats"]
"""Formats of documents without HTML elements, as in `Finding.format` and `Detection.format`, with their nouns."""
NO_PARTS: Final = "it has no elements, so `selector` and `ignore` can't choose a part of it."
SelectorKind = Literal["css", "xpath", "jsonpath", "lines", "regex", "path"]
XPATH, LINES, REGEX, PATH = "xpath:", "lines:", "re:", "path:"
_PREFIXES: Final[Mapping[str, SelectorKind]] = _TABLES["prefixes"]
CHOSEN_BY: Final[Mapping[str, tuple[tuple[SelectorKind, ...], str]]] = {
    format: (tuple(row["kinds"]), row["says"]) for row in _TABLES["chosen"] for format in row["formats"]
}
"""The kinds of `selector` and `ignore` that each format allows, with a sentence; nothing for other formats."""
_NAMED: Final = r"[\w\x80-\U0010ffff-]+|\[[^\[\]']*\]|\[[^\[\]'=]+'[^\[\]=]*\]|\['(?:[^'\\]|\\.)*'\]"
_MEMBERS = re.compile(rf"\.?(?:{_NAMED})(?:\.(?:{_NAMED})|{_NAMED.partition('|')[2]}|\s*\|\s*)*(?:\.\.\*)?")
_PIPE = re.compile(r"\s*\|\s*")
_LEADING = 64
_TRACKING = re.compile(r"[?&](?:utm_\w+|fbclid|gclid|mc_[ce]id)=[^&#]*|#.*$")

Identity = Literal["guid", "link", "hash", "guid and link", "guid and hash", "link and hash"]
"""The parts that an entry's key consists of."""


class Entry(Struct, frozen=True):
    """An entry with its identity (`key`) and a hash of 16 hex digits of its material content. content: capped at 64
    KiB. content_hash, simhash: of the full text. published_at: as declared. identity: the parts of the key. aliases:
    the keys it would have among other entries. prints: 4 bytes of the title, 4 of the text, 3 of each of the first
    lines, without counters; zeros for empty ones.
    """

    key: str
    url: str
    title: str
    author: str
    content: str
    published_at: Millis | None
    tags: tuple[str, ...]
    fingerprint: str
    content_hash: str = ""
    simhash: int = 0
    content_truncated: bool = False
    identity: Identity = "guid"
    aliases: tuple[str, ...] = ()
    prints: bytes = b""


class FeedReading(Struct, frozen=True):
    """A feed, with `entries` in document order. damaged: it is ill-formed or some bytes were not text. hubs: WebSub.
    paging: the links of RFC 5005 as (relation, address), not followed. cut: it ends early; cut_entry: within the last
    entry. left_out: entries beyond the limit.
    """

    title: str
    url: str
    format: str
    entries: tuple[Entry, ...]
    hints: FeedHints = NO_HINTS
    damaged: bool = False
    hubs: tuple[str, ...] = ()
    paging: tuple[tuple[str, str], ...] = ()
    cut: bool = False
    cut_entry: bool = False
    left_out: int = 0


class FeedLink(Struct, frozen=True):
    """A feed that a page advertises, by absolute address."""

    url: str
    title: str
    type: str


class StandIn(Struct, frozen=True):
    """The page or error in a page's place (see `walls`). says: a sentence for a person."""

    kind: Literal["empty", "challenge", "queue", "error", "consent", "login", "script", "redirect", "other page"]
    says: str

    def __str__(self) -> str:
        return self.says


class Finding(Struct, frozen=True):
    """The kind of a body. A `type` of None has a `refusal`. evidence, refusal: sentences that a person can check.
    format: the kind of feed, "html" for a page, or one of `FORMATS`. trouble: set if a wall or an error replaces the
    page (see `walls`). feed: the reading of a feed; a watcher need not read it again. is_broken_feed: refused, with the
    root element of a feed. shell: the sign that the page is empty without its scripts (see `walls`), else "".
    """

    type: Literal["feed", "html"] | None
    confidence: Confidence
    evidence: str
    format: str
    feeds: tuple[FeedLink, ...] = ()
    refusal: str | None = None
    trouble: StandIn | None = None
    feed: FeedReading | None = None
    is_broken_feed: bool = False
    shell: str = ""
    sitemap: bool = False


def is_pdf(body: bytes) -> bool:
    """Whether a body begins like a PDF; viewers accept white space before its mark."""
    return body[:_LEADING].lstrip().startswith(b"%PDF-")


def selector_kind(text: str) -> SelectorKind:
    """Return a selector's kind by its prefix; no CSS selector begins like one."""
    text = text.lstrip()
    if prefix := _prefix_of(text):
        return _PREFIXES[prefix]
    if text.startswith("$"):
        return "jsonpath"
    return "xpath" if text.startswith(("/", "(/")) else "css"


def bare_selector(text: str) -> str:
    text = text.strip()
    return text.removeprefix(_prefix_of(text)).strip()


def json_path_text(text: str) -> str:
    """Return a selector as a JSONPath, also from jq syntax or the place in a difference; "" if it is neither.

    >>> json_path_text("$.a"), json_path_text(".items[] | .price"), json_path_text("a['b c']"), json_path_text("a")
    ('$.a', '$.items[*].price', "$.a['b c']", '$.a')
    >>> json_path_text("a > b"), json_path_text("path:$.a")
    ('', '$.a')
    """
    bare, kind = bare_selector(text), selector_kind(text)
    if kind == "path" and bare.startswith("$"):  # as an alert names it
        return bare
    if kind not in {"css", "jsonpath"} or bare.startswith("$") or not _MEMBERS.fullmatch(bare):
        return bare if kind == "jsonpath" else ""
    path = bare if "'" in bare else _PIPE.sub("", bare).replace("[]", "[*]").replace(".[", "[")
    return f"${path}" if path[0] in ".[" else f"$.{path}"


def _prefix_of(text: str) -> str:
    return next((prefix for prefix in _PREFIXES if text.startswith(prefix)), "")


def not_chosen_by(format: str, selectors: Iterable[str]) -> str:
    """Return why some of these selectors cannot choose a part of this format, "" if all can."""
    kinds, says = CHOSEN_BY.get(format, ((), NO_PARTS))
    chooses = json_path_text if format == "json" else lambda text: selector_kind(text) in kinds
    return "" if all(map(chooses, selectors)) else says


def is_same(format: str, was: str) -> bool:
    """Whether a document still has its first format; two kinds of lines may alternate."""
    return format == was or {format, was} in ({"text", "csv"}, {"text", "calendar"})


def link_form(url: str) -> str:
    """Reduce a link to its target: no scheme, "www.", tracking, fragment and last slash.

    >>> link_form("http://www.shore.example/a/?utm_source=x#top") == link_form("https://shore.example/a")
    True
    """
    bare = _TRACKING.sub("", url).partition("://")[2].removeprefix("www.")
    return bare.rstrip("/")


EMIT = 0.5  # default threshold: the score that a change of a page needs to be reported
LOWEST_BAR, HIGHEST_BAR = 0.2, 0.9


class BodyRequest(Struct, frozen=True):
    """A body and its URL after redirects; answered by a `FeedReading` (of a feed), or by a `Finding` (detection)."""

    body: bytes
    content_type: str
    url: str


class PageRequest(BodyRequest, frozen=True):
    """Answered by a `PageLook` (task "look_page") or a `PagePreviewAnswer` ("preview_page"). memory: from the last
    check; None before the first. shared: keys of blocks that the host's other pages share (`difference.shared_keys`),
    which are furniture. noise: keys that the user marked (`news.noise_keys`). bar: the threshold, clamped to LOWEST_BAR
    and HIGHEST_BAR. at: milliseconds; 0 if unknown, and only checks count then. number: of the check, including checks
    that needed no reading; 0 if each check is read. was: the page's first format ("html" or one of `readings.FORMATS`);
    "" allows any. last: `digests` of the last check, b"" if there are none.
    """

    selector: str | None = None
    ignore: tuple[str, ...] = ()
    memory: bytes | None = None
    shared: tuple[str, ...] = ()
    noise: tuple[str, ...] = ()
    bar: float = EMIT
    at: int = 0
    number: int = 0
    was: str = ""
    last: bytes = b""


class StandingRequest(Struct, frozen=True):
    """Answered by the `StandingValues` of a page's memory. exact: the page is JSON, written by a program."""

    memory: bytes
    exact: bool = False


class KeysRequest(Struct, frozen=True):
    """Answered by the keys that mark blocks with these texts as noise (`news.noise_keys`)."""

    texts: tuple[str, ...]


class SelectorsRequest(Struct, frozen=True):
    """Answered by a list of `Fault`, empty if all selectors are valid."""

    selector: str | None
    ignore: tuple[str, ...]


class Fault(Struct, frozen=True):
    """An invalid selector: its index in `ignore` (None for `selector`), and the reason."""

    index: int | None
    reason: str


class PagePreviewAnswer(Struct, frozen=True):
    """A page as it would be watched, or why selectors do not apply: the document has no elements."""

    page: PagePreview | None
    no_parts: str = ""


class FindRequest(Struct, frozen=True):
    """Answered by a `Findings`. memory: None before the first check. body: None if it was not fetched again."""

    text: str
    memory: bytes | None = None
    body: bytes | None = None
    content_type: str = ""
    selector: str | None = None
    ignore: tuple[str, ...] = ()


class Spot(Struct, frozen=True):
    """A block that has the text; `place` counts from 1. aside: why it is not content; "" if it is. known: for a current
    block, "same" if at most masked parts differ from the reported state, "seen" if a check saw it unreported, "" if
    new.
    """

    place: int
    text: str
    aside: str = ""
    known: Literal["", "same", "seen"] = ""


class Findings(Struct, frozen=True):
    """The places of a text. told: in the last reported state. now: in the part now watched. elsewhere: in the rest of
    the current page. cut: the memory lacks some reported text. trouble: why the body is not the page.
    """

    told: Spot | None = None
    now: Spot | None = None
    elsewhere: Spot | None = None
    cut: bool = False
    trouble: str | None = None


class FrameRequest(Struct, frozen=True):
    """Answered by a list of `frames.Frame`. name: the stream's name for this kind of event."""

    text: str
    url: str
    name: str = ""


LONGEST_TEXT = 200


class Withheld(Struct, frozen=True):
    """An added or removed block that was not reported, or counted little. text: at most `LONGEST_TEXT` characters.
    rule: the reason, for a user ("furniture: footer"). key: the block's, for feedback. score: its weight.
    """

    text: str
    rule: str
    key: str
    came: bool
    score: float = 0.0


class PageLook(Struct, frozen=True):
    """One check of a page. trouble: it failed, as this was not the page; `memory` is then the old one. content, its
    hashes: for `baseline`, `changed` and `moved`; summary: for the last two.
    """

    title: str
    author: str
    published_at: Millis | None
    kind: Literal["baseline", "unchanged", "churn", "held", "changed", "moved"]
    score: float
    reason: str
    memory: bytes
    trouble: StandIn | None = None
    partial: bool = False
    content: str = ""
    content_hash: str = ""
    simhash: int = 0
    truncated: bool = False
    summary: str = ""
    diff: Diff | None = None
    delta: Delta | None = None
    changes: tuple[TypedChange, ...] = ()
    withheld: tuple[Withheld, ...] = ()
    weighed: tuple[Withheld, ...] = ()
    """The blocks that caused the change, heaviest first; `rule` is empty."""
    reverted: bool = False
    """The page returns to a state reported before."""
    soon: bool = False
    """A check within a minute settles a doubt."""
    unsettled: bool = False
    """The same page again may be reported: it must be read again even if it does not change."""
    moved_to: str = ""
    """The new address of a page that has moved, "" if a login is in its place."""
    remark: str = ""
    """A sentence about how the page is watched, for the source's health; it does not lower the score."""
    digests: bytes = b""
    """Of a check whose verdict the same page gets again, for the next check; needs no storage."""


_TRACKING_NAME = re.compile(r"utm_\w+|fbclid|gclid|dclid|msclkid|mc_[ce]id|igshid|_ga|_gl|wt_\w+|ref_src", re.I)
_SESSION = re.compile(
    r"sid|s?ession_?id|session|jsessionid|phpsessid|aspsessionid\w*|cfid|cftoken|osid|zenid|oscsid|nonce|_", re.I
)
_SESSION_IN_PATH = re.compile(r";(?:jsessionid|sid|phpsessid)=[^/?#]*|/\(S\([a-z0-9]{10,}\)\)", re.I)
_MOST_NAMES = 50

Kind = Literal["baseline", "unchanged", "news", "reset"]


class Item(Struct, frozen=True, array_like=True):
    """An item of a list: its link, its title in the list ("" if it has none), and its date."""

    url: str
    title: str
    published_at: Millis | None = None


class ListRequest(BodyRequest, frozen=True):
    """Compares a page or a sitemap with `memory`, the last check's result, None before the first; answered by a
    `ListLook`. file: the index file, "" for the source's own URL. was: see `PageRequest`.
    """

    selector: str | None = None
    ignore: tuple[str, ...] = ()
    memory: bytes | None = None
    file: str = ""
    was: str = ""


class ListLook(Struct, frozen=True):
    """One check of a list. new: items to report. held: those of an entirely new list. Both in reading order. count:
    items now in the list. bulk: new addresses of a sitemap, too many to report one by one. say: whether to report a
    reset. files: index files to read now. next_file: the one to read in an hour, if dates are useless. remark: a
    sentence about the list, for its health. memory: None if unchanged.
    """

    kind: Kind
    reason: str
    title: str = ""
    memory: bytes | None = None
    count: int = 0
    new: tuple[Item, ...] = ()
    held: tuple[Item, ...] = ()
    bulk: int = 0
    say: bool = False
    files: tuple[str, ...] = ()
    next_file: str = ""
    remark: str = ""
    trouble: StandIn | None = None


class ItemPage(Struct, frozen=True):
    """An item's own page. content: capped; the hashes cover the full text. trouble: why it is no page."""

    title: str
    author: str
    published_at: Millis | None
    content: str
    content_hash: str
    simhash: int
    truncated: bool
    trouble: StandIn | None = None


def item_form(url: str) -> str:
    """Reduce an address to its item: no scheme, "www.", tracking, session and fragment.

    >>> item_form("https://www.a.example/x;jsessionid=1F?b=2&utm_source=y&a=1#c"), item_form("http://a.example/x/?a=1&b=2")
    ('a.example/x?a=1&b=2', 'a.example/x?a=1&b=2')
    """
    try:
        parts = urlsplit(_SESSION_IN_PATH.sub("", url))
        named = sorted(parse_qsl(parts.query, keep_blank_values=True, max_num_fields=_MOST_NAMES))
    except ValueError:
        return url
    kept = [f"{key}={value}" for key, value in named if not (_TRACKING_NAME.fullmatch(key) or _SESSION.fullmatch(key))]
    where = f"{parts.netloc.lower().removeprefix('www.')}{parts.path.rstrip('/')}"
    return f"{where}?{'&'.join(kept)}" if kept else where
