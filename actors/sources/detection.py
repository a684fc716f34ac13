"""Detection of a URL's tier by one polite check, or later if that fails. Its body also serves as the baseline.

Detection goes by the body. If a page advertises feeds, the best working one is watched instead; a ws:// or wss:// URL
is tried with a handshake, and a response with the Content-Type of a stream is one. Anything else is refused with a
reason. Advertised feeds are fetched once and their own links never followed, so two that name each other make no loop.
A declared page consults robots.txt before the first request, other URLs once the body has turned out to be a page.
Feeds are exempt.

A source may be added on request although the first check failed (`Detection.pending`). Its own actor retries as for any
source until a check succeeds; that check classifies the URL and makes the baseline.
"""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Sequence
from contextlib import AsyncExitStack, suppress
from dataclasses import dataclass
from functools import partial
from http import HTTPStatus
from typing import Any, Final

import trio
from msgspec import Struct
from msgspec.structs import replace

from actors.content.messages import BodyRequest, FeedLink, FeedReading, Finding
from actors.egress.event_stream import EventStream, open_stream
from actors.egress.failures import Blame, CheckFailed, CheckRefused, NotRendered, RobotsForbids
from actors.egress.hosts import INTERACTIVE, TurnRequest
from actors.egress.http import MOST_REDIRECTS, FetchedResponse, RedirectElsewhere, StreamFound
from actors.egress.stream_lines import KIND_NAMES, kind_of
from actors.egress.url import Url, parse_url
from actors.egress.websocket import Frames, open_websocket
from actors.errors import DomainError, Overloaded, Unprocessable, UrlRefused
from actors.messages.requests import DetectRequest, FilledBy, NewSource, Rendering, RobotsVerdict
from actors.sources.checks import progress
from actors.sources.checks.access import SIGNED_OUT_STATUSES, Renewal, RequestAccess, asks_password, cache_key
from actors.sources.checks.fetch import at_host, feed_deadline, fetch, in_jail
from actors.sources.checks.rendering import render_page, without_screenshot
from actors.sources.checks.source_fetch import PREVIEW_MAX_AGE, rendering_key
from actors.sources.health.score import flag_of
from actors.sources.ports import LiveSource, Ports, limits_of, new_version
from actors.sources.schedule.budgets import RENDERED
from actors.sources.schedule.cadence import START_INTERVAL
from storage.errors import StorageError
from storage.records.checks import Verdict, add_row, check_row
from storage.records.identity import Millis
from storage.records.message import message
from storage.records.secrecy import without_secrets
from storage.records.source import Detection, Health, Render, Source, SourceRuntime
from storage.records.tiers import SOCKETS, TIERS, SourceType

MOST_FRAMES: Final = 5


class Greeting(Struct, frozen=True):
    """The first frames, the subprotocol, the seconds waited, why the session ended, and a stream's content_type."""

    frames: tuple[str, ...] = ()
    subprotocol: str | None = None
    waited: float = 0.0
    ended: str | None = None
    content_type: str = ""


async def open_session(  # noqa: PLR0917  # where, how, and whose turn
    ports: Ports,
    stack: AsyncExitStack,
    claim: TurnRequest,
    request_access: RequestAccess,
    subprotocols: Sequence[str] = (),
    last_id: str = "",
) -> Frames | EventStream:
    """Open a session or a stream for as long as the stack lasts. Each request, redirects included, takes a turn at its
    host; the open connection holds none. Raises CheckFailed.
    """
    services = ports.egress.guard, ports.settings, ports.world
    on_cookies, sign = request_access.on_set_cookies, ports.egress.http.sign
    for _ in range(MOST_REDIRECTS + 1):
        url = request_access.url
        try:
            async with at_host(ports, claim, url, asked=claim.interactive), ports.check_slots:
                given = request_access.headers()
                if url.scheme in SOCKETS:
                    session = open_websocket(
                        url, *services, subprotocols=subprotocols, user_headers=given, on_cookies=on_cookies
                    )
                    return await stack.enter_async_context(session)
                stream = open_stream(
                    url, *services, last_id=last_id, user_headers=given, on_cookies=on_cookies, sign=sign
                )
                return await stack.enter_async_context(stream)
        except RedirectElsewhere as redirect:
            request_access.url = redirect.url
    raise CheckFailed(Blame.REMOTE_TRANSIENT, f"more than {MOST_REDIRECTS} redirects", status=302)


