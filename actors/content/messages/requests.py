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
"""The score from which a difference of a page is told, unless the user has set another bar."""
LOWEST_BAR, HIGHEST_BAR = 0.2, 0.9


class DetectRequest(Struct, frozen=True):
    """Answered by a `detection.Finding`."""

    body: bytes
    content_type: str
    url: str


class FeedRequest(Struct, frozen=True):
    """Answered by an `entries.FeedReading`."""

    body: bytes
    content_type: str
    url: str


class PageRequest(Struct, frozen=True):
    """Answered by a `pages.PageReading` (task "page"), `PageLook` ("look_page"), `PagePreviewAnswer` ("preview_page").

    `memory` is what the last look returned; None before the first. `shared` are the keys of blocks that the other
    pages of this host have in common (`sites.shared_keys`): furniture. `noise` are keys of what the user has marked
    (`noise.noise_keys`). `bar` is the score from which a change is told, taken as LOWEST_BAR to HIGHEST_BAR. `url` is
    where the page was found, after redirects. `at` is when, in milliseconds; 0 where nobody knows: then only looks
    count. `number` is that of the look, which rises also with looks that need no reading; 0 where each look is read.
    `was` is the format that the page had at first ("html", or one of `plain.FORMATS`); "" when it may have any.
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
    """Answered by the `StandingValues` of a page's memory. exact: the page is JSON, which a program wrote."""

    memory: bytes
    exact: bool = False


class KeysRequest(Struct, frozen=True):
    """Answered by the keys by which blocks with these texts are known as noise (`noise.noise_keys`)."""

    texts: tuple[str, ...]


class SelectorsRequest(Struct, frozen=True):
    """Answered by a list of `Fault`, empty when all of them are selectors."""

    selector: str | None
    ignore: tuple[str, ...]


class Fault(Struct, frozen=True):
    """A selector that is none: which (its number in `ignore`, None for `selector`), and why."""

    index: int | None
    reason: str


class PagePreviewAnswer(Struct, frozen=True):
    """A page as it would be watched, or why selectors can choose nothing of it: the document has no elements."""

    page: PagePreview | None
    no_parts: str = ""


class FindRequest(Struct, frozen=True):
    """Answered by a `Findings`: where a text stands in what is remembered of a page, and in its body of today.

    memory: of the page; None before the first look. body: None when nobody looked again.
    """

    text: str
    memory: bytes | None = None
    body: bytes | None = None
    content_type: str = ""
    selector: str | None = None
    ignore: tuple[str, ...] = ()


class Spot(Struct, frozen=True):
    """A block that has the text; `place` counts from 1. aside: why it does not count as content; "" when it does.

    known: of a block of today: "same" when it differs from the told state in what is masked at most, "seen" when a look
    has seen it and did not tell it, "" when it is new.
    """

    place: int
    text: str
    aside: str = ""
    known: Literal["", "same", "seen"] = ""


class Findings(Struct, frozen=True):
    """Where the text stands. told: in the state of the page that was last told. now: in the part that is watched today.

    elsewhere: in the rest of the page today. cut: not all that was told is remembered. trouble: why the body is not
    what one came for.
    """

    told: Spot | None = None
    now: Spot | None = None
    elsewhere: Spot | None = None
    cut: bool = False
    trouble: str | None = None


class FrameRequest(Struct, frozen=True):
    """Answered by a list of `frames.Frame`. name: what the stream calls this kind of event."""

    text: str
    url: str
    name: str = ""


class Withheld(Struct, frozen=True):
    """A block that came or went and was not told, or counted for little: why, in words that a user reads.

    text: the block, at most 200 characters. rule: "it changed in earlier looks too", "furniture: footer",
    "below the last paragraph", ... key: the block's key, by which feedback can name it. score: what it weighed.
    """

    text: str
    rule: str
    key: str
    came: bool
    score: float = 0.0


class PageLook(Struct, frozen=True):
    """One look at a page, read and judged.

    `trouble` set means a failed look: the page was not the page; `memory` is then the old one. `content` and its hashes
    are filled in for `baseline`, `changed` and `moved` only, `summary` for the last two.
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
    """What made a change one: the blocks that counted, the weightiest first; `rule` is empty."""
    reverted: bool = False
    """The page goes back to what was told before."""
    soon: bool = False
    """A look within a minute settles a doubt."""
    unsettled: bool = False
    """The same page once more may be told: it must be read again even if it stays as it is."""
    moved_to: str = ""
    """Of a page that has moved: the address to which it now leads, "" where a login stands in its place."""
    remark: str = ""
    """What is to be known of how the page is watched: a sentence for the source's health, which it costs nothing."""
