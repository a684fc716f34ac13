"""The reading of feeds: RSS 0.9x to 2.0, RDF, Atom 0.3 and 1.0 by feedparser; JSON Feed in `json_feed.py`.

feedparser gets a stream of decoded UTF-8, never a str or bare bytes: it would open a file or address that they name.
Its sanitiser and its rewriting of links in HTML are off, since no markup survives `text.plain`.
"""

from __future__ import annotations

import io
import re
from collections.abc import Iterator
from typing import Any

import feedparser

from actors.content.bodies.encoding import DecodedText, decode, end_of_prolog, unpacked
from actors.content.bodies.text import absolute, entry_address, normalise, plain
from actors.content.errors import ContentError
from actors.content.feeds.entries import Raw, content_of, entries_of, newest, title_of
from actors.content.feeds.json_feed import looks_like_json, read_json_feed
from actors.content.messages.readings import FeedReading, hints_of
from actors.content.wording.moments import moment
from storage.records.identity import Millis

_ROOT = re.compile(r"<(?:[\w.-]+:)?(rss|feed|rdf|channel)(?=[\s>/])[^>]*>", re.I)
_END = re.compile(r"</(?:[\w.-]+:)?(rss|feed|rdf|channel)\s*>", re.I)
_OF_A_PAGE = re.compile(
    r"<(?:html|head|body|main|article|pre|code|svg|script|style|meta|title|link|textarea|template)\b", re.I
)
_START = re.compile(r"<\?xml|<!DOCTYPE|<!--|<(?:[\w.-]+:)?(?:rss|feed|rdf)(?=[\s>/])", re.I)
_DECLARATION = re.compile(r"^<\?xml[^>]*>\s*", re.I)
_NOT_XML = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")
_SEARCHED = 64 * 1024
_VERSIONS = {
    "rss090": "rss 0.90", "rss091n": "rss 0.91", "rss091u": "rss 0.91", "rss092": "rss 0.92", "rss093": "rss 0.93",
    "rss094": "rss 0.94", "rss10": "rss 1.0", "rss20": "rss 2.0", "rss": "rss", "atom03": "atom 0.3", "atom10": "atom",
    "atom": "atom", "cdf": "cdf",
}  # fmt: skip
_MOST_LINKS = 5
PAGING = ("first", "previous", "next", "last", "prev-archive", "next-archive", "current")
"""The relations of RFC 5005."""
_DATES = ("published", "updated", "created", "prism_publicationdate")
_RAW_AMPERSAND = re.compile(r"<!\[CDATA\[.*?(?:\]\]>|\Z)|&(?!#\d+;|#[xX][0-9a-fA-F]+;|[A-Za-z][\w.-]*;)", re.DOTALL)


def read_feed(body: bytes, content_type: str, url: str) -> FeedReading:
    """Read the feed in a body: entries in document order, links resolved against `url`. Raises ContentError if none."""
    body = unpacked(body)
    if not body.strip():
        raise ContentError("The body is empty.")
    decoded = decode(body, content_type)
    if looks_like_json(decoded.text):
        return read_json_feed(decoded, url)
    root = feed_root(decoded.text)
    if root is None:
        raise ContentError("No feed: there is no <rss>, <feed> or <rdf:RDF> element.")
    try:
        return _read_xml(decoded, url, root)
    except (ValueError, LookupError, TypeError, AttributeError, AssertionError, OverflowError, RecursionError) as error:
        # feedparser's own bugs on hostile input; one of ours would show in the feeds of the tests.
        raise ContentError(f"The feed cannot be parsed ({type(error).__name__}).") from error


def feed_root(text: str) -> re.Match[str] | None:
    """Match the root element of a feed: the first element, or one after leading junk; None if there is none."""
    start = end_of_prolog(text)
    if _OF_A_PAGE.match(text, start):
        return None
    found = _ROOT.search(text, start, start + _SEARCHED)
    if found is None:
        return None
    # After <html> or <body> such an element is an example in a page; after anything else comes junk.
    return None if _OF_A_PAGE.search(text, start, found.start()) else found


