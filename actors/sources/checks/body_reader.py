"""The reader of a polled tier: turns a fetched body into drafts and the memory to store.

A source may also have lost its type: a feed that is now a login page, a page that is now a PDF or a feed. Such a source
yields nothing more and does not recover, unlike a challenge, a queue or an error page.
"""

from __future__ import annotations

import re
from typing import Final, Literal, NamedTuple, Protocol, TypeVar

import msgspec
from msgspec import Struct

from actors.content.messages.readings import FORMATS, FeedReading, Finding, is_pdf, is_same
from actors.content.messages.requests import BodyRequest
from actors.egress.failures import Blame, CheckFailed, ReadingStopped
from actors.egress.http import FetchedResponse
from actors.sources.schedule.cadence import Hints
from actors.world import Jail, TaskRefused, WorkerDied, WorkerTooSlow
from storage.records.event import Draft
from storage.records.identity import Millis, SourceId
from storage.records.source import Source
from storage.records.trail import Note

Answer = TypeVar("Answer")
_PDF = 8
"""Factor for a PDF, compared with a page."""
_ORDINARY = 1 << 20
"""Bytes. A feed of this size takes up to half a second of a shared core."""


class BodyReading(Struct, frozen=True):
    """The content of a body. `drafts` are oldest first; `base` None: the memory stays as it is.

    `changed` feeds the cadence; `again_soon` requests another check at the floor; after an `unsettled` one the next
    check reads even an equal body, since text that stays may be reported. `times`: the source's own dates of its new
    entries; at the first check, of all entries. `note` is for explanations; None if empty. `title`: the page's or
    feed's own. `remark`: a sentence for the health that costs nothing. `files`: a sitemap index's files to read.
    `watched_since`: the first check of the page as it is watched now; 0 if not needed or unknown.
    """

    drafts: tuple[Draft, ...]
    base: bytes | None
    changed: bool
    hints: Hints
    again_soon: bool = False
    unsettled: bool = False
    times: tuple[Millis, ...] = ()
    note: Note | None = None
    title: str = ""
    remark: str = ""
    files: tuple[str, ...] = ()
    watched_since: int = 0


class BodyCheck(NamedTuple):
    """A body to read against the memory `base` (b"" at first) of the last success, `since`. number: counts checks."""

    source: Source
    base: bytes
    fetched: FetchedResponse
    at: Millis
    since: Millis | None = None
    number: int = 0


class BodyReader(Protocol):
    """Reads a polled tier's bodies. One for all its sources."""

    accept: str
    robots: bool

    async def read(self, jail: Jail, check: BodyCheck) -> BodyReading:
        """Read a body. Raises CheckFailed."""

    async def first(self, jail: Jail, check: BodyCheck, known: FeedReading | None) -> BodyReading:
        """Read the body that classified a source; `known` is the reading from detection. Raises CheckFailed."""

    def forget(self, source: SourceId) -> None: ...


async def in_jail(
    jail: Jail, task: str, request: object, answer: type[Answer], *, deadline: float | None = None
) -> Answer:
    try:
        encoded = await jail.call(task, msgspec.msgpack.encode(request), deadline=deadline)
        return msgspec.msgpack.decode(encoded, type=answer)
    except TaskRefused as error:
        raise CheckFailed(Blame.CONTENT, error.reason) from None
    except WorkerTooSlow:
        reason = "parse_timeout: reading the body took too long and was stopped"
        raise ReadingStopped(reason, too_slow=True) from None
    except WorkerDied:
        reason = "parse_killed: reading the body took too much memory and was stopped"
        raise ReadingStopped(reason, too_slow=False) from None


def feed_deadline(deadline: float, body: bytes) -> float:
    """Return the seconds for reading a body as a feed: more for a large one, since each entry takes time."""
    return max(deadline * (1 + len(body) / _ORDINARY), page_deadline(deadline, body))


def page_deadline(deadline: float, body: bytes) -> float:
    """Return the seconds for reading a body as a page: more for a PDF, whose pages take 25 ms each."""
    return deadline * (_PDF if is_pdf(body) else 1)


def hints_of_response(fetched: FetchedResponse) -> Hints:
    return Hints(max_age=fetched.max_age or 0.0)


_HEAD: Final = 4096
_OTHER: Final = re.compile(rb"^[\s\x00\xef\xbb\xbf\xfe\xff]*[{\[]|<(?:rss|feed|rdf:RDF)[\s>]")
"""JSON and feeds, near their beginning."""


def may_be_no_page(body: bytes) -> bool:
    """Return whether a body may be a feed or JSON, which the page reader would accept as a page."""
    return _OTHER.search(body, 0, _HEAD) is not None


async def lost_type(
    jail: Jail, fetched: FetchedResponse, original: Literal["feed", "html"], format: str = "html"
) -> CheckFailed | None:
    """Return the failure of a body that is surely no feed, or no page of `format`, any more. Raises CheckFailed."""
    if not fetched.body.strip():
        return None
    finding = await in_jail(jail, "detect", BodyRequest(fetched.body, fetched.content_type, fetched.url), Finding)
    expected = "feed" if original == "feed" else FORMATS.get(format, "page")
    if finding.trouble is not None:
        if original == "html" and format not in FORMATS:
            return None  # its own reader knows more
        if finding.trouble.kind != "login":
            return CheckFailed(Blame.CONTENT, f"not the {expected} itself: {finding.trouble}", status=fetched.status)
    is_same_type = finding.type == original and (original == "feed" or is_same(finding.format, format))
    if is_same_type or (original == "feed" and finding.is_broken_feed):
        return None
    other = f"a {finding.trouble}" if finding.trouble else "neither a feed nor a page"
    is_page = finding.type == "html" and finding.format not in FORMATS
    kind = "a feed" if finding.type == "feed" else "a page" if is_page else other
    reason = f"type lost: this was a {expected} and is now {kind} ({finding.evidence})"
    return CheckFailed(Blame.REMOTE_PERMANENT, reason, status=fetched.status)
