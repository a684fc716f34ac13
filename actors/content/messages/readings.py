"""Workers' readings of bodies and feeds, and the rules about them that the service knows too. No parser is imported."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Final, Literal

from msgspec import Struct

from actors.content.messages.hints import NO_HINTS, FeedHints
from storage.records.identity import Millis
from storage.records.source import Confidence

FILE: Final = "file"
"""The format of what is no text: of it the bytes are compared."""
FORMATS: Final[Mapping[str, str]] = {
    "text": "text",
    "json": "JSON document",
    "csv": "table",
    "calendar": "calendar",
    "xml": "XML document",
    "pdf": "PDF document",
    "docx": "Word document",
    "xlsx": "workbook",
    "odt": "OpenDocument text",
    "ods": "OpenDocument spreadsheet",
    FILE: "file",
}
"""What a document without elements of HTML is, as `Finding.format` and `Detection.format` say it, with its noun."""
NO_PARTS: Final = "it has no elements, so `selector` and `ignore` can't choose a part of it."
SelectorKind = Literal["css", "xpath", "jsonpath", "lines", "regex", "path"]
XPATH, LINES, REGEX, PATH = "xpath:", "lines:", "re:", "path:"
_PREFIXES: Final[Mapping[str, SelectorKind]] = {
    "xpath:": "xpath",
    "xpath1:": "xpath",
    "css:": "css",
    "json:": "jsonpath",
    "jsonpath:": "jsonpath",
    "jq:": "jsonpath",
    LINES: "lines",
    REGEX: "regex",
    PATH: "path",
}
"""Our own prefixes, and those of other programs, which mean no CSS either."""
_BY_LINES: Final[tuple[tuple[SelectorKind, ...], str]] = (
    ("lines", "regex", "path"),
    "a part of a text is chosen by lines, as lines:3-20, by a regular expression, as re:^Version, or by what it stands "
    "below, as path:Fees ›",
)
_BY_PATH: Final[tuple[tuple[SelectorKind, ...], str]] = (
    ("path", "regex"),
    "a part of a document is chosen by its path, as path:Prices › Team · Fee, or by a regular expression, as "
    "re:^Version",
)
CHOSEN_BY: Final[Mapping[str, tuple[tuple[SelectorKind, ...], str]]] = {
    "html": (("css", "xpath"), "a part of a page is chosen by CSS or XPath"),
    "json": (("jsonpath",), "a part of JSON is chosen by a JSONPath, such as $.items[*].price"),
    "xml": (("xpath",), "a part of XML is chosen by an XPath, such as //item/price"),
    "text": _BY_LINES,
    "csv": _BY_LINES,
    **dict.fromkeys(("calendar", "pdf", "docx", "xlsx", "odt", "ods"), _BY_PATH),
}
"""What `selector` and `ignore` may be, by the format of a document, and that in words; nothing for other formats."""
_MEMBERS = re.compile(r"(?:\.?\w+|\.?\[[^\[\]]*\])(?:\.\w+|\.?\[[^\[\]]*\]|\s*\|\s*)*")
_PIPE = re.compile(r"\s*\|\s*")
_LEADING = 64
_TRACKING = re.compile(r"[?&](?:utm_\w+|fbclid|gclid|mc_[ce]id)=[^&#]*|#.*$")

Identity = Literal["guid", "link", "hash", "guid and link", "guid and hash", "link and hash"]
"""What names an entry among the others."""


class Entry(Struct, frozen=True):
    """An entry with its identity (`key`) and the 16 hex digits that change when its material content does.

    `content` is capped at 64 KiB; `content_hash` and `simhash` are of the uncut text. `published_at` is the feed's
    word. `identity` says what the key is made of, `aliases` are the keys
    that it would have among other neighbours. `prints`: 4 bytes of the title, 4 of the text, 3 of each of its first
    lines, without counters; zeros for what is empty.
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
    """A feed. `entries` are in document order; `damaged`: it is ill-formed or some bytes were not text.

    `hubs` are where WebSub would subscribe, `paging` the links of RFC 5005 as (relation, address): read, not followed.
    `cut`: it ends early; `cut_entry`: within the last of the entries. `left_out`: entries beyond those that are read.
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
    """What stands where the page should be; see `walls`. `says` is for a person."""

    kind: Literal["empty", "challenge", "queue", "error", "consent", "login", "script", "redirect", "other page"]
    says: str

    def __str__(self) -> str:
        return self.says


class Finding(Struct, frozen=True):
    """What a body is. `type` None comes with a `refusal`; both carry a sentence that a person can check.

    `format` names the kind of feed; of a page it is "html", or one of `FORMATS`.

    `trouble` is set when a page is none because a wall or an error stands in its place (see `walls`). `feed` is what a
    feed says: to know one is to have read it, so whoever goes on to watch it need not read it again. `is_broken_feed`:
    it is refused, and has the root element of a feed. `shell`: by what a page shows that it is empty without its
    scripts (see `shell`), "" when it is not.
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


def is_pdf(body: bytes) -> bool:
    """Return whether a body begins as a PDF does; viewers take white space before its mark."""
    return body[:_LEADING].lstrip().startswith(b"%PDF-")


def selector_kind(text: str) -> SelectorKind:
    """Return what a selector is by its first letters, as which no CSS begins."""
    text = text.lstrip()
    if prefix := _prefix_of(text):
        return _PREFIXES[prefix]
    if text.startswith("$"):
        return "jsonpath"
    return "xpath" if text.startswith(("/", "(/")) else "css"


def bare_selector(text: str) -> str:
    """Return a selector without its prefix."""
    text = text.strip()
    return text.removeprefix(_prefix_of(text)).strip()


def json_path_text(text: str) -> str:
    """Return a selector as a JSONPath, also one in the manner of jq; "" when it is neither.

    >>> json_path_text("$.a"), json_path_text(".items[] | .price"), json_path_text("a[0].b"), json_path_text("td")
    ('$.a', '$.items[*].price', '$.a[0].b', '')
    """
    bare, kind = bare_selector(text), selector_kind(text)
    if kind not in {"css", "jsonpath"} or bare.startswith("$") or not _MEMBERS.fullmatch(bare):
        return bare if kind == "jsonpath" else ""
    if kind == "css" and not {".", "["}.intersection(bare):
        return ""
    path = _PIPE.sub("", bare).replace("[]", "[*]").replace(".[", "[")
    return f"${path}" if path[0] in ".[" else f"$.{path}"


def _prefix_of(text: str) -> str:
    return next((prefix for prefix in _PREFIXES if text.startswith(prefix)), "")


def not_chosen_by(format: str, selectors: Iterable[str]) -> str:
    """Return why none of these selectors can choose a part of a document of this format, "" when all can."""
    kinds, says = CHOSEN_BY.get(format, ((), NO_PARTS))
    chooses = json_path_text if format == "json" else lambda text: selector_kind(text) in kinds
    return "" if all(map(chooses, selectors)) else says


def is_same(format: str, was: str) -> bool:
    """Return whether a document has the format that it had at first; which of two kinds of lines it is may waver."""
    return format == was or {format, was} in ({"text", "csv"}, {"text", "calendar"})


def link_form(url: str) -> str:
    """Return a link as far as it says where it leads: no scheme, "www.", tracking, fragment and last slash.

    >>> link_form("http://www.shore.example/a/?utm_source=x#top") == link_form("https://shore.example/a")
    True
    """
    bare = _TRACKING.sub("", url).partition("://")[2].removeprefix("www.")
    return bare.rstrip("/")