async def greet(
    ports: Ports, claim: TurnRequest, opened: RequestAccess, listen: float, subprotocols: Sequence[str] = ()
) -> Greeting:
    """Open a session, take at most `MOST_FRAMES` frames within `listen` seconds, close it. Raises CheckFailed."""
    frames: list[str] = []
    ended: str | None = None
    async with AsyncExitStack() as stack:
        session = await open_session(ports, stack, claim, opened, subprotocols)
        since = trio.current_time()
        with trio.move_on_after(listen):
            try:
                while listen and len(frames) < MOST_FRAMES:
                    frames += await session.receive()
            except CheckFailed as failure:
                ended = failure.reason
        waited = round(trio.current_time() - since, 1)
        content_type = session.says if isinstance(session, EventStream) else ""
        return Greeting(tuple(frames[:MOST_FRAMES]), session.subprotocol, waited, ended, content_type)


MOST_SHOWN: Final = 3
LEAST_JSON: Final = 200  # bytes of JSON that may have filled a page; less is a setting or a count
EMPTY_PAGE: Final = "This page is empty without JavaScript"
RENDERING_COST: Final = f"each check costs as much as {RENDERED} plain ones"


def rendering_of(sign: str, fetched: FetchedResponse) -> Rendering:
    sources = _watchable_sources(fetched)
    text = f"{EMPTY_PAGE} ({sign}), so a browser shows it" if sign else "A browser shows this page"
    text += f": {RENDERING_COST}."
    if sources:
        size = f"{sources[0].size / 1024:.0f} KB" if sources[0].size >= 1024 else f"{sources[0].size} bytes"
        text += f" It fills itself from {sources[0].url} ({size} of JSON), which needs only plain checks."
    return Rendering(text, sign, done=True, costs=RENDERED, filled_by=sources)


def _watchable_sources(fetched: FetchedResponse) -> tuple[FilledBy, ...]:
    """Return the largest JSON URLs that filled a page and may be watched; a page may name any address."""
    assert fetched.rendered is not None, "a browser has shown it"
    by_url: dict[str, FilledBy] = {}
    for answer in fetched.rendered.filled_by:
        with suppress(UrlRefused):
            url = parse_url(answer.url, schemes=("http", "https")).text
            if answer.size >= LEAST_JSON:
                by_url.setdefault(url, FilledBy(url, answer.size))
    return tuple(sorted(by_url.values(), key=lambda source: -source.size)[:MOST_SHOWN])


CANDIDATES: Final = 3  # advertised feeds to try before watching the page itself
CANDIDATE_WITHIN: Final = 10.0  # seconds for each, so that a dead feed does not block the page
ACCEPT: Final = (
    "text/html, application/xhtml+xml, application/atom+xml, application/rss+xml, application/feed+json, */*;q=0.5"
)


_ADVICE: Final = {
    401: "; it needs a login: give the source the headers that sign you in (a cookie, a token)",
    403: "; it wants a login, or blocks programs: give the headers that sign you in, or look for a feed",
    404: "; check the URL in a browser",
    410: "; it is gone for good: look for where it moved",
    451: "; it is withheld for legal reasons",
}


class ClassifyRequest(Struct, frozen=True):
    """How to classify. type: overrides detection. narrowed: only a part of the page is wanted, so its feeds are not.
    recent: a body from the last minute will do. listen: seconds to wait for a server's first frames. subprotocols: for
    a WebSocket. headers: the user's own. render: whether a browser shows a page, once `wait_for` matches, with
    `screenshots`.
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


def classify_request(
    asked: NewSource | DetectRequest | Source, type: SourceType | None, headers: str | None, **more: Any
) -> ClassifyRequest:
    narrowed, screenshots = asked.selector is not None or bool(asked.ignore), getattr(asked, "screenshots", False)
    return ClassifyRequest(
        type, narrowed, headers=headers, render=asked.render, wait_for=asked.wait_for, screenshots=screenshots, **more
    )


class Classification(Struct, frozen=True):
    """The result of detection. `type`: as requested, if it was. `fetched`: the body for the first reading, from the
    moment `at`; for a WebSocket there is `greeting` instead. `robots`: the verdict on a page. `rendering`: facts about
    browsers.
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
    """Classify a URL for a user. renewal: tracks the cookies of the headers. Raises UrlRefused, Unprocessable (it can't
    be watched, or not as wanted), Overloaded (our own network is at fault). Errors that may pass have `may_pass` set,
    and a CheckFailed as their cause.
    """
    try:
        return await detect(ports, url, request, INTERACTIVE, renewal)
    except CheckFailed as failure:
        if failure.status in SIGNED_OUT_STATUSES:
            renewal.reject()
        raise domain_error(failure, url.text) from failure