def _read_xml(decoded: DecodedText, url: str, root: re.Match[str]) -> FeedReading:
    text = decoded.text
    start = _START.search(text)
    text = text[start.start() if start and start.start() < root.start() else root.start() :]
    clean = _NOT_XML.sub("", _DECLARATION.sub("", text, count=1))
    # feedparser turns a raw ampersand into "AT&T;", and "&copy=3" in a link into a sign.
    clean = _RAW_AMPERSAND.sub(lambda found: "&amp;" if found[0] == "&" else found[0], clean)
    # No content-location: feedparser would resolve ids against it, and a moved feed would get new identities.
    headers = {"content-type": "application/xml; charset=utf-8"}
    parsed = feedparser.parse(
        io.BytesIO(clean.encode("utf-8")), response_headers=headers, sanitize_html=False, resolve_relative_uris=False
    )
    version = str(parsed.get("version") or "")
    kind = _VERSIONS.get(version, "rss" if root[1].lower() != "feed" else "atom")
    atom, home = kind.startswith("atom"), absolute(str(parsed.feed.get("link") or ""), url)
    # Atom resolves a relative link against its document (RFC 4287, 2), RSS against its channel's page.
    base = url if atom else home or url
    if not version and not parsed.entries and not parsed.feed.get("title"):
        raise ContentError("The document begins like a feed, but is not one.")
    found = newest(parsed.entries, _published)
    cut = not _is_closed(clean, root[1].lower())
    return FeedReading(
        title=title_of(parsed.feed, atom=atom)[:1000].replace("\n", " "),
        url=home,
        format=kind,
        entries=entries_of([_raw(entry, base, atom=atom) for entry in found]),
        hints=hints_of(text),
        damaged=decoded.damaged or bool(parsed.get("bozo")),
        hubs=_links(parsed.feed, url, ("hub",))[:_MOST_LINKS],
        paging=tuple((rel, link) for rel in PAGING for link in _links(parsed.feed, url, (rel,))[:1]),
        cut=cut,
        cut_entry=cut,
        left_out=len(parsed.entries) - len(found),
    )


def _is_closed(text: str, root: str) -> bool:
    """Whether a document has the end tag of its root, or of the channel around all entries."""
    ends = _END.findall(text, max(0, text.lower().rfind("</item")))
    return any(end.lower() == root or (root == "rss" and end.lower() == "channel") for end in ends)


def _links(feed: Any, url: str, rels: tuple[str, ...]) -> tuple[str, ...]:
    found = (absolute(str(link.get("href") or ""), url) for link in feed.get("links") or () if link.get("rel") in rels)
    return tuple(dict.fromkeys(link for link in found if link))


def _raw(entry: Any, base: str, *, atom: bool) -> Raw:
    own = normalise(str(entry.get("id") or ""))
    return Raw(
        id=own,
        url=_link(entry, own, base),
        title=title_of(entry, atom=atom),
        author=_author(entry),
        content=content_of(entry, atom=atom),
        published_at=_published(entry),
        tags=tuple(_tags(entry)),
    )


def _author(entry: Any) -> str:
    detail = entry.get("author_detail") or {}
    return plain(str(detail.get("name") or entry.get("author") or "")).replace("\n", " ")


def _link(entry: Any, own: str, base: str) -> str:
    """Return the entry's page: its alternate link, else any link, else a guid that is a link, else an enclosure."""
    links = [link for link in entry.get("links") or () if link.get("rel", "alternate") == "alternate"]
    links.sort(key=lambda link: link.get("type") not in (None, "text/html", "application/xhtml+xml"))
    candidates = [(str(link.get("href") or ""), base) for link in links]
    candidates += [(link, base) for link in [str(entry.get("link") or "")] if link != own]
    # A guid counts as an address only if it looks like one: "4711" is no path.
    candidates.append((own, base if own.startswith("/") else ""))
    candidates += [(str(each.get("href") or ""), base) for each in entry.get("enclosures") or ()]
    candidates += [(str(each.get("src") or ""), base) for each in entry.get("content") or ()]
    return next((safe for link, seen_from in candidates if (safe := entry_address(link, seen_from))), "")


def _published(entry: Any) -> Millis | None:
    # dict.get, because feedparser's own lookup falls back to a related date and warns.
    found = (moment(str(dict.get(entry, name) or "")) for name in _DATES)
    return next((at for at in found if at is not None), None)


def _tags(entry: Any) -> Iterator[str]:
    for tag in entry.get("tags") or ():
        yield f"category:{tag.get('term') or tag.get('label') or ''}"
    for enclosure in entry.get("enclosures") or ():
        yield f"enclosure:{enclosure.get('type') or 'application/octet-stream'}"
