"""Requests to a worker and their answers, encoded with msgspec's MessagePack."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

from actors.content.messages.readings import StandIn
from actors.previews import PagePreview
from storage.records.event import Delta, Diff
from storage.records.identity import Millis
from storage.records.value import TypedChange

EMIT = 0.5
"""Default threshold: the score that a change of a page needs to be reported."""
LOWEST_BAR, HIGHEST_BAR = 0.2, 0.9


class DetectRequest(Struct, frozen=True):
    """Answered by a `readings.Finding`."""

    body: bytes
    content_type: str
    url: str


class FeedRequest(Struct, frozen=True):
    """Answered by a `readings.FeedReading`."""

    body: bytes
    content_type: str
    url: str


class PageRequest(Struct, frozen=True):
    """Answered by a `pages.PageReading` (task "page"), `PageLook` ("look_page"), `PagePreviewAnswer` ("preview_page").

    memory: from the last check; None before the first. shared: keys of blocks that the host's other pages share
    (`sites.shared_keys`), which are furniture. noise: keys that the user marked (`noise.noise_keys`). bar: the
    threshold, clamped to LOWEST_BAR and HIGHEST_BAR. url: the page's address after redirects. at: the time in
    milliseconds; 0 if unknown, and only checks count then. number: of the check, including checks that needed no
    reading; 0 if each check is read. was: the page's first format ("html" or one of `readings.FORMATS`); "" allows any.
    """

    body: bytes
    content_type: str
    url: str
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
    """Answered by the keys that mark blocks with these texts as noise (`noise.noise_keys`)."""

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
    """Answered by a `Findings`: the places of a text in a page's memory, and in its current body.

    memory: of the page; None before the first check. body: None if it was not fetched again.
    """

    text: str
    memory: bytes | None = None
    body: bytes | None = None
    content_type: str = ""
    selector: str | None = None
    ignore: tuple[str, ...] = ()


class Spot(Struct, frozen=True):
    """A block that has the text; `place` counts from 1. aside: why it is not content; "" if it is.

    known: for a current block, "same" if at most masked parts differ from the reported state, "seen" if a check saw it
    without a report, "" if it is new.
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


class Withheld(Struct, frozen=True):
    """An added or removed block that was not reported, or counted little, with the reason in a user's words.

    text: the block, at most 200 characters. rule: "it changed in earlier looks too", "furniture: footer", "below the
    last paragraph", ... key: the block's key, for feedback. score: its weight.
    """

    text: str
    rule: str
    key: str
    came: bool
    score: float = 0.0


class PageLook(Struct, frozen=True):
    """One check of a page, read and judged.

    trouble: the check failed, as this was not the page; `memory` is then the old one. content, its hashes: set for
    `baseline`, `changed` and `moved` only; summary: for the last two.
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
