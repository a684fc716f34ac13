"""One polite request for a source: robots.txt, the host's turn, a slot among all checks, then the guarded client.

The reader of a polled tier: turns a fetched body into drafts and the memory to store. A source may also have lost its
type: a feed that is now a login page, a page that is now a PDF or a feed. Such a source yields nothing more and does
not recover, unlike a challenge, a queue or an error page.
"""

from __future__ import annotations

import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Final, Literal, NamedTuple, Protocol, TypeVar

import msgspec
from msgspec import Struct

from actors.content.messages import FORMATS, BodyRequest, FeedReading, Finding, is_pdf, is_same
from actors.egress.failures import Blame, CheckFailed, ReadingStopped
from actors.egress.hosts import TurnRequest
from actors.egress.http import FetchedResponse, FetchRequest, RedirectElsewhere
from actors.egress.url import Url, parse_url
from actors.errors import UrlRefused
from actors.practice import DOCUMENTS, kind_of_url
from actors.sources.checks.access import Renewal, RequestAccess
from actors.sources.ports import Ports
from actors.sources.schedule.cadence import Hints
from actors.world import Jail, TaskRefused, WorkerDied, WorkerNotStarted, WorkerTooSlow
from storage.records.checks import Note
from storage.records.event import Draft
from storage.records.identity import Millis, SourceId
from storage.records.source import Source, Validators

NO_VALIDATORS = Validators()


async def fetch(
    ports: Ports,
    claim: TurnRequest,
    text: str,
    accept: str,
    *,
    robots: bool,
    renewal: Renewal,
    validators: Validators = NO_VALIDATORS,
) -> FetchedResponse:
    """Return the response (200 or 304). Raises CheckFailed, also when robots.txt forbids the check, and UrlRefused.
    renewal: has the cookies to send when the turn comes, and gets new ones before the body arrives, also from a failing
    response. Each redirect takes a turn at its host.
    """
    url, hops = parse_url(text, schemes=("http", "https")), tuple[str, ...]()
    access = RequestAccess(ports, url, renewal)
    while True:
        if robots:
            await check_robots(ports, claim, url)
        try:
            async with at_host(ports, claim, url, asked=claim.interactive), ports.check_slots:
                request = FetchRequest(
                    url,
                    etag=validators.etag,
                    last_modified=validators.last_modified,
                    validated=validators.url,
                    accept=accept,
                    user_headers=access.headers(),
                    body=access.body,
                    steps=claim.steps,
                    on_cookies=access.on_set_cookies,
                )
                return await ports.egress.http.get(request, hops)
        except RedirectElsewhere as redirect:
            if validators.url is None and redirect.url.origin != url.origin:
                validators = NO_VALIDATORS  # validators identify the requester, and may be of another origin
            url, hops = redirect.url, redirect.hops
            access.url = url


@asynccontextmanager
async def at_host(ports: Ports, claim: TurnRequest, url: Url, *, asked: bool) -> AsyncIterator[None]:
    """Run a block with one request in the host's turn; the uplink monitor and the host's breaker learn the outcome, so
    that the host can rest all its sources. Raises HostOpen, and the block's CheckFailed as the monitor reads it.
    """
    async with ports.egress.hosts.turn(url.host, claim):
        try:
            yield
        except CheckFailed as error:
            failure = ports.egress.uplink.failed(url.host, error, interactive=asked)
            if failure.blame is Blame.REMOTE_TRANSIENT:
                ports.egress.hosts.failed(url.host, claim.name)
            elif failure.blame is Blame.THROTTLED:
                ports.egress.hosts.hold(url.host, failure.hold)
            elif failure.status is not None:
                ports.egress.hosts.succeeded(url.host)  # an answer, though an unwanted one
            raise failure from None
        except RedirectElsewhere:
            _record_answer(ports, url)
            raise
        _record_answer(ports, url)


def _record_answer(ports: Ports, url: Url) -> None:
    ports.egress.uplink.answered(url.host)
    ports.egress.hosts.succeeded(url.host)


def host_of(text: str) -> str:
    try:
        return parse_url(text).host
    except UrlRefused:
        return ""


def as_failure(error: CheckFailed | UrlRefused) -> CheckFailed:
    if isinstance(error, CheckFailed):
        return error
    return CheckFailed(Blame.REMOTE_PERMANENT, f"refused by the guard ({error.rule}): {error.detail}")


async def check_robots(ports: Ports, claim: TurnRequest, url: Url) -> None:
    """Raise CheckFailed if robots.txt forbids a check or is unavailable; pass its crawl delay to the host."""
    verdict = await ports.egress.robots.verdict(url, claim)
    if not verdict.allowed:
        raise verdict.refusal()
    ports.egress.hosts.crawl_delay(url.host, verdict.crawl_delay, url.origin)


def practice_response(url: str, step: int, validators: Validators) -> FetchedResponse:
    """Return the document at a practice source's URL after `step` changes; a 304 without a body if it is known."""
    document, etag = DOCUMENTS[kind_of_url(url)], f'"practice-{step}"'
    body, status = (b"", 304) if validators.etag == etag else (document.at(step), 200)
    headers, size, media = {"etag": etag, "content-type": document.media}, len(body), document.media
    return FetchedResponse(url, status, headers, body, content_type=media, etag=etag, wire_bytes=size)


Answer = TypeVar("Answer")
_PDF = 8  # factor for a PDF, compared with a page
_ORDINARY = 1 << 20  # Bytes. A feed of this size takes up to half a second of a shared core.


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
    except WorkerNotStarted:
        reason = "parse_not_started: no parser process could start; the machine may be overloaded"
        raise ReadingStopped(reason, blame=Blame.LOCAL) from None
    except WorkerDied:
        reason = "parse_killed: reading the body took too much memory and was stopped"
        raise ReadingStopped(reason) from None


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
