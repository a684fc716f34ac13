"""The formats of feeds, by the ending of their URLs. Pure.

Atom 1.0 (RFC 4287) with tombstones (RFC 6721), RSS 2.0 (the Advisory Board's specification, 2.0.11), both paged by
links (RFC 5005), and JSON Feed 1.1. The standard library writes the XML: it escapes text but lets forbidden characters
through.

An entry of a feed from an event, and the feed around it. Pure. Texts are inert.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from email.utils import format_datetime
from html import escape
from types import MappingProxyType
from typing import Any, Final, NamedTuple
from xml.etree.ElementTree import Element, SubElement, tostring

import msgspec
from msgspec import UNSET, UnsetType

from actors.notification.dialects import cut, one_line, paragraphs
from actors.notification.fitting import difference_of
from actors.notification.headline import notification_of
from storage.records.event import CONTENT_CAP
from storage.records.identity import parse_rfc3339, rfc3339
from storage.records.source import OWN_NAMESPACES

LONGEST_TAG: Final = 100
MOST_TAGS: Final = 30


class FeedEntry(NamedTuple):
    """link: http(s), or "". html: difference or text. published, updated: RFC 3339; of the source, and the event."""

    id: str
    title: str
    link: str
    author: str
    summary: str
    html: str
    tags: tuple[str, ...]
    published: str
    updated: str


class DeletedEntry(NamedTuple):
    """An event that was retracted (RFC 6721): its id, and when."""

    id: str
    when: str


class FeedPage(NamedTuple):
    """A page (RFC 5005, 3), newest first. id: constant. here, first, older: URLs. hub: WebSub's, "" without."""

    id: str
    title: str
    page: str
    here: str
    first: str
    older: str
    updated: str
    entries: Sequence[FeedEntry]
    deleted: Sequence[DeletedEntry] = ()
    hub: str = ""


class _Event(msgspec.Struct, frozen=True):
    """Further fields of an event for its entry. All may be missing: the log has events of other versions."""

    author: str = ""
    tags: tuple[str, ...] = ()
    published_at: str | None = None
    emitted_at: str = ""
    content: str = ""
    diff: msgspec.Raw | UnsetType = UNSET


_decode = msgspec.json.Decoder(_Event).decode


def entry_of(id: str, body: bytes) -> FeedEntry:
    """Return the entry of an event, given as its wire JSON. Raises msgspec.MsgspecError if it is invalid."""
    event = _decode(body)
    (item,) = notification_of(id, body).items
    told = _moment(event.emitted_at)
    return FeedEntry(
        id=item.id or id,
        title=item.headline,
        link=item.link,
        author=cut(one_line(event.author), 200),
        summary=item.summary,
        html=difference_of(item) if item.lines else _html(event.content) or f"<p>{escape(item.title)}</p>",
        tags=tuple(dict.fromkeys(filter(None, map(_shown, event.tags[:MOST_TAGS])))),
        published=_moment(event.published_at) or told,
        updated=told,
    )


def _html(content: str) -> str:
    blocks = paragraphs(content.encode()[:CONTENT_CAP].decode("utf-8", "ignore")).split("\n\n")
    return "".join(f"<p>{escape(block, quote=False).replace(chr(10), '<br>')}</p>" for block in blocks if block)


def _shown(tag: str) -> str:
    """Return a tag as readers know it: labels and categories as bare words; "" for the service's own."""
    space, _, value = tag.partition(":")
    if space in OWN_NAMESPACES:
        return ""
    return cut(one_line(value if space in ("label", "category") else tag), LONGEST_TAG)


def _moment(text: str | None) -> str:
    """Return a moment in the one spelling, "" if missing or invalid."""
    try:
        return rfc3339(parse_rfc3339(text)) if text else ""
    except (ValueError, OverflowError):
        return ""


_FORBIDDEN = re.compile("[^\\t\\n\\r\\x20-\\ud7ff\\ue000-\\ufdcf\\ufdf0-\\ufffd\\U00010000-\\U0010ffff]")
"""XML 1.0, 2.2, and the first plane's other noncharacters, which it discourages."""


def sound(text: str) -> str:
    """Return a text without the characters that XML forbids."""
    return _FORBIDDEN.sub("", text)


def element_in(parent: Element, name: str, text: str = "", **attributes: str) -> Element:
    made = SubElement(parent, name, {key: sound(value) for key, value in attributes.items()})
    made.text = sound(text) or None
    return made


def document(root: Element) -> bytes:
    written: str = tostring(root, encoding="unicode")
    return f'<?xml version="1.0" encoding="utf-8"?>\n{written}\n'.encode()


_TOMBSTONES = "http://purl.org/atompub/tombstones/1.0"