async def detect(
    ports: Ports, url: Url, request: ClassifyRequest, claim: TurnRequest, renewal: Renewal
) -> Classification:
    """Classify a URL on a given turn. Raises as `classify`, but CheckFailed for a failed check."""
    if url.scheme in SOCKETS and request.type not in (None, "push"):
        raise Unprocessable(f"a {url.scheme} URL can only be watched as push", "body.type", request.type)
    detector = _Detector(ports, url, request, claim, renewal)
    if url.scheme not in SOCKETS and request.type != "push":
        return await detector.fetched()
    if renewal.access.body is not None:
        raise Unprocessable("headers: a stream takes no POST", "body.headers")
    return await detector.stream()


@dataclass(slots=True)
class _Detector:
    """One classification."""

    ports: Ports
    url: Url
    request: ClassifyRequest
    claim: TurnRequest
    renewal: Renewal

    async def fetched(self) -> Classification:
        url, request = self.url, self.request
        try:
            fetched, finding, at = await self._fetch(url.text, as_page=request.type == "html")
        except StreamFound as stream:
            if request.type is not None:
                reason = f"it is a stream ({stream.content_type[:100]}): only push watches it"
                raise Unprocessable(reason, "body.type", request.type) from None
            if request.listen:
                return await self.stream()
            detection = stream_detection(stream.url, stream.content_type)
            return Classification("push", detection, url.text, None, self.ports.world.now())
        is_rendered = request.render == "always" or (request.render == "auto" and finding.shell)
        if is_rendered and finding.format == "html" and self.renewal.access.body is None and request.type != "feed":
            return await self._rendered_page(fetched, finding, at)
        if finding.refusal is not None and request.type is None:
            raise Unprocessable(f"{finding.refusal} Seen: {_evidence_of(finding, fetched)}.", "body.url", url.text)
        if finding.type == "feed" and request.type != "html":
            detection = detection_of("feed", request.type, finding, fetched)
            return Classification("feed", detection, url.text, fetched, at, feed=finding.feed)
        return await self._page(fetched, finding, at)

    async def _rendered_page(self, fetched: FetchedResponse, finding: Finding, at: Millis) -> Classification:
        """Classify a page that needs a browser: as an advertised feed if one works, else as the rendered page. Without
        a browser an empty page is refused, or watched as it is if it has some text.
        """
        url, request = self.url, self.request
        robots = await self._check_robots(fetched.url, finding.feeds)
        if request.type is None and not request.narrowed and request.render == "auto" and finding.feeds:
            feed, _ = await self._first_working_feed(finding.feeds, fetched)
            if feed is not None:
                return feed
        try:
            rendered, at = await self._render(fetched.url)
        except NotRendered as failure:
            if request.render == "always" or failure.blame is not Blame.LOCAL:
                raise
            sign = finding.shell
            text = f"{EMPTY_PAGE} ({sign}), and {failure.reason}."
            if finding.refusal is not None and request.type is None:
                advice = (
                    finding.refusal if finding.feeds else "Look for the site's feed, or for the JSON that fills it."
                )
                raise Unprocessable(f"{text} {advice}", "body.url", url.text) from None
            rendering = Rendering(text, sign, done=False, costs=RENDERED, filled_by=())
            return replace(await self._page(fetched, finding, at), rendering=rendering)
        found = await detect_body(self.ports, rendered)
        if found.refusal is not None and request.type is None:
            reason = f"{found.refusal} Seen by a browser: {_evidence_of(found, rendered)}."
            raise Unprocessable(reason, "body.url", url.text)
        rendering = rendering_of(finding.shell, rendered)
        detection = detection_of("html", request.type, found, rendered, rendering.says.rstrip("."))
        return Classification("html", detection, url.text, rendered, at, robots, rendering=rendering)

    async def _page(self, fetched: FetchedResponse, finding: Finding, at: Millis) -> Classification:
        request, note = self.request, ""
        robots = await self._check_robots(fetched.url, finding.feeds)
        if finding.type == "html" and (request.type == "feed" or (request.type is None and not request.narrowed)):
            feed, note = await self._first_working_feed(finding.feeds, fetched)
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
        return Classification("html", detection, self.url.text, fetched, at, robots)

    async def _first_working_feed(
        self, links: Sequence[FeedLink], page: FetchedResponse
    ) -> tuple[Classification | None, str]:
        """Return the classification as an advertised feed, and why others do not work."""
        failures: list[str] = []
        for link in links[:CANDIDATES]:
            reason = f"no answer within {CANDIDATE_WITHIN:g} s"
            with trio.move_on_after(CANDIDATE_WITHIN):
                try:
                    fetched, finding, at = await self._fetch(link.url)
                except CheckFailed as failure:
                    if failure.blame is Blame.LOCAL:
                        raise
                    reason = failure.reason
                except UrlRefused as refusal:
                    reason = f"refused by the guard ({refusal.rule})"
                else:
                    if finding.type == "feed":
                        seen = f"the page advertises a feed at {link.url}: {_evidence_of(finding, fetched)}"
                        evidence = without_secrets("; ".join((seen, *failures)))
                        found = (finding.confidence, evidence, page.url, fetched.content_type, link.url)
                        detection = replace(Detection("feed", *found), format=finding.format)
                        return Classification("feed", detection, link.url, fetched, at, feed=finding.feed), ""
                    reason = f"it is no feed ({finding.evidence})"
            failures.append(f"{link.url} does not work: {reason}")
        return None, "; ".join(failures)

    async def _fetch(self, text: str, *, as_page: bool = False) -> tuple[FetchedResponse, Finding, Millis]:
        """Return a body, its classification and its time. as_page: ask robots.txt. Raises CheckFailed, UrlRefused."""
        fresh = partial(fetch, self.ports, self.claim, text, ACCEPT, robots=as_page, renewal=self.renewal)
        fetched, at = await self._cached(cache_key(text, self.request.headers), fresh)
        return fetched, await detect_body(self.ports, fetched), at

    async def _render(self, text: str) -> tuple[FetchedResponse, Millis]:
        """Return a rendered page and its time; robots.txt already allows it. Raises CheckFailed, UrlRefused."""
        wait_for, picture = self.request.wait_for, self.request.screenshots
        render = partial(render_page, self.ports, self.claim, text, wait_for)
        fresh = partial(render, robots=False, screenshot=picture, renewal=self.renewal)
        return await self._cached(cache_key(text, self.request.headers, rendering_key(wait_for)), fresh)

    async def _cached(
        self, key: str, fresh: Callable[[], Awaitable[FetchedResponse]]
    ) -> tuple[FetchedResponse, Millis]:
        if self.request.recent and (cached := self.ports.body_cache.find(key, PREVIEW_MAX_AGE)) is not None:
            return cached.fetched, cached.at
        fetched, at = await fresh(), self.ports.world.now()
        self.ports.body_cache.put(key, without_screenshot(fetched), at)
        return fetched, at

    async def _check_robots(self, text: str, feeds: Sequence[FeedLink]) -> RobotsVerdict:
        """Return the verdict of robots.txt on a page. Raises Unprocessable if it forbids the page, CheckFailed."""
        verdict = await self.ports.egress.robots.verdict(parse_url(text), self.claim)
        if verdict.blame is Blame.REMOTE_TRANSIENT:
            raise verdict.refusal()
        if not verdict.allowed:
            advice = f"; its feed may be watched instead: {feeds[0].url}" if feeds else ""
            raise Unprocessable(f"robots.txt forbids watching this page: {verdict.why}{advice}", "body.url", text)
        return RobotsVerdict(True, verdict.crawl_delay, verdict.why)

    async def stream(self) -> Classification:
        url, request = self.url, self.request
        opened = RequestAccess(self.ports, url, self.renewal)
        try:
            greeting = await greet(self.ports, self.claim, opened, request.listen, request.subprotocols)
        except CheckFailed as failure:
            if url.scheme in SOCKETS or failure.status != HTTPStatus.OK:
                raise
            reason = f"it can't be watched as push: {failure.reason}"
            raise Unprocessable(reason, "body.type", request.type) from None
        if greeting.content_type:
            detection = stream_detection(url.text, greeting.content_type)
        else:
            detection = websocket_detection(url.text, request.subprotocols, greeting.subprotocol)
        return Classification("push", detection, url.text, None, self.ports.world.now(), greeting=greeting)


