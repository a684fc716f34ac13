"""Atom 1.0 (RFC 4287), paged (RFC 5005) and with tombstones (RFC 6721). Pure."""

from __future__ import annotations

from xml.etree.ElementTree import Element, SubElement

from actors.feed_documents.entry import DeletedEntry, FeedEntry, FeedPage
from actors.feed_documents.xml import document, text_in

MEDIA = "application/atom+xml; charset=utf-8"
_TOMBSTONES = "http://purl.org/atompub/tombstones/1.0"


def atom(feed: FeedPage) -> bytes:
    """Return the document of a page of a feed."""
    root = Element(
        "feed", {"xmlns": "http://www.w3.org/2005/Atom"} | ({"xmlns:at": _TOMBSTONES} if feed.deleted else {})
    )
    text_in(root, "id", f"urn:uuid:{feed.id}")
    text_in(root, "title", feed.title)
    text_in(root, "updated", feed.updated)
    text_in(SubElement(root, "author"), "name", feed.title)
    text_in(root, "generator", "Sanderling")
    _link(root, "self", feed.here, "application/atom+xml")
    _link(root, "alternate", feed.page, "text/html")
    _link(root, "first", feed.first, "application/atom+xml")
    if feed.older:
        _link(root, "next", feed.older, "application/atom+xml")
    for deleted in feed.deleted:
        _deleted(root, deleted)
    for entry in feed.entries:
        _entry(root, feed, entry)
    return document(root)


def _entry(root: Element, feed: FeedPage, entry: FeedEntry) -> None:
    made = SubElement(root, "entry")
    text_in(made, "id", f"urn:uuid:{entry.id}")
    text_in(made, "title", entry.title)
    text_in(made, "updated", entry.updated or feed.updated)
    if entry.published:
        text_in(made, "published", entry.published)
    if entry.author:
        text_in(SubElement(made, "author"), "name", entry.author)
    shown = f"{feed.page}/{entry.id}"
    _link(made, "alternate", entry.link or shown, "text/html")
    if entry.link:
        _link(made, "related", shown, "text/html")
    for tag in entry.tags:
        SubElement(made, "category", term=tag)
    if entry.summary:
        text_in(made, "summary", entry.summary)
    text_in(made, "content", entry.html, type="html")


def _deleted(root: Element, deleted: DeletedEntry) -> None:
    made = SubElement(root, "at:deleted-entry", ref=f"urn:uuid:{deleted.id}", when=deleted.when)
    text_in(made, "at:comment", "It was no news.")


def _link(parent: Element, rel: str, href: str, media: str) -> None:
    SubElement(parent, "link", rel=rel, href=href, type=media)
