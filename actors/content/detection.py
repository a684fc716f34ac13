"""What a body is: a feed, a page, or nothing that can be watched; from the bytes alone, with evidence for a person.

The content type that a server declares decides nothing but the encoding: two of five are wrong.
"""

from __future__ import annotations

import re
from typing import Literal
from urllib.parse import urlsplit

from msgspec import Struct

from actors.content import markup
from actors.content.blocks import read_blocks
from actors.content.encoding import decode
from actors.content.errors import ContentError
from actors.content.feeds import feed_root, read_feed
from actors.content.json_feed import looks_like_json
from actors.content.links import absolute
from actors.content.prolog import end_of_prolog
from actors.content.sniffing import binary_kind, is_document, looks_like_html
from actors.content.text import normalise
from actors.content.unpacking import unpacked
from actors.content.walls import trouble_of
from storage.records.source import Confidence

MOST_LINKS = 20
_SNIFFED = 512
_FEED_TYPES = {
    "application/rss+xml": "rss",
    "application/atom+xml": "atom",
    "application/rdf+xml": "rdf",
    "application/feed+json": "json feed",
    "application/x-rss+xml": "rss",
    "text/rss+xml": "rss",
}
_MAYBE_TYPES = frozenset({"application/json", "application/xml", "text/xml"})
_FEED_WORDS = re.compile(r"rss|atom|feed", re.I)
_NARROW = re.compile(r"comment|kommentar|commentaire|repl(?:y|ies)|/podcast|\?s=", re.I)
_ROOT = re.compile(r"<([A-Za-z_][\w.:-]*)[^>]*>")
_OPML = re.compile(r"<opml\b[^>]{0,200}>?", re.I)
_ROOT_SHOWN = 120


class FeedLink(Struct, frozen=True):
    """A feed that a page advertises, by absolute address."""

    url: str
    title: str
    type: str


class Finding(Struct, frozen=True):
    """What a body is. `type` None comes with a `refusal`; both carry a sentence that a person can check."""

    type: Literal["feed", "html"] | None
    confidence: Confidence
    evidence: str
    format: str
    feeds: tuple[FeedLink, ...] = ()
    entries: int = 0
    title: str = ""
    refusal: str | None = None


def detect(body: bytes, content_type: str, url: str) -> Finding:
    """Return what a body is. Never raises: what cannot be watched is a finding with a refusal."""
    served = (
        f"served as {content_type.split(';', maxsplit=1)[0].strip()[:60]}"
        if content_type.strip()
        else "served without a type"
    )
    packed, body = body, unpacked(body)
    if packed is not body:
        served = f"unpacked from gzip that no header declares; {served}"
    if not body.strip(b" \t\r\n\x00\xef\xbb\xbf\xff\xfe"):
        return _refused("The body is empty.", f"0 bytes of content; {served}")
    if kind := binary_kind(body):
        return _refused(f"This is {kind}, not a feed or a page.", f"the body begins with {body[:5]!r}; {served}")
    text = decode(body, content_type).text
    if opml := _OPML.match(text, end_of_prolog(text)):
        return _refused(
            "This is a list of feeds (OPML), not a feed or a page.", f"root element {_opening(opml[0])}; {served}"
        )
    if looks_like_json(text) or feed_root(text) is not None:
        try:
            return _feed(body, content_type, url, text, served)
        except ContentError as error:
            if looks_like_json(text) or not looks_like_html(text[:_SNIFFED]):
                return _refused(error.reason, f"{_shown_root(text)}; {served}")
    if looks_like_html(text):
        return _page(text, url, served)
    return _refused(_what_else(body, text), f"{_shown_root(text)}; {served}")


def _refused(reason: str, evidence: str) -> Finding:
    return Finding(None, "high", evidence, "", refusal=reason)


def _feed(body: bytes, content_type: str, url: str, text: str, served: str) -> Finding:
    reading = read_feed(body, content_type, url)
    root = feed_root(text)
    count = len(reading.entries)
    items = f"{count} item{'' if count == 1 else 's'}"
    junk = root is not None and end_of_prolog(text) < root.start()
    sign = "JSON with `version` and `items` of a JSON Feed" if root is None else f"root element {_opening(root[0])}"
    notes = [
        f"{sign}, {items}",
        "after leading junk" if junk else "",
        "ill-formed, recovered" if reading.damaged else "",
        served,
    ]
    confidence: Confidence = "medium" if junk or not count else "high"
    return Finding(
        "feed",
        confidence,
        "; ".join(note for note in notes if note),
        reading.format,
        entries=count,
        title=reading.title,
    )


