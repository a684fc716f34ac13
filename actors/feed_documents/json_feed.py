"""JSON Feed 1.1. Pure. It has no tombstones."""

from __future__ import annotations

from typing import Any

import msgspec

from actors.feed_documents.entry import FeedEntry, FeedPage

MEDIA = "application/feed+json; charset=utf-8"
_VERSION = "https://jsonfeed.org/version/1.1"


def json_feed(feed: FeedPage) -> bytes:
    told: dict[str, Any] = {
        "version": _VERSION,
        "title": feed.title,
        "home_page_url": feed.page,
        "feed_url": feed.here,
    }
    if feed.older:
        told["next_url"] = feed.older
    if feed.hub:
        told["hubs"] = [{"type": "WebSub", "url": feed.hub}]
    told["items"] = [_item(feed, entry) for entry in feed.entries]
    return msgspec.json.encode(told) + b"\n"


def _item(feed: FeedPage, entry: FeedEntry) -> dict[str, Any]:
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