def atom(feed: FeedPage) -> bytes:
    root = Element(
        "feed", {"xmlns": "http://www.w3.org/2005/Atom"} | ({"xmlns:at": _TOMBSTONES} if feed.deleted else {})
    )
    element_in(root, "id", f"urn:uuid:{feed.id}")
    element_in(root, "title", feed.title)
    element_in(root, "updated", feed.updated)
    element_in(element_in(root, "author"), "name", feed.title)
    element_in(root, "generator", "Sanderling")
    _link(root, "self", feed.here, "application/atom+xml")
    _link(root, "alternate", feed.page, "text/html")
    _link(root, "first", feed.first, "application/atom+xml")
    if feed.hub:
        element_in(root, "link", rel="hub", href=feed.hub)
    if feed.older:
        _link(root, "next", feed.older, "application/atom+xml")
    for deleted in feed.deleted:
        made = element_in(root, "at:deleted-entry", ref=f"urn:uuid:{deleted.id}", when=deleted.when)
        element_in(made, "at:comment", "It was no news.")
    for entry in feed.entries:
        _atom_entry(root, feed, entry)
    return document(root)


def _atom_entry(root: Element, feed: FeedPage, entry: FeedEntry) -> None:
    made = element_in(root, "entry")
    element_in(made, "id", f"urn:uuid:{entry.id}")
    element_in(made, "title", entry.title)
    element_in(made, "updated", entry.updated or feed.updated)
    if entry.published:
        element_in(made, "published", entry.published)
    if entry.author:
        element_in(element_in(made, "author"), "name", entry.author)
    shown = f"{feed.page}/{entry.id}"
    _link(made, "alternate", entry.link or shown, "text/html")
    if entry.link:
        _link(made, "related", shown, "text/html")
    for tag in entry.tags:
        element_in(made, "category", term=tag)
    if entry.summary:
        element_in(made, "summary", entry.summary)
    element_in(made, "content", entry.html, type="html")


def _link(parent: Element, rel: str, href: str, media: str) -> None:
    element_in(parent, "link", rel=rel, href=href, type=media)


_SPACES = {
    "version": "2.0",
    "xmlns:atom": "http://www.w3.org/2005/Atom",
    "xmlns:dc": "http://purl.org/dc/elements/1.1/",
}


def rss(feed: FeedPage) -> bytes:
    root = Element("rss", _SPACES)
    channel = element_in(root, "channel")
    element_in(channel, "title", feed.title)
    element_in(channel, "link", feed.page)
    element_in(channel, "description", f"News: {feed.title}")
    element_in(channel, "lastBuildDate", _date(feed.updated))
    element_in(channel, "generator", "Sanderling")
    for rel, href in (("self", feed.here), ("first", feed.first), ("next", feed.older)):
        if href:
            element_in(channel, "atom:link", rel=rel, href=href, type="application/rss+xml")
    if feed.hub:
        element_in(channel, "atom:link", rel="hub", href=feed.hub)
    for entry in feed.entries:
        _rss_item(channel, feed, entry)
    return document(root)


def _rss_item(channel: Element, feed: FeedPage, entry: FeedEntry) -> None:
    made = element_in(channel, "item")
    element_in(made, "title", entry.title)
    element_in(made, "link", entry.link or f"{feed.page}/{entry.id}")
    element_in(made, "guid", f"urn:uuid:{entry.id}", isPermaLink="false")
    element_in(made, "pubDate", _date(entry.updated or feed.updated))
    if entry.author:
        element_in(made, "dc:creator", entry.author)
    for tag in entry.tags:
        element_in(made, "category", tag)
    element_in(made, "description", entry.html)


def _date(moment: str) -> str:
    """Return a moment in RFC 822's format, with a four-digit year."""
    return format_datetime(datetime.fromtimestamp(parse_rfc3339(moment) / 1000, UTC), usegmt=True)


def json_feed(feed: FeedPage) -> bytes:
    told: dict[str, Any] = {
        "version": "https://jsonfeed.org/version/1.1",
        "title": feed.title,
        "home_page_url": feed.page,
        "feed_url": feed.here,
    }
    if feed.older:
        told["next_url"] = feed.older
    if feed.hub:
        told["hubs"] = [{"type": "WebSub", "url": feed.hub}]
    told["items"] = [_json_item(feed, entry) for entry in feed.entries]
    return msgspec.json.encode(told) + b"\n"


def _json_item(feed: FeedPage, entry: FeedEntry) -> dict[str, Any]:
    told: dict[str, Any] = {
        "id": f"urn:uuid:{entry.id}",
        "url": entry.link or f"{feed.page}/{entry.id}",
        "title": entry.title,
        "summary": entry.summary,
        "content_html": entry.html,
        "date_published": entry.published or feed.updated,
        "date_modified": entry.updated or feed.updated,
        "authors": [{"name": entry.author}] if entry.author else [],
        "tags": entry.tags,
    }
    return {name: value for name, value in told.items() if value}


class FeedFormat(NamedTuple):
    """A format: its label, media type, and writer."""

    label: str
    media: str
    write: Callable[[FeedPage], bytes]


FORMATS: Final[Mapping[str, FeedFormat]] = MappingProxyType(
    {
        "atom": FeedFormat("Atom", "application/atom+xml; charset=utf-8", atom),
        "rss": FeedFormat("RSS", "application/rss+xml; charset=utf-8", rss),
        "json": FeedFormat("JSON Feed", "application/feed+json; charset=utf-8", json_feed),
    }
)