def _opening(tag: str) -> str:
    """Return an opening tag without its name space declarations."""
    short = re.sub(r"\s+(?:xmlns(?::[\w.-]+)?|[\w.-]+:[\w.-]+)\s*=\s*(?:\"[^\"]*\"|'[^']*')", "", tag)
    return " ".join(short.split())[:_ROOT_SHOWN]


def _shown_root(text: str) -> str:
    root = _ROOT.search(text[:4096])
    return f"root element <{root[1][:60]}>" if root else f"the text begins {normalise(text[:200])[:40]!r}"


def _page(text: str, url: str, served: str) -> Finding:
    try:
        root = markup.parse(text)
        blocks = read_blocks(root)
    except ContentError as error:
        return _refused(error.reason, served)
    title = normalise(" ".join((root.findtext(".//title") or "").split()))[:1000]
    feeds = feed_links(root, url)
    sign = "an HTML document" if is_document(text) else "HTML elements without a document"
    offer = (
        f", which advertises {len(feeds)} feed{'' if len(feeds) == 1 else 's'}"
        if feeds
        else ", which advertises no feed"
    )
    evidence = f"{sign}{offer}; {served}"
    trouble = trouble_of(root, title, blocks)
    if trouble is not None:
        return Finding(
            None, "medium", evidence, "html", feeds, 0, title, f"This is not the page itself, but a {_noun(trouble)}."
        )
    confidence: Confidence = "high" if is_document(text) else "medium"
    return Finding("html", confidence, evidence, "html", feeds, 0, title)


def _noun(trouble: str) -> str:
    return trouble if not trouble.startswith(("empty", "error", "needs")) else f"page with a trouble ({trouble})"


def feed_links(root: markup.Element, url: str) -> tuple[FeedLink, ...]:
    """Return the feeds that a page's <link> elements advertise, best first: same host, the whole site over comments."""
    bases = [href for base in root.iter("base") if (href := base.get("href"))]
    base = absolute(bases[0], url) or url if bases else url
    found: dict[str, FeedLink] = {}
    for link in root.iter("link"):
        rel = (link.get("rel") or "").lower().split()
        kind = (link.get("type") or "").split(";")[0].strip().lower()
        title = normalise(link.get("title") or "")[:200]
        href = link.get("href") or ""
        if not ({"alternate", "feed"} & set(rel)) or "stylesheet" in rel:
            continue
        hinted = (
            kind in _MAYBE_TYPES
            and _FEED_WORDS.search(f"{href} {title}")
            and "oembed" not in href
            and "wp-json" not in href
        )
        if (kind in _FEED_TYPES or hinted or "feed" in rel) and (address := absolute(href, base)):
            found.setdefault(address, FeedLink(address, title, _FEED_TYPES.get(kind, "feed")))
    return tuple(sorted(found.values(), key=lambda feed: _rank(feed, url))[:MOST_LINKS])


def _rank(feed: FeedLink, url: str) -> tuple[bool, bool]:
    path = urlsplit(feed.url)
    return _NARROW.search(f"{path.path}?{path.query} {feed.title}") is not None, _site(path.netloc) != _site(
        urlsplit(url).netloc
    )


def _site(netloc: str) -> str:
    return netloc.lower().removeprefix("www.")


def _what_else(body: bytes, text: str) -> str:
    """Return the refusal of what is neither: a sentence that names what it is as well as can be told."""
    root = _ROOT.search(text[:4096])
    if root and text.lstrip().startswith("<"):
        if root[1].lower() in ("urlset", "sitemapindex"):
            return "This is a sitemap, not a feed or a page."
        if root[1].lower() == "svg":
            return "This is an SVG image, not a feed or a page."
        return f"This is XML of another kind (root element <{root[1][:60]}>), not a feed or a page."
    if (
        b"\x00" in body[:_SNIFFED]
        or sum(c < " " and c not in "\t\r\n\f" for c in text[:_SNIFFED]) > len(text[:_SNIFFED]) // 10
    ):
        return "This is binary data, not a feed or a page."
    if text.lstrip()[:1] == "[":
        return "This is JSON, but not a JSON Feed."
    return "This is plain text, not a feed or a page."
