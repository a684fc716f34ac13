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
from actors.sources.detection.handshake import Greeting, shake_hands
from actors.sources.ports import LiveSource, Ports, new_version
from actors.sources.schedule.budgets import RENDERED
from storage.errors import StorageError
from storage.records.identity import Millis
from storage.records.secrecy import without_secrets
from storage.records.source import Detection, Render, Source
from storage.records.tiers import SOCKETS, SourceType

MOST_SHOWN: Final = 3
LEAST: Final = 200
"""Bytes of JSON that may have filled a page; less is a setting or a count."""
EMPTY: Final = "This page is empty without JavaScript"
COSTS: Final = f"each check costs as much as {RENDERED} plain ones"


def is_wanted(render: Render, finding: Finding, access: Access) -> bool:
    """Return whether to render a page: on request, or if it is empty without scripts."""
    if finding.format != "html" or access.body is not None:
        return False
    return render == "always" or (render == "auto" and bool(finding.shell))


def rendering_of(empty: str, fetched: FetchedResponse) -> Rendering:
    assert fetched.rendered is not None, "a browser has shown it"
    found = tuple(FilledBy(url.text, size) for url, size in _watchable(fetched))[:MOST_SHOWN]
    says = f"{EMPTY} ({empty}), so a browser shows it: {COSTS}." if empty else f"A browser shows this page: {COSTS}."
    if found:
        says += f" It fills itself from {found[0].url} ({_size(found[0].size)} of JSON), which needs only plain checks."
    return Rendering(says, empty, done=True, costs=RENDERED, filled_by=found)


def _watchable(fetched: FetchedResponse) -> list[tuple[Url, int]]:
    """Return the JSON URLs that filled a page and may be watched; a page may name any address."""
    found: dict[str, tuple[Url, int]] = {}
    for one in fetched.rendered.filled_by if fetched.rendered is not None else ():
        try:
            url = parse_url(one.url, schemes=("http", "https"))
        except UrlRefused:
            continue
        if one.size >= LEAST:
            found.setdefault(url.text, (url, one.size))
    return sorted(found.values(), key=lambda pair: -pair[1])


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
    """The context of a fetch: its turn at the host, whether a body of the last minute will do, the user's headers.

    renewal: tracks renewed cookies.
    """

    claim: TurnRequest
    recent: bool
    headers: str | None
    access: Access
    renewal: Renewal

    def after(self, fetched: FetchedResponse) -> FetchContext:
        """Return the context of the next fetch, with the cookies that a response renewed."""
        return self._replace(access=self.access.with_stored(fetched.cookies))


Seen: TypeAlias = tuple[FetchedResponse, Finding, Millis]
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


async def classify(ports: Ports, url: Url, wanted: ClassifyRequest, renewal: Renewal) -> Classification:
    """Classify a URL for a user. renewal: tracks the cookies of the headers.

    Raises UrlRefused, Unprocessable (it can't be watched, or not as wanted), Overloaded (our own network is at fault).
    Errors that may pass have `may_pass` set, and a LookFailed as their cause.
    """
    try:
        return await found_out(ports, url, wanted, INTERACTIVE, renewal)
    except LookFailed as failure:
        if failure.status in SIGNED_OUT_STATUSES:
            renewal.reject()
        raise refused(failure, url.text) from failure


