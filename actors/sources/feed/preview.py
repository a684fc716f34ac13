"""The preview of watching a feed, and the search for a text in it."""

from __future__ import annotations

from collections import Counter
from typing import Final, Literal, TypeAlias

import trio

from actors.content.messages.readings import Entry
from actors.content.wording.words import folded, holds
from actors.egress.failures import CheckFailed
from actors.egress.http import FetchedResponse
from actors.messages.previews import FeedPreview, Preview
from actors.messages.requests import DetectRequest
from actors.messages.sources import ExplainSource
from actors.messages.views import Reason, SourceView
from actors.sources.checks.drafts import draft_event
from actors.sources.checks.source_fetch import pace_preview
from actors.sources.detection.classify import Classification, domain_error
from actors.sources.feed.reader import FeedReader, fingerprint_of, hints_of, oldest_first, times_of, without_reports
from actors.sources.feed.seen import compare
from actors.sources.ports import Ports
from storage.records import trail
from storage.records.event import NEW
from storage.records.message import joined, message

NEWEST: Final = 10
MOST_BACKFILL: Final = 50


async def preview(ports: Ports, classification: Classification, request: DetectRequest) -> Preview:
    """Return the preview of a classified feed. Raises Unprocessable, Overloaded."""
    assert classification.fetched is not None and classification.feed is not None, "it was read at detection"
    try:
        feed = without_reports(classification.feed, classification.fetched)
    except CheckFailed as failure:
        raise domain_error(failure, classification.watch_url) from None
    pace = pace_preview(ports, classification.at, hints_of(feed, classification.fetched), times_of(feed.entries))
    different = list({entry.key: entry for entry in reversed(feed.entries)}.values())[::-1]
    newest = [entry for entry, _ in oldest_first([(entry, NEW) for entry in different])][::-1]
    shown = FeedPreview(
        title=feed.title,
        format=feed.format,
        url=feed.url,
        entries=len(feed.entries),
        undated=sum(entry.published_at is None for entry in feed.entries),
        identities=dict(Counter(entry.identity for entry in feed.entries)),
        newest=tuple(draft_event(entry, classification.watch_url, entry.identity) for entry in newest[:NEWEST]),
        backfill=min(MOST_BACKFILL, len(newest)),
        damaged=feed.damaged,
        hubs=feed.hubs,
        paging=dict(feed.paging),
    )
    return Preview(classification.at, feed=shown, pace=pace)


NOT_IN_MEMORY = joined(
    [
        message("No note of a check contains it."),
        message("For a feed only identities are stored. Check now to search the feed."),
    ]
)
Known: TypeAlias = Literal["new", "edited", "seen"]


async def search(
    ports: Ports, view: SourceView, memory: trail.StoredMemory, question: ExplainSource, fetched: FetchedResponse | None
) -> list[Reason]:
    """Return reasons that explain a text in a feed. Raises CheckFailed."""
    text = folded(question.text)
    if fetched is None or not memory.tier:
        return [Reason("absent", NOT_IN_MEMORY)]
    feed = await FeedReader(ports.settings.parse_deadline).document(ports.world.jail, fetched)
    comparison = compare(memory.tier, [fingerprint_of(entry) for entry in feed.entries], number=view.hot.looks + 1)
    for position, entry in enumerate(feed.entries):
        await trio.lowlevel.checkpoint()
        if holds(entry.title, text) or text in folded(entry.content):
            is_new, is_edited = position in comparison.new, position in comparison.updated
            return [feed_reason(entry, "new" if is_new else "edited" if is_edited else "seen")]
    return [feed_reason(None, "seen")]


def feed_reason(entry: Entry | None, state: Known) -> Reason:
    if entry is None:
        return Reason("absent", message("Checked now: no entry of the feed contains it."))
    text = entry.title or entry.content
    title = text[:80]
    if state == "seen":
        reason = message(
            "The entry “%(title)s” is in the feed now, and an earlier check saw it with this identity (“%(key)s”) and "
            "this text. Without an event, it was there at the first check or was held.",
            title=title,
            key=entry.key[:80],
        )
        return Reason("there", reason, text=text)
    change = message("its text has changed since the last check")
    if state == "new":
        change = message("its identity is new")
    text_due = "The entry “%(title)s” is in the feed now, and %(reason)s: the next check reports it."
    return Reason("due", message(text_due, title=title, reason=change), text=text)
