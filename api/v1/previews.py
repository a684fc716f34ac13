"""Detection and previews: what watching a URL would tell, and what a selector would keep of a watched page."""

from __future__ import annotations

from actors import previews as made
from actors.messages.requests import DetectRequest
from api.operations import sources
from api.route import Answer, Call, Route
from api.schemas import previews as wire
from api.v1.sources import time_or_null
from storage.records.times import rfc3339


def _draft(event: made.DraftEvent) -> wire.DraftEvent:
    at = time_or_null(event.published_at)
    return wire.DraftEvent(
        event.title, event.url, event.author, event.content, at, event.tags, event.identity, event.told
    )


def _feed(feed: made.FeedPreview) -> wire.FeedPreview:
    return wire.FeedPreview(
        title=feed.title,
        format=feed.format,
        url=feed.url,
        entries=feed.entries,
        undated=feed.undated,
        identities=dict(feed.identities),
        newest=tuple(map(_draft, feed.newest)),
        backfill=feed.backfill,
        damaged=feed.damaged,
        hubs=feed.hubs,
        paging=dict(feed.paging),
    )


def _page(page: made.PagePreview) -> wire.PagePreview:
    return wire.PagePreview(
        title=page.title,
        author=page.author,
        published_at=time_or_null(page.published_at),
        content=page.content,
        blocks=tuple(wire.PreviewBlock(block.text, block.watched, block.why) for block in page.blocks),
        watched=page.watched,
        left_out=page.left_out,
        matched=page.matched,
        ignored=tuple(wire.Ignored(removed.selector, removed.elements) for removed in page.ignored),
        partial=page.partial,
    )


def _push(push: made.PushPreview) -> wire.PushPreview:
    frames = tuple(map(_draft, push.frames))
    return wire.PushPreview(push.subprotocol, push.waited, push.received, frames, push.ended)


def _pace(pace: made.PacePreview) -> wire.PacePreview:
    due = rfc3339(pace.next_look_at)
    return wire.PacePreview(round(pace.interval, 1), due, pace.max_age, pace.ttl, pace.skip_hours, pace.skip_days)


def preview_of(shown: made.Preview) -> wire.Preview:
    """Return a preview in the wire's words."""
    robots = shown.robots
    return wire.Preview(
        fetched_at=rfc3339(shown.fetched_at),
        feed=None if shown.feed is None else _feed(shown.feed),
        page=None if shown.page is None else _page(shown.page),
        push=None if shown.push is None else _push(shown.push),
        pace=None if shown.pace is None else _pace(shown.pace),
        robots=None if robots is None else wire.RobotsVerdict(robots.allowed, robots.crawl_delay, robots.says),
    )


def detection_of(url: str, found: made.Previewed) -> wire.DetectAnswer:
    """Return what a URL was found to be, and what watching it would tell, in the wire's words."""
    detection = found.detection
    return wire.DetectAnswer(
        url=url,
        type=detection.type,
        confidence=detection.confidence,
        evidence=detection.evidence,
        final_url=detection.final_url,
        content_type=detection.content_type,
        feed_url=detection.feed_url,
        supported=True,
        discovered_feed_url=detection.feed_url,
        source_id=found.source,
        preview=preview_of(found.preview),
    )


async def detect(call: Call) -> Answer:
    """Classify a URL without adding it, and show what watching it would tell."""
    return Answer(detection_of(call.body.url, await sources.detect(call, call.body)))


async def preview(call: Call) -> Answer:
    """Show what another part of a watched page would be."""
    return Answer(preview_of(await sources.preview(call, call.path["id"], call.body)))


ROUTES = (
    Route(
        method="POST",
        path="/v1/sources/detect",
        scope="sources:write",
        run=detect,
        says="Classify a URL without watching it, and show what watching it would tell.",
        answers={200: wire.DetectAnswer},
        body=(DetectRequest,),
        refuses=("url-refused", "unprocessable"),
    ),
    Route(
        method="POST",
        path="/v1/sources/{id}/preview",
        scope="sources:write",
        beside=("sources:read",),
        run=preview,
        says="Show what another selector would keep of a watched page as it is now.",
        answers={200: wire.Preview},
        body=(wire.PreviewRequest,),
        refuses=("not-found", "url-refused", "unprocessable"),
    ),
)