async def found_out(
    ports: Ports, url: Url, wanted: ClassifyRequest, claim: TurnRequest, renewal: Renewal
) -> Classification:
    """Classify a URL on a given turn. Raises as `classify`, but LookFailed for a failed check."""
    if url.scheme in SOCKETS and wanted.type not in (None, "push"):
        raise Unprocessable(f"a {url.scheme} URL can only be watched as push", "body.type", wanted.type)
    access = access_to(url, wanted.headers)
    if url.scheme in SOCKETS or wanted.type == "push":
        if access.body is not None:
            raise Unprocessable("headers: a stream takes no POST", "body.headers")
        return await _greeted(ports, url, wanted, claim, renewal)
    look = FetchContext(claim, wanted.recent, wanted.headers, access, renewal)
    try:
        fetched, finding, at = await _look(ports, url.text, look, declared=wanted.type == "html")
    except StreamFound as stream:
        if wanted.type is not None:
            says = f"it is a stream ({stream.content_type[:100]}): only push watches it"
            raise Unprocessable(says, "body.type", wanted.type) from None
        if wanted.listen:
            return await _greeted(ports, url, wanted, claim, renewal)
        found = found_stream(stream.url, stream.content_type)
        return Classification("push", found, url.text, None, ports.world.now())
    look = look.after(fetched)
    if is_wanted(wanted.render, finding, look.access) and wanted.type != "feed":
        return await _as_shown(ports, url, wanted, look, (fetched, finding, at))
    if finding.refusal is not None and wanted.type is None:
        raise Unprocessable(f"{finding.refusal} Seen: {_seen(finding, fetched)}.", "body.url", url.text)
    if finding.type == "feed" and wanted.type != "html":
        found = detection_of("feed", wanted.type, finding, fetched)
        return Classification("feed", found, url.text, fetched, at, feed=finding.feed)
    return await _as_page(ports, url, wanted, look, (fetched, finding, at))


async def _as_shown(ports: Ports, url: Url, wanted: ClassifyRequest, look: FetchContext, seen: Seen) -> Classification:
    """Classify a page that needs a browser: as an advertised feed if one works, else as the rendered page.

    Without a browser an empty page is refused, or watched as it is if it has some text.
    """
    fetched, finding, at = seen
    if wanted.type is None and not wanted.narrowed and wanted.render == "auto" and finding.feeds:
        await _heed_robots(ports, fetched.url, finding.feeds, look.claim)
        followed, _ = await _follow(ports, finding.feeds, fetched, look)
        if followed is not None:
            return followed
    robots = await _heed_robots(ports, fetched.url, finding.feeds, look.claim)
    try:
        shown, at = await _show(ports, fetched.url, look, wanted)
    except NotRendered as failure:
        if wanted.render == "always" or failure.blame is not Blame.LOCAL:
            raise
        rendering = Rendering(
            f"{EMPTY} ({finding.shell}), and {failure.reason}.", finding.shell, done=False, costs=RENDERED, filled_by=()
        )
        if finding.refusal is not None and wanted.type is None:
            advice = finding.refusal if finding.feeds else "Look for the site's feed, or for the JSON that fills it."
            raise Unprocessable(f"{rendering.says} {advice}", "body.url", url.text) from None
        return msgspec.structs.replace(await _as_page(ports, url, wanted, look, seen), rendering=rendering)
    found = await found_in(ports, shown)
    if found.refusal is not None and wanted.type is None:
        raise Unprocessable(f"{found.refusal} Seen by a browser: {_seen(found, shown)}.", "body.url", url.text)
    rendering = rendering_of(finding.shell, shown)
    detection = detection_of("html", wanted.type, found, shown, rendering.says.rstrip("."))
    return Classification("html", detection, url.text, shown, at, robots, rendering=rendering)


async def _show(ports: Ports, text: str, look: FetchContext, wanted: ClassifyRequest) -> tuple[FetchedResponse, Millis]:
    """Return a rendered page and its time; robots.txt already allows it. Raises LookFailed, UrlRefused."""
    name = cache_key(text, look.headers, rendering_key(wanted.wait_for))
    if look.recent and (kept := ports.body_cache.find(name, PREVIEW_MAX_AGE)) is not None:
        return kept.fetched, kept.at
    shown = await render_page(
        ports,
        look.claim,
        text,
        look.access,
        wanted.wait_for,
        robots=False,
        screenshot=wanted.screenshots,
        renewal=look.renewal,
    )
    at = ports.world.now()
    ports.body_cache.put(name, without_screenshot(shown), at)
    return shown, at


