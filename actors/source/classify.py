"""What a URL is, found out by one polite look, and the look itself, so that the baseline needs no second one.

Detection is by the body. A page that advertises feeds is followed to the best one that works; a ws:// or wss:// URL
is tried with a handshake. What can't be watched is refused in words: a PDF, an image, an empty body, a login wall,
a 404.
"""

from __future__ import annotations

from collections.abc import Sequence

import msgspec
from msgspec import Struct

from actors.content.detection import FeedLink, Finding
from actors.content.requests import DetectRequest
from actors.egress.failures import Blame, LookFailed, LookRefused
from actors.egress.http import Fetched
from actors.egress.turns import ASKED
from actors.egress.url import Url, parse_url
from actors.errors import Overloaded, Unprocessable, UrlRefused
from actors.source.fetch import fetch
from actors.source.ports import Ports
from actors.source.tier import in_jail
from storage.records.event import SourceType
from storage.records.source import Detection

CANDIDATES = 3
"""Feeds of a page that are tried before the page itself is watched."""
ACCEPT = "text/html, application/xhtml+xml, application/atom+xml, application/rss+xml, application/feed+json, */*;q=0.5"


class Classified(Struct, frozen=True):
    """What was found. `fetched` is the body that the first reading can use; None for a WebSocket."""

    detection: Detection
    watch_url: str
    fetched: Fetched | None


async def classify(ports: Ports, url: Url, wanted: SourceType | None) -> Classified:
    """Find out what a URL is; `wanted` overrides what detection would choose.

    Raises UrlRefused, Unprocessable (it can't be watched, or not as `wanted`), Overloaded (our own network is at
    fault).
    """
    if url.scheme in ("ws", "wss"):
        if wanted not in (None, "push"):
            raise Unprocessable(f"a {url.scheme} URL can only be watched as push", "body.type", wanted)
        return await _handshake(ports, url)
    if wanted == "push":
        raise Unprocessable("only ws and wss URLs can be watched as push", "body.type", wanted)
    fetched, finding = await _look(ports, url.text)
    if finding.refusal is not None and wanted is None:
        raise Unprocessable(finding.refusal, "body.url", url.text)
    if finding.type == "html" and wanted in (None, "feed"):
        followed = await _follow(ports, finding.feeds, fetched)
        if followed is not None:
            return followed
    if wanted == "feed" and finding.type != "feed":
        raise Unprocessable(f"this is no feed: {finding.evidence}", "body.type", wanted)
    chosen = wanted or finding.type or "html"
    if chosen == "html":
        await _heed_robots(ports, fetched.url)
    return Classified(_detection(chosen, wanted, finding, fetched), url.text, fetched)


async def _look(ports: Ports, text: str) -> tuple[Fetched, Finding]:
    try:
        fetched = await fetch(ports, ASKED, text, accept=ACCEPT, robots=False)
        request = DetectRequest(fetched.body, fetched.content_type, fetched.url)
        answer = await in_jail(ports.world.jail, "detect", msgspec.msgpack.encode(request))
    except LookFailed as failure:
        raise refused(failure, text) from None
    return fetched, msgspec.msgpack.decode(answer, type=Finding)


async def _follow(ports: Ports, links: Sequence[FeedLink], page: Fetched) -> Classified | None:
    """Return the first advertised feed that works; a broken one does not keep the page from being watched."""
    for link in links[:CANDIDATES]:
        try:
            fetched, finding = await _look(ports, link.url)
        except (UrlRefused, Unprocessable):
            continue
        if finding.type == "feed":
            evidence = f"the page advertises a feed at {link.url}: {finding.evidence}"
            found = Detection("feed", finding.confidence, evidence, page.url, fetched.content_type, link.url)
            return Classified(found, link.url, fetched)
    return None


async def _heed_robots(ports: Ports, text: str) -> None:
    verdict = await ports.egress.robots.verdict(parse_url(text), ASKED)
    if not verdict.allowed:
        raise Unprocessable(f"robots.txt forbids watching this page: {verdict.why}", "body.url", text)


async def _handshake(ports: Ports, url: Url) -> Classified:
    try:
        async with ports.egress.hosts.turn(url.host, ASKED), ports.egress.websocket(url):
            ports.egress.line.answered(url.host)
    except LookFailed as failure:
        raise refused(ports.egress.line.failed(url.host, failure), url.text) from None
    found = Detection("push", "high", "the server accepted a WebSocket handshake (101)", url.text, "", None)
    return Classified(found, url.text, None)


def _detection(chosen: SourceType, wanted: SourceType | None, finding: Finding, fetched: Fetched) -> Detection:
    evidence = finding.evidence
    if wanted is not None and wanted != finding.type:
        evidence = f"{wanted} as asked for; by itself: {evidence}"
    return Detection(chosen, finding.confidence, evidence, fetched.url, fetched.content_type, None)


def refused(failure: LookFailed, url: str) -> Exception:
    """Return what to tell the person whose URL could not be looked at."""
    if isinstance(failure, LookRefused):
        return failure.refusal
    if failure.blame is Blame.LOCAL:
        return Overloaded(f"our own network is in trouble: {failure.reason}", 60)
    if failure.retry_after is not None or failure.status in (429, 503):
        return Overloaded(failure.reason, round(failure.retry_after or 60))
    return Unprocessable(f"it can't be watched now: {failure.reason}", "body.url", url)