async def detect_body(ports: Ports, fetched: FetchedResponse) -> Finding:
    """Return a body's classification. Raises CheckFailed."""
    request = BodyRequest(fetched.body, fetched.content_type, fetched.url)
    deadline = feed_deadline(ports.settings.parse_deadline, fetched.body)
    return await in_jail(ports.world.jail, "detect", request, Finding, deadline=deadline)


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
    return replace(detection, forced=forced, format=finding.format, asks_password=has_password, sitemap=sitemap)


def _evidence_of(finding: Finding, fetched: FetchedResponse) -> str:
    """Return the evidence from the body, with the final URL after redirects."""
    return f"{finding.evidence}; redirected to {fetched.url}" if fetched.hops else finding.evidence


def domain_error(failure: CheckFailed, url: str) -> DomainError:
    if isinstance(failure, CheckRefused):
        return failure.refusal
    error = _domain_error(failure, url)
    error.may_pass = not (isinstance(failure, RobotsForbids) and failure.blame is Blame.REMOTE_PERMANENT)
    return error


def _domain_error(failure: CheckFailed, url: str) -> DomainError:
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
    """Return a source with a new title; not if only numbers differ ("(3) Notices"): each check would save it."""
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


MOST_SCORE: Final = 0.5  # the highest score of a source that has never answered