async def _as_page(ports: Ports, url: Url, wanted: ClassifyRequest, look: FetchContext, seen: Seen) -> Classification:
    """Classify a page: as itself, or as a feed that it advertises."""
    fetched, finding, at = seen
    robots = await _heed_robots(ports, fetched.url, finding.feeds, look.claim)
    why = ""
    if finding.type == "html" and (wanted.type == "feed" or (wanted.type is None and not wanted.narrowed)):
        followed, why = await _follow(ports, finding.feeds, fetched, look)
        if followed is not None:
            return followed
    elif finding.feeds and wanted.type is None:
        why = "watched as a page, because a part of it was chosen"
    if wanted.type == "feed":
        says = "; ".join(filter(None, (_seen(finding, fetched), why)))
        raise Unprocessable(f"this is no feed: {says}", "body.type", wanted.type)
    if wanted.headers and asks_password(fetched.body):
        why = "; ".join(filter(None, (why, "it asks for a password: do the headers sign in?")))
    found = detection_of("html", wanted.type, finding, fetched, why)
    return Classification("html", found, url.text, fetched, at, robots)


async def _look(ports: Ports, text: str, look: FetchContext, *, declared: bool = False) -> Seen:
    """Return a body, its classification and its time. declared: as a page. Raises LookFailed, UrlRefused."""
    name = cache_key(text, look.headers)
    kept = ports.body_cache.find(name, PREVIEW_MAX_AGE) if look.recent else None
    if kept is not None:
        fetched, at = kept.fetched, kept.at
    else:
        fetched = await fetch(
            ports, look.claim, text, accept=ACCEPT, robots=declared, access=look.access, renewal=look.renewal
        )
        at = ports.world.now()
        ports.body_cache.put(name, fetched, at)
    return fetched, await found_in(ports, fetched), at


async def found_in(ports: Ports, fetched: FetchedResponse) -> Finding:
    """Return a body's classification. Raises LookFailed."""
    request = BodyRequest(fetched.body, fetched.content_type, fetched.url)
    deadline = feed_deadline(ports.settings.parse_deadline, fetched.body)
    return await in_jail(ports.world.jail, "detect", request, Finding, deadline=deadline)


async def _follow(
    ports: Ports, links: Sequence[FeedLink], page: FetchedResponse, look: FetchContext
) -> tuple[Classification | None, str]:
    """Return the first advertised feed that works, and why earlier ones did not."""
    dead: list[str] = []
    for link in links[:CANDIDATES]:
        why = f"no answer within {CANDIDATE_WITHIN:g} s"
        with trio.move_on_after(CANDIDATE_WITHIN):
            try:
                fetched, finding, at = await _look(ports, link.url, look)
                look = look.after(fetched)
            except LookFailed as failure:
                if failure.blame is Blame.LOCAL:
                    raise
                why = failure.reason
            except UrlRefused as refusal:
                why = f"refused by the guard ({refusal.rule})"
            else:
                if finding.type == "feed":
                    notes = (f"the page advertises a feed at {link.url}: {_seen(finding, fetched)}", *dead)
                    evidence = without_secrets("; ".join(notes))
                    found = Detection(
                        "feed",
                        finding.confidence,
                        evidence,
                        page.url,
                        fetched.content_type,
                        link.url,
                        format=finding.format,
                    )
                    return Classification("feed", found, link.url, fetched, at, feed=finding.feed), ""
                why = f"it is no feed ({finding.evidence})"
        dead.append(f"{link.url} does not work: {why}")
    return None, "; ".join(dead)


async def _heed_robots(ports: Ports, text: str, feeds: Sequence[FeedLink], claim: TurnRequest) -> RobotsVerdict:
    """Return the verdict of robots.txt on a page. Raises Unprocessable if it forbids the page, LookFailed."""
    verdict = await ports.egress.robots.verdict(parse_url(text), claim)
    if verdict.blame is Blame.REMOTE_TRANSIENT:
        raise verdict.refusal()
    if not verdict.allowed:
        way = f"; its feed may be watched instead: {feeds[0].url}" if feeds else ""
        raise Unprocessable(f"robots.txt forbids watching this page: {verdict.why}{way}", "body.url", text)
    return RobotsVerdict(True, verdict.crawl_delay, verdict.why)


