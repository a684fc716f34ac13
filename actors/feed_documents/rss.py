"""RSS 2.0 (the Advisory Board's specification, 2.0.11), paged by Atom links as in RFC 5005. Pure.

It has no tombstones.
"""

from __future__ import annotations

from datetime import UTC, datetime
from email.utils import format_datetime
from xml.etree.ElementTree import Element

from actors.feed_documents.entry import FeedEntry, FeedPage
from actors.feed_documents.xml import document, element_in
from storage.records.times import parse_rfc3339

MEDIA = "application/rss+xml; charset=utf-8"
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
    element_in(channel, "description", f"What is new: {feed.title}")
    element_in(channel, "lastBuildDate", _date(feed.updated))
    element_in(channel, "generator", "Sanderling")
    for rel, href in (("self", feed.here), ("first", feed.first), ("next", feed.older)):
        if href:
            element_in(channel, "atom:link", rel=rel, href=href, type="application/rss+xml")
    if feed.hub:
        element_in(channel, "atom:link", rel="hub", href=feed.hub)
    for entry in feed.entries:
        _item(channel, feed, entry)
    return document(root)


def _item(channel: Element, feed: FeedPage, entry: FeedEntry) -> None:
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
