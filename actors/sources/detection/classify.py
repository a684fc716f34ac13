"""Classification of a URL by one polite check, whose body also serves as the baseline.

Detection goes by the body. If a page advertises feeds, the best working one is watched instead; a ws:// or wss:// URL
is tried with a handshake, and a response with the Content-Type of a stream is one. Anything else is refused with a
reason: a PDF, an image, an empty body, a login wall, a 404. Advertised feeds are fetched once and their own links
never followed, so two that name each other make no loop.

A declared page consults robots.txt before the first request, other URLs once the body has turned out to be a page.
Feeds are exempt.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from http import HTTPStatus
from typing import Final, NamedTuple, TypeAlias

import msgspec
import trio
from msgspec import Struct
from msgspec.structs import replace

from actors.content.messages.readings import FeedLink, FeedReading, Finding
from actors.content.messages.requests import BodyRequest
from actors.egress.failures import Blame, LookFailed, LookRefused, NotRendered, RobotsForbids
from actors.egress.hosts import INTERACTIVE, TurnRequest
from actors.egress.http import FetchedResponse, StreamFound
from actors.egress.stream_lines import KIND_NAMES, kind_of
from actors.egress.url import Url, parse_url
from actors.errors import DomainError, Overloaded, Unprocessable, UrlRefused
from actors.messages.previews import FilledBy, Rendering, RobotsVerdict
from actors.sources.checks.access import (
    SIGNED_OUT_STATUSES,
    Access,
    Renewal,
    RequestAccess,
    access_to,
    asks_password,
    cache_key,
)
from actors.sources.checks.body_reader import feed_deadline, in_jail
from actors.sources.checks.fetch import fetch
from actors.sources.checks.rendering import render_page, without_screenshot
from actors.sources.checks.source_fetch import PREVIEW_MAX_AGE, rendering_key
from actors.sources.detection.handshake import Greeting, greet
from actors.sources.ports import LiveSource, Ports, new_version
from actors.sources.schedule.budgets import RENDERED
from storage.errors import StorageError
from storage.records.identity import Millis
from storage.records.secrecy import without_secrets
from storage.records.source import Detection, Render, Source
from storage.records.tiers import SOCKETS, SourceType

MOST_SHOWN: Final = 3
LEAST_JSON: Final = 200
"""Bytes of JSON that may have filled a page; less is a setting or a count."""
EMPTY_PAGE: Final = "This page is empty without JavaScript"
RENDERING_COST: Final = f"each check costs as much as {RENDERED} plain ones"


def needs_browser(render: Render, finding: Finding, access: Access) -> bool:
    if finding.format != "html" or access.body is not None:
        return False
    return render == "always" or (render == "auto" and bool(finding.shell))


def rendering_of(sign: str, fetched: FetchedResponse) -> Rendering:
    assert fetched.rendered is not None, "a browser has shown it"
    sources = tuple(FilledBy(url.text, size) for url, size in _watchable_urls(fetched))[:MOST_SHOWN]
    text = (
        f"{EMPTY_PAGE} ({sign}), so a browser shows it: {RENDERING_COST}."
        if sign
        else f"A browser shows this page: {RENDERING_COST}."
    )
    if sources:
        text += (
            f" It fills itself from {sources[0].url} ({_size(sources[0].size)} of JSON), which needs only plain checks."
        )
    return Rendering(text, sign, done=True, costs=RENDERED, filled_by=sources)


def _watchable_urls(fetched: FetchedResponse) -> list[tuple[Url, int]]:
    """Return the JSON URLs that filled a page and may be watched; a page may name any address."""
    by_url: dict[str, tuple[Url, int]] = {}
    for one in fetched.rendered.filled_by if fetched.rendered is not None else ():
        try:
            url = parse_url(one.url, schemes=("http", "https"))
        except UrlRefused:
            continue
        if one.size >= LEAST_JSON:
            by_url.setdefault(url.text, (url, one.size))
    return sorted(by_url.values(), key=lambda pair: -pair[1])


def _size(size: int) -> str:
    return f"{size / 1024:.0f} KB" if size >= 1024 else f"{size} bytes"


CANDIDATES: Final = 3
"""Advertised feeds to try before watching the page itself."""
CANDIDATE_WITHIN: Final = 10.0
"""Seconds for each, so that a dead feed does not block the page."""
ACCEPT: Final = (
    "text/html, application/xhtml+xml, application/atom+xml, application/rss+xml, application/feed+json, */*;q=0.5"
)


_ADVICE: Final = {
    401: "; it needs a login: give the source the headers that sign you in (a cookie, a token)",
    403: "; the site blocks programs: look for a feed, or ask its owner",
    404: "; check the URL in a browser",
    410: "; it is gone for good: look for where it moved",
    451: "; it is withheld for legal reasons",
}


class ClassifyRequest(Struct, frozen=True):
    """How to classify. type: overrides detection. narrowed: only a part of the page is wanted, so its feeds are not.

    recent: a body from the last minute will do. listen: seconds to wait for a server's first frames. subprotocols:
    offered in a WebSocket's handshake. headers: the user's own. render: whether a browser shows a page, once
    `wait_for` matches, and with `screenshots` takes a picture.
    """

    type: SourceType | None = None
    narrowed: bool = False
    recent: bool = False
    listen: float = 0.0
    subprotocols: tuple[str, ...] = ()
    headers: str | None = None
    render: Render = "never"
    wait_for: str | None = None
    screenshots: bool = False

    def __repr__(self) -> str:
        return f"ClassifyRequest({self.type})"


class FetchContext(NamedTuple):
    """The context of a fetch: its turn at the host, whether a body of the last minute will do (`allow_cached`), the
    user's headers.

    renewal: tracks renewed cookies.
    """

    claim: TurnRequest
    allow_cached: bool
    headers: str | None
    access: Access
    renewal: Renewal

    def after(self, fetched: FetchedResponse) -> FetchContext:
        return self._replace(access=self.access.with_stored(fetched.cookies))


FetchedBody: TypeAlias = tuple[FetchedResponse, Finding, Millis]
"""A body, its classification, and the time of its fetch."""


class Classification(Struct, frozen=True):
    """The result of detection, and the type to watch it as: the requested one, if any.

    `fetched` is the body for the first reading, from the moment `at`; for a WebSocket there is `greeting` instead.
    `feed` is a feed's reading, `robots` the verdict of robots.txt on a page, and `rendering` the facts about browsers.
    """

    type: SourceType
    detection: Detection
    watch_url: str
    fetched: FetchedResponse | None
    at: Millis
    robots: RobotsVerdict | None = None
    greeting: Greeting | None = None
    feed: FeedReading | None = None
    rendering: Rendering | None = None

    def __repr__(self) -> str:
        return f"Classification({self.type} {self.watch_url!r})"


async def classify(ports: Ports, url: Url, request: ClassifyRequest, renewal: Renewal) -> Classification:
    """Classify a URL for a user. renewal: tracks the cookies of the headers.

    Raises UrlRefused, Unprocessable (it can't be watched, or not as wanted), Overloaded (our own network is at fault).
    Errors that may pass have `may_pass` set, and a LookFailed as their cause.
    """
    try:
        return await detect(ports, url, request, INTERACTIVE, renewal)
    except LookFailed as failure:
        if failure.status in SIGNED_OUT_STATUSES:
            renewal.reject()
        raise domain_error(failure, url.text) from failure


async def detect(
    ports: Ports, url: Url, request: ClassifyRequest, claim: TurnRequest, renewal: Renewal
) -> Classification:
    """Classify a URL on a given turn. Raises as `classify`, but LookFailed for a failed check."""
    if url.scheme in SOCKETS and request.type not in (None, "push"):
        raise Unprocessable(f"a {url.scheme} URL can only be watched as push", "body.type", request.type)
    access = access_to(url, request.headers)
    if url.scheme in SOCKETS or request.type == "push":
        if access.body is not None:
            raise Unprocessable("headers: a stream takes no POST", "body.headers")
        return await _detect_stream(ports, url, request, claim, renewal)
    context = FetchContext(claim, request.recent, request.headers, access, renewal)
    try:
        fetched, finding, at = await _fetch(ports, url.text, context, as_page=request.type == "html")
    except StreamFound as stream:
        if request.type is not None:
            reason = f"it is a stream ({stream.content_type[:100]}): only push watches it"
            raise Unprocessable(reason, "body.type", request.type) from None
        if request.listen:
            return await _detect_stream(ports, url, request, claim, renewal)
        detection = stream_detection(stream.url, stream.content_type)
        return Classification("push", detection, url.text, None, ports.world.now())
    context = context.after(fetched)
    if needs_browser(request.render, finding, context.access) and request.type != "feed":
        return await _detect_rendered(ports, url, request, context, (fetched, finding, at))
    if finding.refusal is not None and request.type is None:
        raise Unprocessable(f"{finding.refusal} Seen: {_evidence_of(finding, fetched)}.", "body.url", url.text)
    if finding.type == "feed" and request.type != "html":
        detection = detection_of("feed", request.type, finding, fetched)
        return Classification("feed", detection, url.text, fetched, at, feed=finding.feed)
    return await _detect_page(ports, url, request, context, (fetched, finding, at))


async def _detect_rendered(
    ports: Ports, url: Url, request: ClassifyRequest, context: FetchContext, body: FetchedBody
) -> Classification:
    """Classify a page that needs a browser: as an advertised feed if one works, else as the rendered page.

    Without a browser an empty page is refused, or watched as it is if it has some text.
    """
    fetched, finding, at = body
    if request.type is None and not request.narrowed and request.render == "auto" and finding.feeds:
        await _check_robots(ports, fetched.url, finding.feeds, context.claim)
        feed, _ = await _first_working_feed(ports, finding.feeds, fetched, context)
        if feed is not None:
            return feed
    robots = await _check_robots(ports, fetched.url, finding.feeds, context.claim)
    try:
        rendered, at = await _render(ports, fetched.url, context, request)
    except NotRendered as failure:
        if request.render == "always" or failure.blame is not Blame.LOCAL:
            raise
        rendering = Rendering(
            f"{EMPTY_PAGE} ({finding.shell}), and {failure.reason}.",
            finding.shell,
            done=False,
            costs=RENDERED,
            filled_by=(),
        )
        if finding.refusal is not None and request.type is None:
            advice = finding.refusal if finding.feeds else "Look for the site's feed, or for the JSON that fills it."
            raise Unprocessable(f"{rendering.says} {advice}", "body.url", url.text) from None
        return msgspec.structs.replace(await _detect_page(ports, url, request, context, body), rendering=rendering)
    rendered_finding = await detect_body(ports, rendered)
    if rendered_finding.refusal is not None and request.type is None:
        raise Unprocessable(
            f"{rendered_finding.refusal} Seen by a browser: {_evidence_of(rendered_finding, rendered)}.",
            "body.url",
            url.text,
        )
    rendering = rendering_of(finding.shell, rendered)
    detection = detection_of("html", request.type, rendered_finding, rendered, rendering.says.rstrip("."))
    return Classification("html", detection, url.text, rendered, at, robots, rendering=rendering)


async def _render(
    ports: Ports, text: str, context: FetchContext, request: ClassifyRequest
) -> tuple[FetchedResponse, Millis]:
    """Return a rendered page and its time; robots.txt already allows it. Raises LookFailed, UrlRefused."""
    key = cache_key(text, context.headers, rendering_key(request.wait_for))
    if context.allow_cached and (cached := ports.body_cache.find(key, PREVIEW_MAX_AGE)) is not None:
        return cached.fetched, cached.at
    rendered = await render_page(
        ports,
        context.claim,
        text,
        context.access,
        request.wait_for,
        robots=False,
        screenshot=request.screenshots,
        renewal=context.renewal,
    )
    at = ports.world.now()
    ports.body_cache.put(key, without_screenshot(rendered), at)
    return rendered, at


async def _detect_page(
    ports: Ports, url: Url, request: ClassifyRequest, context: FetchContext, body: FetchedBody
) -> Classification:
    fetched, finding, at = body
    robots = await _check_robots(ports, fetched.url, finding.feeds, context.claim)
    note = ""
    if finding.type == "html" and (request.type == "feed" or (request.type is None and not request.narrowed)):
        feed, note = await _first_working_feed(ports, finding.feeds, fetched, context)
        if feed is not None:
            return feed
    elif finding.feeds and request.type is None:
        note = "watched as a page, because a part of it was chosen"
    if request.type == "feed":
        reason = "; ".join(filter(None, (_evidence_of(finding, fetched), note)))
        raise Unprocessable(f"this is no feed: {reason}", "body.type", request.type)
    if request.headers and asks_password(fetched.body):
        note = "; ".join(filter(None, (note, "it asks for a password: do the headers sign in?")))
    detection = detection_of("html", request.type, finding, fetched, note)
    return Classification("html", detection, url.text, fetched, at, robots)


async def _fetch(ports: Ports, text: str, context: FetchContext, *, as_page: bool = False) -> FetchedBody:
    """Return a body, its classification and its time. as_page: robots.txt is asked first. Raises LookFailed,
    UrlRefused."""
    key = cache_key(text, context.headers)
    cached = ports.body_cache.find(key, PREVIEW_MAX_AGE) if context.allow_cached else None
    if cached is not None:
        fetched, at = cached.fetched, cached.at
    else:
        fetched = await fetch(
            ports, context.claim, text, accept=ACCEPT, robots=as_page, access=context.access, renewal=context.renewal
        )
        at = ports.world.now()
        ports.body_cache.put(key, fetched, at)
    return fetched, await detect_body(ports, fetched), at


async def detect_body(ports: Ports, fetched: FetchedResponse) -> Finding:
    """Return a body's classification. Raises LookFailed."""
    request = BodyRequest(fetched.body, fetched.content_type, fetched.url)
    deadline = feed_deadline(ports.settings.parse_deadline, fetched.body)
    return await in_jail(ports.world.jail, "detect", request, Finding, deadline=deadline)


async def _first_working_feed(
    ports: Ports, links: Sequence[FeedLink], page: FetchedResponse, context: FetchContext
) -> tuple[Classification | None, str]:
    failures: list[str] = []
    for link in links[:CANDIDATES]:
        reason = f"no answer within {CANDIDATE_WITHIN:g} s"
        with trio.move_on_after(CANDIDATE_WITHIN):
            try:
                fetched, finding, at = await _fetch(ports, link.url, context)
                context = context.after(fetched)
            except LookFailed as failure:
                if failure.blame is Blame.LOCAL:
                    raise
                reason = failure.reason
            except UrlRefused as refusal:
                reason = f"refused by the guard ({refusal.rule})"
            else:
                if finding.type == "feed":
                    notes = (f"the page advertises a feed at {link.url}: {_evidence_of(finding, fetched)}", *failures)
                    evidence = without_secrets("; ".join(notes))
                    detection = Detection(
                        "feed",
                        finding.confidence,
                        evidence,
                        page.url,
                        fetched.content_type,
                        link.url,
                        format=finding.format,
                    )
                    return Classification("feed", detection, link.url, fetched, at, feed=finding.feed), ""
                reason = f"it is no feed ({finding.evidence})"
        failures.append(f"{link.url} does not work: {reason}")
    return None, "; ".join(failures)


async def _check_robots(ports: Ports, text: str, feeds: Sequence[FeedLink], claim: TurnRequest) -> RobotsVerdict:
    """Return the verdict of robots.txt on a page. Raises Unprocessable if it forbids the page, LookFailed."""
    verdict = await ports.egress.robots.verdict(parse_url(text), claim)
    if verdict.blame is Blame.REMOTE_TRANSIENT:
        raise verdict.refusal()
    if not verdict.allowed:
        advice = f"; its feed may be watched instead: {feeds[0].url}" if feeds else ""
        raise Unprocessable(f"robots.txt forbids watching this page: {verdict.why}{advice}", "body.url", text)
    return RobotsVerdict(True, verdict.crawl_delay, verdict.why)


async def _detect_stream(
    ports: Ports, url: Url, request: ClassifyRequest, claim: TurnRequest, renewal: Renewal
) -> Classification:
    opened = RequestAccess(ports, url, access_to(url, request.headers), renewal)
    try:
        greeting = await greet(ports, claim, opened, request.listen, request.subprotocols)
    except LookFailed as failure:
        if url.scheme in SOCKETS or failure.status != HTTPStatus.OK:
            raise
        reason = f"it can't be watched as push: {failure.reason}"
        raise Unprocessable(reason, "body.type", request.type) from None
    if greeting.content_type:
        detection = stream_detection(url.text, greeting.content_type)
    else:
        detection = websocket_detection(url.text, request.subprotocols, greeting.subprotocol)
    return Classification("push", detection, url.text, None, ports.world.now(), greeting=greeting)


def websocket_detection(url: str, offered: Sequence[str], chosen: str | None) -> Detection:
    evidence = "the server accepted a WebSocket handshake (101)"
    if offered:
        evidence += f" and chose the subprotocol {chosen}" if chosen else " and chose none of the subprotocols"
    return Detection("push", "high", evidence, url, "", None)


def stream_detection(url: str, content_type_text: str) -> Detection:
    """Return the detection for a server with a stream over HTTP. content_type_text: begins with its Content-Type."""
    content_type = content_type_text.partition(":")[0][:100]
    kind = kind_of(content_type)
    description = KIND_NAMES[kind] if kind is not None else "a stream"
    return Detection("push", "high", f"the server answered with {content_type}: {description}", url, content_type, None)


def detection_of(
    type: SourceType, requested: SourceType | None, finding: Finding, fetched: FetchedResponse, note: str = ""
) -> Detection:
    evidence = without_secrets("; ".join(filter(None, (_evidence_of(finding, fetched), note))))
    forced = requested is not None and requested != finding.type
    if forced:
        evidence = f"watched as {requested}, as asked for; by itself: {evidence}"
    detection = Detection(finding.type or type, finding.confidence, evidence, fetched.url, fetched.content_type)
    has_password, sitemap = asks_password(fetched.body), finding.sitemap and not forced
    return msgspec.structs.replace(
        detection, forced=forced, format=finding.format, asks_password=has_password, sitemap=sitemap
    )


def _evidence_of(finding: Finding, fetched: FetchedResponse) -> str:
    """Return the evidence from the body, with the final URL after redirects."""
    return f"{finding.evidence}; redirected to {fetched.url}" if fetched.hops else finding.evidence


def domain_error(failure: LookFailed, url: str) -> DomainError:
    if isinstance(failure, LookRefused):
        return failure.refusal
    error = _domain_error(failure, url)
    error.may_pass = not (isinstance(failure, RobotsForbids) and failure.blame is Blame.REMOTE_PERMANENT)
    return error


def _domain_error(failure: LookFailed, url: str) -> DomainError:
    if isinstance(failure, NotRendered):
        return Unprocessable(f"it can't be watched now: {failure.reason}", "body.render")
    if isinstance(failure, RobotsForbids) and failure.blame is Blame.REMOTE_PERMANENT:
        return Unprocessable(f"robots.txt forbids watching this page: {failure.reason}", "body.url", url)
    if failure.blame is Blame.LOCAL:
        return Overloaded(f"our own network is in trouble: {failure.reason}", 60)
    if failure.retry_after is not None or failure.status in (429, 503):
        seconds = round(failure.retry_after or 60)
        return Overloaded(f"it can't be watched now: {failure.reason}; try again in {seconds} s", seconds)
    advice = _ADVICE.get(failure.status or 0, "")
    return Unprocessable(f"it can't be watched now: {failure.reason}{advice}", "body.url", url)


LONGEST_TITLE: Final = 200
_NUMBER: Final = re.compile(r"\d+")


def with_title(source: Source, title: str) -> Source:
    """Return a source with a newly found title, or unchanged if the title is known or empty.

    A title that differs only in numbers ("(3) Notices") counts as known; otherwise every check would save it.
    """
    title = " ".join(title.split())[:LONGEST_TITLE].rstrip()
    if not title or (source.found_title and _NUMBER.sub("", title) == _NUMBER.sub("", source.found_title)):
        return source
    return replace(source, found_title=title)


async def save_title(ports: Ports, live: LiveSource, title: str) -> None:
    """Save a new title. If that fails, the next check of a changed body retries."""
    after = with_title(live.source, title)
    if after is live.source:
        return
    version = new_version(ports.world)
    try:
        await ports.storage.sources.update(after, ports.storage.lease, version, before=live.source)
    except StorageError as error:
        ports.world.log("title.unsaved", source_id=after.id, error=str(error))
    else:
        live.source, live.version = after, version
