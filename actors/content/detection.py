"""Detection from a body's bytes alone: a feed, a page, or unwatchable, with evidence for a person.

Text without HTML elements is a page of text in any format (`plain`). The declared content type only affects the
encoding: two of five are wrong.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Sequence
from importlib.resources import files
from urllib.parse import urlsplit

from actors.content.bodies import markup
from actors.content.bodies.encoding import decode, end_of_prolog, unpacked
from actors.content.bodies.sniffing import ERROR, NO_FILES, binary_kind, is_document, looks_like_html
from actors.content.bodies.text import absolute, normalise
from actors.content.errors import ContentError
from actors.content.feeds import feed_root, looks_like_json, read_feed
from actors.content.messages import FeedLink, Finding, StandIn
from actors.content.pages.blocks import read_blocks
from actors.content.pages.listing import base_of
from actors.content.pages.plain import read_bytes, read_file, read_plain, unwatchable
from actors.content.pages.walls import shell_of, trouble_of
from storage.records.source import Confidence

MOST_LINKS, _SNIFFED = 20, 512
_TABLES = tomllib.loads(files("actors.content").joinpath("detection.toml").read_text("utf-8"))
_FEED_TYPES: dict[str, str] = _TABLES["feed_types"]
_MAYBE_TYPES = frozenset({"application/json", "application/xml", "text/xml"})
_FEED_WORDS, _API = re.compile(r"rss|atom|feed", re.I), re.compile("oembed|wp-json")
_NARROW = re.compile(r"comm?ent|kommentar|reactie|komentar|комментар|comentári|repl(?:y|ies)|/podcast|\?s=", re.I)
_PART = re.compile(r"/(?:category|kategorie|categorie|tag|tags|topic|author|autor|label|section)/", re.I)
_ROOT = re.compile(r"<([A-Za-z_][\w.:-]*)[^>]*>")
_FEED_SCHEME = re.compile(r"^feed:(?:https?:)?//", re.I)
_REFRESH = re.compile(r"url\s*=\s*[\"']?\s*([^\"'\s>]{1,2000})", re.I)
_JSON_FEED = re.compile(r'"version"\s*:\s*"https?:\\?/\\?/(?:www\.)?jsonfeed\.org\b', re.I)
_NAMESPACE = re.compile(r"\s+(?:xmlns(?::[\w.-]+)?|[\w.-]+:[\w.-]+)\s*=\s*(?:\"[^\"]*\"|'[^']*')")
_ROOT_SHOWN = 120
_LOOK = "Open the URL in a browser to see whether it is the right one."
_OTHER = "Add the page that links to it."
_WALLS: dict[str, str] = _TABLES["walls"]
_SAYS = {"empty": "This page has no visible text.", "script": "This page needs JavaScript: it has no text without it."}


def detect(body: bytes, content_type: str, url: str) -> Finding:
    """Detect a body's type. Never raises: an unwatchable body is a finding with a refusal."""
    media = content_type.split(";", maxsplit=1)[0].strip()[:60]
    served = f"served as {media}" if content_type.strip() else "served without a type"
    packed, body = body, unpacked(body)
    if packed is not body:
        served = f"unpacked from gzip that no header declares; {served}"
    if not body.strip(b" \t\r\n\x00\xef\xbb\xbf\xff\xfe"):
        return _refused(f"The body is empty. {_LOOK}", f"0 bytes of content; {served}")
    try:
        file = read_file(body)
    except ContentError as error:
        return _refused(f"{error.reason} {_OTHER}", f"the body begins with {body[:5]!r}; {served}")
    if file is not None:
        return Finding("html", "high", f"{file.says}; {served}", file.format)
    text = decode(body, content_type).text
    if kind := binary_kind(body) or unwatchable(text):
        if kind in NO_FILES:
            evidence = _shown_root(text) if kind == ERROR else f"the body begins with {body[:5]!r}"
            return _refused(f"This is {kind}, not a feed or a page. {_LOOK}", f"{evidence}; {served}")
        plain = read_bytes(kind, body)
        return Finding("html", "high", f"{plain.says}; {served}", plain.format)
    is_feed = feed_root(text) is not None
    if is_feed or looks_like_json(text):
        try:
            return _feed(body, content_type, url, text, served)
        except ContentError as error:
            if not looks_like_html(text[:_SNIFFED]) if is_feed else _JSON_FEED.search(text[:4096]):
                return _refused(error.reason, f"{_shown_root(text)}; {served}", is_broken_feed=True)
    if not is_feed and (document := read_plain(text)) is not None:
        return Finding("html", "high", f"{document.says}; {served}", document.format, sitemap=document.sitemap)
    return _page(text, url, served)


