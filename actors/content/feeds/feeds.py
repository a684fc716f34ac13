"""The reading of feeds: RSS 0.9x to 2.0, RDF, Atom 0.3 and 1.0 by feedparser; JSON Feed
1.0 and 1.1 (https://www.jsonfeed.org/version/1.1/), as leniently; and lists of feeds: OPML, FOAF and iGoogle.

feedparser gets a stream of decoded UTF-8, never a str or bare bytes: it would open a file or address that they name.
Its sanitiser and its rewriting of links in HTML are off, since no markup survives `text.plain`. listparser gets
UTF-8 bytes with a BOM; it uses libxml2's HTML parser, which knows only HTML's own entities and opens nothing.
"""

from __future__ import annotations

import codecs
import io
import json
import re
from collections.abc import Mapping
from typing import Any, Final

import feedparser
import listparser

from actors.content.bodies.encoding import DecodedText, decode, end_of_prolog, unpacked
from actors.content.bodies.markup import NOT_XML
from actors.content.bodies.text import absolute, entry_address, normalise, plain
from actors.content.errors import ContentError
from actors.content.feeds.entries import Raw, content_of, entries_of, newest, title_of
from actors.content.messages.readings import FeedReading, hints_of
from actors.content.wording.moments import moment
from actors.messages.outline import FeedLine, Outline
from storage.records.identity import Millis
from storage.records.source import OWN_NAMESPACES

_ROOT = re.compile(r"<(?:[\w.-]+:)?(rss|feed|rdf|channel)(?=[\s>/])[^>]*>", re.I)
_END = re.compile(r"</(?:[\w.-]+:)?(rss|feed|rdf|channel)\s*>", re.I)
_OF_A_PAGE = re.compile(
    r"<(?:html|head|body|main|article|pre|code|svg|script|style|meta|title|link|textarea|template)\b", re.I
)
_START = re.compile(r"<\?xml|<!DOCTYPE|<!--|<(?:[\w.-]+:)?(?:rss|feed|rdf)(?=[\s>/])", re.I)
_DECLARATION = re.compile(r"^<\?xml[^>]*>\s*", re.I)
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
    clean = NOT_XML.sub("", _DECLARATION.sub("", text, count=1))
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
    # A whole document has the end tag of its root, or of the channel around all entries.
    closing = {root[1].lower(), "channel"} if root[1].lower() == "rss" else {root[1].lower()}
    cut = closing.isdisjoint(map(str.lower, _END.findall(clean, max(0, clean.lower().rfind("</item")))))
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


def _links(feed: Any, url: str, rels: tuple[str, ...]) -> tuple[str, ...]:
    found = (absolute(str(link.get("href") or ""), url) for link in feed.get("links") or () if link.get("rel") in rels)
    return tuple(dict.fromkeys(link for link in found if link))


def _raw(entry: Any, base: str, *, atom: bool) -> Raw:
    own, author = normalise(str(entry.get("id") or "")), entry.get("author_detail") or {}
    return Raw(
        id=own,
        url=_link(entry, own, base),
        title=title_of(entry, atom=atom),
        author=plain(str(author.get("name") or entry.get("author") or "")).replace("\n", " "),
        content=content_of(entry, atom=atom),
        published_at=_published(entry),
        tags=(
            *(f"category:{tag.get('term') or tag.get('label') or ''}" for tag in entry.get("tags") or ()),
            *(f"enclosure:{each.get('type') or 'application/octet-stream'}" for each in entry.get("enclosures") or ()),
        ),
    )


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


_HEAD = 4096
_MOST_HUBS = 5
_ITEMS = re.compile(r'"items"\s*:\s*\[')
_NEXT = re.compile(r"\s*,?\s*(?=[{\[\"])")
_CUT = "\0cut"
"""A member that marks a truncated document."""
_JSON_DATES = ("date_published", "date_modified")


def looks_like_json(text: str) -> bool:
    return text[:_HEAD].lstrip("\ufeff \t\r\n")[:1] == "{"


def read_json_feed(decoded: DecodedText, url: str) -> FeedReading:
    """Read the feed in a JSON text. Raises ContentError if it is no JSON, hostile, or other JSON."""
    document = _document(decoded.text)
    version, items = document.get("version"), document.get("items")
    declared = isinstance(version, str) and "jsonfeed" in version.lower()
    signs = {"id", "url", "content_html", "content_text"}
    begins = "title" in document and all(
        isinstance(item, dict) and signs & item.keys() for item in _listed(document, "items")[:5]
    )
    if not isinstance(items, list) or not (declared or begins):
        raise ContentError("The body is JSON, but not a JSON Feed: it has no `version` of jsonfeed.org with `items`.")
    dicts = [item for item in items if isinstance(item, dict)]
    found = newest(dicts, _json_date)
    return FeedReading(
        title=normalise(_string(document, "title")).replace("\n", " "),
        url=absolute(_string(document, "home_page_url"), url),
        format="json feed",
        entries=entries_of([_json_entry(item, url) for item in found]),
        damaged=decoded.damaged,
        hubs=tuple(
            link
            for hub in _listed(document, "hubs")[:_MOST_HUBS]
            if isinstance(hub, dict) and (link := absolute(_string(hub, "url"), url))
        ),
        paging=(("next", following),) if (following := absolute(_string(document, "next_url"), url)) else (),
        cut=document.get(_CUT) is True,
        left_out=len(dicts) - len(found),
    )