async def _greeted(
    ports: Ports, url: Url, wanted: ClassifyRequest, claim: TurnRequest, renewal: Renewal
) -> Classification:
    opened = RequestAccess(ports, url, access_to(url, wanted.headers), renewal)
    try:
        greeting = await shake_hands(ports, claim, opened, wanted.listen, wanted.subprotocols)
    except LookFailed as failure:
        if url.scheme in SOCKETS or failure.status != HTTPStatus.OK:
            raise
        says = f"it can't be watched as push: {failure.reason}"
        raise Unprocessable(says, "body.type", wanted.type) from None
    if greeting.says:
        found = found_stream(url.text, greeting.says)
    else:
        found = found_by_handshake(url.text, wanted.subprotocols, greeting.subprotocol)
    return Classification("push", found, url.text, None, ports.world.now(), greeting=greeting)


def found_by_handshake(url: str, offered: Sequence[str], chosen: str | None) -> Detection:
    evidence = "the server accepted a WebSocket handshake (101)"
    if offered:
        evidence += f" and chose the subprotocol {chosen}" if chosen else " and chose none of the subprotocols"
    return Detection("push", "high", evidence, url, "", None)


def found_stream(url: str, says: str) -> Detection:
    """Return the detection for a server with a stream over HTTP. says: its Content-Type, or begins with it."""
    content_type = says.partition(":")[0][:100]
    kind = kind_of(content_type)
    spoken = KIND_NAMES[kind] if kind is not None else "a stream"
    return Detection("push", "high", f"the server answered with {content_type}: {spoken}", url, content_type, None)


def detection_of(
    chosen: SourceType, wanted: SourceType | None, finding: Finding, fetched: FetchedResponse, why: str = ""
) -> Detection:
    evidence = without_secrets("; ".join(filter(None, (_seen(finding, fetched), why))))
    forced = wanted is not None and wanted != finding.type
    if forced:
        evidence = f"watched as {wanted}, as asked for; by itself: {evidence}"
    found = Detection(finding.type or chosen, finding.confidence, evidence, fetched.url, fetched.content_type)
    asks, sitemap = asks_password(fetched.body), finding.sitemap and not forced
    return msgspec.structs.replace(found, forced=forced, format=finding.format, asks_password=asks, sitemap=sitemap)


def _seen(finding: Finding, fetched: FetchedResponse) -> str:
    """Return the evidence from the body, with the final URL after redirects."""
    return f"{finding.evidence}; redirected to {fetched.url}" if fetched.hops else finding.evidence


def refused(failure: LookFailed, url: str) -> DomainError:
    if isinstance(failure, LookRefused):
        return failure.refusal
    error = _refused(failure, url)
    error.may_pass = not (isinstance(failure, RobotsForbids) and failure.blame is Blame.REMOTE_PERMANENT)
    return error


def _refused(failure: LookFailed, url: str) -> DomainError:
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


LONGEST: Final = 200
_NUMBER: Final = re.compile(r"\d+")


def named(source: Source, title: str) -> Source:
    """Return a source with a newly found title, or unchanged if the title is known or empty.

    A title that differs only in numbers ("(3) Notices") counts as known; otherwise every check would save it.
    """
    title = " ".join(title.split())[:LONGEST].rstrip()
    if not title or (source.found_title and _NUMBER.sub("", title) == _NUMBER.sub("", source.found_title)):
        return source
    return replace(source, found_title=title)


async def follow(ports: Ports, live: LiveSource, title: str) -> None:
    """Save a new title. If that fails, the next check of a changed body retries."""
    after = named(live.source, title)
    if after is live.source:
        return
    version = new_version(ports.world)
    try:
        await ports.storage.sources.update(after, ports.storage.lease, version, before=live.source)
    except StorageError as error:
        ports.world.log("title.unsaved", source_id=after.id, error=str(error))
    else:
        live.source, live.version = after, version