def _refused(reason: str, evidence: str, *, is_broken_feed: bool = False) -> Finding:
    return Finding(None, "high", evidence, "", refusal=reason, is_broken_feed=is_broken_feed)


def _feed(body: bytes, content_type: str, url: str, text: str, served: str) -> Finding:
    reading = read_feed(body, content_type, url)
    root, count = feed_root(text), len(reading.entries)
    items = f"{count} item{'' if count == 1 else 's'}"
    junk = root is not None and end_of_prolog(text) < root.start()
    sign = "JSON with `version` and `items` of a JSON Feed"
    if root is not None:
        sign = f"root element {' '.join(_NAMESPACE.sub('', root[0]).split())[:_ROOT_SHOWN]}"
    notes = [
        f"{sign}, {items}",
        "after leading junk" if junk else "",
        "ill-formed, recovered" if reading.damaged else "",
        f"names a WebSub hub ({reading.hubs[0]})" if reading.hubs else "",
        f"has more pages ({', '.join(rel for rel, _ in reading.paging)})" if reading.paging else "",
        served,
    ]
    confidence: Confidence = "medium" if junk or not count else "high"
    evidence = "; ".join(note for note in notes if note)
    return Finding("feed", confidence, evidence, reading.format, feed=reading)


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
    evidence = f"{sign}, which advertises {len(feeds) or 'no'} feed{'s' if len(feeds) > 1 else ''}; {served}"
    trouble = trouble_of(root, title, blocks)
    shell = shell_of(root, trouble, blocks)
    if trouble is not None:
        refusal = _refusal_of(trouble, root, url, feeds)
        return Finding(None, "medium", evidence, "html", feeds, refusal, trouble, shell=shell)
    confidence: Confidence = "high" if is_document(text) else "medium"
    return Finding("html", confidence, evidence, "html", feeds, shell=shell)


def _refusal_of(trouble: StandIn, root: markup.Element, url: str, feeds: Sequence[FeedLink]) -> str:
    kind, _, words = trouble.says.partition(":")
    if feeds:
        advice = f"Its feed may work: {feeds[0].url}."
    elif onward := _onward(root, url):
        advice = f"It only sends browsers on: add {onward}."
    else:
        advice = _WALLS.get(trouble.kind, "Try again later.")
    said = f"an error page ({words.strip()})" if trouble.kind == "error" else f"a {kind}"
    return f"{_SAYS.get(trouble.kind, f'This is not the page itself, but {said}.')} {advice}"


def _onward(root: markup.Element, url: str) -> str:
    for meta in root.iter("meta"):
        is_refresh = (meta.get("http-equiv") or "").lower() == "refresh"
        if is_refresh and (found := _REFRESH.search(meta.get("content") or "")):
            return absolute(found[1], url)
    return next((link for frame in root.iter("frame") if (link := absolute(frame.get("src") or "", url))), "")


def feed_links(root: markup.Element, url: str) -> tuple[FeedLink, ...]:
    """Return the feeds that a page's <link> elements advertise, best first: same host, the whole site over comments."""
    base = base_of(root, url)
    found: dict[str, FeedLink] = {}
    for link in root.iter("link"):
        rel = (link.get("rel") or "").lower().split()
        kind = (link.get("type") or "").split(";")[0].strip().lower()
        title = normalise(link.get("title") or "")[:200]
        href = _FEED_SCHEME.sub("https://", (link.get("href") or "").strip())
        if not ({"alternate", "feed"} & set(rel)) or "stylesheet" in rel:
            continue
        hinted = kind in _MAYBE_TYPES and _FEED_WORDS.search(f"{href} {title}") and not _API.search(href)
        if (kind in _FEED_TYPES or hinted or "feed" in rel) and (address := absolute(href, base)):
            found.setdefault(address, FeedLink(address, title, _FEED_TYPES.get(kind, "feed")))
    return tuple(sorted(found.values(), key=lambda feed: _rank(feed, url))[:MOST_LINKS])


def _rank(feed: FeedLink, url: str) -> tuple[bool, bool, int]:
    there, here = urlsplit(feed.url), urlsplit(url)
    narrow = _NARROW.search(f"{there.path}?{there.query} {feed.title}") is not None
    own = _PART.search(here.path) is not None and there.path.startswith(here.path)
    part = 1 if not _PART.search(there.path) else 0 if own else 2
    return narrow, _site(there.netloc) != _site(here.netloc), part


def _site(netloc: str) -> str:
    return netloc.lower().removeprefix("www.")