def provisional_detection(url: Url, requested: SourceType | None, error: DomainError) -> Detection:
    """Return a provisional detection until the URL answers: a page, unless something else is known."""
    type: SourceType = requested or ("push" if url.scheme in SOCKETS else "html")
    reason = error.__cause__.reason if isinstance(error.__cause__, CheckFailed) else error.detail
    evidence = f"it has yet to answer: {reason}"
    return Detection(type, "low", evidence, url.text, "", forced=requested is not None, pending=True)


async def check_addable(ports: Ports, url: Url, requested: SourceType | None, error: DomainError) -> None:
    """Raise for an unreachable URL that can't be stored: wrong type, refused by the guard, or a name that does not
    resolve: the guard must know its addresses before watching.
    """
    if requested is not None and url.scheme not in TIERS[requested].schemes:
        raise Unprocessable(f"a {url.scheme} URL can't be watched as {requested}", "body.type", requested)
    try:
        await ports.egress.guard.check(url)
    except CheckFailed:
        raise error from None


def first_state(ports: Ports, source: Source, error: DomainError) -> SourceRuntime:
    now = ports.world.now()
    failure = error.__cause__
    if not isinstance(failure, CheckFailed):
        failure = CheckFailed(Blame.REMOTE_TRANSIENT, error.detail)
    draw = ports.world.chance(f"source/{source.id}/first").random()
    limits = limits_of(source, ports.settings)
    after = progress.failed(SourceRuntime(interval=START_INTERVAL), failure, now, limits, draw)
    row = check_row(now, Verdict[failure.blame.name], failure.status)
    return with_pending_health(replace(after, trail=add_row(after.trail, row)), now)


def with_pending_health(hot: SourceRuntime, now: Millis) -> SourceRuntime:
    health = hot.health
    score = min(health.score, MOST_SCORE)
    reason = message("It has yet to answer.")
    if hot.last_error:
        reason = message("It has yet to answer: %(reason)s", reason=hot.last_error)
    since = now if health.down_since is None else min(now, health.down_since)
    pending_health = Health(score, flag_of(score, health.flag), "", since, "reach")
    return replace(hot, health=pending_health.explained(reason))


async def classify_pending(ports: Ports, source: Source, claim: TurnRequest, renewal: Renewal) -> Classification:
    """Classify a URL on the source's own turn. renewal: tracks its cookies. Raises CheckFailed, also for a URL that
    can't be watched.
    """
    detection = source.detection
    requested = source.type if detection.forced or source.type != detection.type else None
    request = classify_request(source, requested, source.headers)
    try:
        return await detect(ports, parse_url(source.url), request, claim, renewal)
    except (Unprocessable, Overloaded) as error:
        raise CheckFailed(Blame.REMOTE_PERMANENT, f"it can't be watched: {error.detail}") from None


async def store_classification(ports: Ports, live: LiveSource, found: Classification) -> None:
    """Store the classification in the source's record. Raises StorageError."""
    after = replace(live.source, type=found.type, watch_url=found.watch_url, detection=found.detection)
    version = new_version(ports.world)
    await ports.storage.sources.update(after, ports.storage.lease, version, before=live.source)
    live.source, live.hot, live.version = after, replace(live.hot, health=Health()), version
    ports.world.log("source.answered", source_id=after.id, type=after.type)
