"""Feeds: RSS, Atom, JSON Feed. An entry is known by its identity; one that was edited materially is told again."""

from __future__ import annotations

import msgspec

from actors.content.entries import Entry, FeedReading
from actors.content.requests import FeedRequest
from actors.egress.http import Fetched
from actors.source.cadence import Hints
from actors.source.seen import compare
from actors.source.tier import Reading, in_jail
from actors.world import Jail
from storage.records.event import Draft
from storage.records.identity import Millis
from storage.records.source import Source

NEW, UPDATED = "change:new", "change:updated"


class FeedTier:
    """Reads a feed's document."""

    accept = "application/atom+xml, application/rss+xml, application/feed+json, application/xml;q=0.9, */*;q=0.5"
    robots = False

    async def read(self, jail: Jail, source: Source, base: bytes, fetched: Fetched, at: Millis) -> Reading:
        """Return drafts of the entries that are new or edited. At the first look, of the newest `backfill` only."""
        request = FeedRequest(fetched.body, fetched.content_type, fetched.url)
        answer = await in_jail(jail, "feed", msgspec.msgpack.encode(request))
        feed = msgspec.msgpack.decode(answer, type=FeedReading)
        found = compare(base, [(entry.key, entry.fingerprint) for entry in feed.entries])
        chosen = [(feed.entries[i], NEW) for i in found.new] + [(feed.entries[i], UPDATED) for i in found.updated]
        chosen = _oldest_first(chosen)
        if not base:
            chosen = chosen[max(0, len(chosen) - source.backfill) :]
        drafts = tuple(_draft(source, entry, change, at) for entry, change in chosen)
        return Reading(drafts, found.memory, bool(found.new or found.updated), _hints(feed, fetched))


def _oldest_first(chosen: list[tuple[Entry, str]]) -> list[tuple[Entry, str]]:
    """Feeds list the newest first; where every entry has a date, the dates decide, and ties keep that order."""
    reverse = chosen[::-1]
    if any(entry.published_at is None for entry, _ in chosen):
        return reverse
    return sorted(reverse, key=lambda pair: pair[0].published_at or 0)


def _draft(source: Source, entry: Entry, change: str, at: Millis) -> Draft:
    return Draft(
        source_type="feed",
        source_url=source.url,
        url=entry.url or source.watch_url,
        title=entry.title,
        author=entry.author,
        content=entry.content,
        content_truncated=entry.content_truncated,
        content_hash=entry.content_hash,
        simhash=entry.simhash,
        tags=tuple(dict.fromkeys((*source.tags, change, *entry.tags))),
        published_at=entry.published_at,
        fetched_at=at,
    )


def _hints(feed: FeedReading, fetched: Fetched) -> Hints:
    said = feed.hints
    return Hints(
        max_age=fetched.max_age or 0.0,
        ttl=float(max(said.ttl_s or 0, said.period_s or 0)),
        skip_hours=said.skip_hours,
        skip_days=said.skip_days,
    )