def _document(text: str) -> Mapping[str, Any]:
    text = text.lstrip("\ufeff \t\r\n")
    try:
        document = json.loads(text, strict=False)
    except RecursionError:
        raise ContentError("The JSON is nested too deeply.") from None
    except json.JSONDecodeError as error:
        if (salvaged := _salvaged(text)) is not None:
            return salvaged
        raise ContentError(f"The body begins like JSON, but is invalid: {error.msg} in line {error.lineno}.") from None
    except ValueError:
        raise ContentError("A number in the JSON is too long.") from None
    return document if isinstance(document, dict) else {}


def _salvaged(text: str) -> Mapping[str, Any] | None:
    start = _ITEMS.search(text)
    if start is None:
        return None
    decoder, items, at = json.JSONDecoder(strict=False), list[object](), start.end()
    try:
        head = json.loads(text[:at] + "]}", strict=False)
        while comma := _NEXT.match(text, at):
            item, at = decoder.raw_decode(text, comma.end())
            items.append(item)
    except json.JSONDecodeError as error:
        # Truncation shows as an error at the very end; an error before that is another defect.
        is_cut = error.pos >= len(text.rstrip()) - 1 or error.msg.startswith("Unterminated string")
    except (ValueError, RecursionError):
        return None
    else:
        is_cut = not text[at:].strip()
    return {**head, "items": items, _CUT: True} if is_cut and items else None


def _json_entry(item: Mapping[str, Any], base: str) -> Raw:
    markup, text = _string(item, "content_html"), _string(item, "content_text")
    attached = [each for each in _listed(item, "attachments") if isinstance(each, dict)]
    candidates = [_string(item, "url"), _string(item, "external_url"), absolute(_string(item, "id"), "")]
    candidates += [str(each.get("url") or "") for each in attached]
    author = next(iter(_listed(item, "authors")), item.get("author"))
    tags = [f"category:{word}" for word in _listed(item, "tags") if isinstance(word, str)]
    tags += [f"enclosure:{kind}" for each in attached if (kind := _string(each, "mime_type"))]
    return Raw(
        id=normalise(_string(item, "id")),
        url=next((link for each in candidates if (link := entry_address(each, base))), ""),
        title=normalise(_string(item, "title")),
        author=plain(_string(author, "name")) if isinstance(author, dict) else "",
        content=plain(markup) or normalise(text) or plain(_string(item, "summary")),
        published_at=_json_date(item),
        tags=tuple(tags),
    )


def _json_date(item: Mapping[str, Any]) -> Millis | None:
    return next((at for name in _JSON_DATES if (at := moment(_string(item, name))) is not None), None)


def _string(fields: Mapping[str, Any], name: str) -> str:
    value = fields.get(name)
    if isinstance(value, str):
        return value.strip()
    return str(value) if isinstance(value, int) and not isinstance(value, bool) and value.bit_length() < 256 else ""


def _listed(item: Mapping[str, Any], name: str) -> list[Any]:
    found = item.get(name)
    return found if isinstance(found, list) else []


MOST_LINES: Final = 5_000
"""Feeds read from one list."""
MOST_FOLDERS: Final = 10
_LONGEST_TITLE, _LONGEST_TAG, _LONGEST_URL = 200, 80, 2048
_NAMED = re.compile(r"([a-z0-9_-]+):\S.*")


def read_outline(body: bytes, most: int = MOST_LINES) -> Outline:
    """Return the feeds of a list, each address once. Raises ContentError for any other document."""
    text = decode(unpacked(body), "").text
    try:
        found = listparser.parse(codecs.BOM_UTF8 + text.encode("utf-8", "replace"))
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError) as error:
        # listparser fails on damaged lists: it closes elements that were never opened.
        raise ContentError(f"The list of feeds cannot be parsed ({type(error).__name__}).") from error
    if not found["version"]:
        raise ContentError("This is not a list of feeds: it has no <opml> element.")
    feeds, lists = found["feeds"], found["lists"]
    if not feeds:
        names = f"; it names {len(lists)} other lists, which are not followed" if lists else ""
        raise ContentError(f"This list of feeds contains no feed{names}.")
    return Outline(
        title=_one_line(str(found["meta"].get("title", "")), _LONGEST_TITLE),
        feeds=tuple(_line(feed) for feed in feeds[:most]),
        lists=tuple(_one_line(one["url"], _LONGEST_URL) for one in lists[:MOST_LINES]),
        left_out=max(0, len(feeds) - most),
    )


def _line(feed: Mapping[str, Any]) -> FeedLine:
    folders = [folder for path in feed.get("categories", ()) for folder in path[:MOST_FOLDERS]]
    tags = tuple(filter(None, dict.fromkeys(map(_folder_tag, folders))))[:MOST_FOLDERS]
    return FeedLine(feed["url"], _one_line(feed["title"], _LONGEST_TITLE), tags)


def _folder_tag(folder: str) -> str:
    """Return a folder's name as a tag. "Tides: north" is a title with a colon; "topic:tides" is already a tag."""
    word = _one_line(folder, _LONGEST_TAG)
    named = _NAMED.fullmatch(word)
    is_tag = named is not None and named[1] not in OWN_NAMESPACES
    return word if is_tag else _one_line(word.replace(":", " "), _LONGEST_TAG)


def _one_line(text: str, most: int) -> str:
    return " ".join(text.split())[:most].strip()
