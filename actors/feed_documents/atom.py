"""Atom 1.0 (RFC 4287), paged (RFC 5005) and with tombstones (RFC 6721). Pure."""

from __future__ import annotations

from xml.etree.ElementTree import Element

from actors.feed_documents.entry import DeletedEntry, FeedEntry, FeedPage
from actors.feed_documents.xml import document, element_in

MEDIA = "application/atom+xml; charset=utf-8"
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
        _deleted(root, deleted)
    for entry in feed.entries:
        _entry(root, feed, entry)
    return document(root)


def _entry(root: Element, feed: FeedPage, entry: FeedEntry) -> None:
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


def _deleted(root: Element, deleted: DeletedEntry) -> None:
    made = element_in(root, "at:deleted-entry", ref=f"urn:uuid:{deleted.id}", when=deleted.when)
    element_in(made, "at:comment", "It was no news.")


def _link(parent: Element, rel: str, href: str, media: str) -> None:
    element_in(parent, "link", rel=rel, href=href, type=media)
