"""Requests to a worker and their answers, encoded with msgspec's MessagePack. No parser is imported."""

from __future__ import annotations

import re
from typing import Literal
from urllib.parse import parse_qsl, urlsplit

from msgspec import Struct

from actors.content.messages.readings import StandIn
from actors.messages.previews import PagePreview
from storage.records.event import Delta, Diff, TypedChange
from storage.records.identity import Millis

EMIT = 0.5
"""Default threshold: the score that a change of a page needs to be reported."""
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
    "" allows any.
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


_TRACKING = re.compile(r"utm_\w+|fbclid|gclid|dclid|msclkid|mc_[ce]id|igshid|_ga|_gl|wt_\w+|ref_src", re.I)
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
    kept = [f"{name}={value}" for name, value in named if not (_TRACKING.fullmatch(name) or _SESSION.fullmatch(name))]
    where = f"{parts.netloc.lower().removeprefix('www.')}{parts.path.rstrip('/')}"
    return f"{where}?{'&'.join(kept)}" if kept else where
