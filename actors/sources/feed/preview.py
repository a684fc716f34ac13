"""The preview of watching a feed."""

from __future__ import annotations

from collections import Counter
from typing import Final

from actors.content.messages.readings import Entry
from actors.egress.failures import LookFailed
from actors.messages.requests import DetectRequest
from actors.previews import EXCERPT, DraftEvent, FeedPreview, Preview
from actors.sources.detection.classify import Classification, refused
from actors.sources.feed.reader import hints_of, oldest_first, times_of, without_reports
from actors.sources.looks.pace import pace_of
from actors.sources.ports import Ports
from storage.records.event import NEW

NEWEST: Final = 10
MOST_BACKFILL: Final = 50


async def preview(ports: Ports, found: Classification, asked: DetectRequest) -> Preview:
    """Return the preview of a classified feed. Raises Unprocessable, Overloaded."""
    assert found.fetched is not None and found.feed is not None, "a feed was read when it was found out"
    try:
        feed = without_reports(found.feed, found.fetched)
    except LookFailed as failure:
        raise refused(failure, found.watch_url) from None
    pace = pace_of(ports, found.at, hints_of(feed, found.fetched), times_of(feed.entries))
    different = list({entry.key: entry for entry in reversed(feed.entries)}.values())[::-1]
    newest = [entry for entry, _ in oldest_first([(entry, NEW) for entry in different])][::-1]
    shown = FeedPreview(
        title=feed.title,
        format=feed.format,
        url=feed.url,
        entries=len(feed.entries),
        undated=sum(entry.published_at is None for entry in feed.entries),
        identities=dict(Counter(entry.identity for entry in feed.entries)),
        newest=tuple(_drafted(entry, found.watch_url) for entry in newest[:NEWEST]),
        backfill=min(MOST_BACKFILL, len(newest)),
        damaged=feed.damaged,
        hubs=feed.hubs,
        paging=dict(feed.paging),
    )
    return Preview(found.at, feed=shown, pace=pace)


def _drafted(entry: Entry, watch_url: str) -> DraftEvent:
    return DraftEvent(
        title=entry.title,
        url=entry.url or watch_url,
        author=entry.author,
        content=entry.content[:EXCERPT],
        published_at=entry.published_at,
        tags=(NEW, *entry.tags),
        identity=entry.identity,
    )
