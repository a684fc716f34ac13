"""Detection and previews: the events that watching a URL would produce, and the text that a selector would keep."""

from __future__ import annotations

from actors import previews as made
from actors.messages.requests import DetectRequest
from api.operations import sources
from api.route import Answer, Call, Route
from api.schemas import previews as wire
from api.schemas.mirror import mirrored
from storage.records.secrecy import where_it_led
from storage.records.times import rfc3339


def _draft(event: made.DraftEvent) -> wire.DraftEvent:
    return wire.DraftEvent(**mirrored(event, wire.DraftEvent))


def _feed(feed: made.FeedPreview) -> wire.FeedPreview:
    newest = tuple(map(_draft, feed.newest))
    return wire.FeedPreview(**mirrored(feed, wire.FeedPreview) | {"newest": newest})


def _page(page: made.PagePreview) -> wire.PagePreview:
    blocks = tuple(wire.PreviewBlock(**mirrored(block, wire.PreviewBlock)) for block in page.blocks)
    ignored = tuple(wire.Ignored(**mirrored(removed, wire.Ignored)) for removed in page.ignored)
    items = tuple(wire.ListedItem(item.title, item.url) for item in page.items)
    lists = {"blocks": blocks, "ignored": ignored, "items": items}
    return wire.PagePreview(**mirrored(page, wire.PagePreview) | lists)


def _push(push: made.PushPreview) -> wire.PushPreview:
    frames = tuple(map(_draft, push.frames))
    return wire.PushPreview(push.subprotocol, push.waited, push.received, frames, push.ended)


def _pace(pace: made.PacePreview) -> wire.PacePreview:
    due = rfc3339(pace.next_look_at)
    return wire.PacePreview(round(pace.interval, 1), due, pace.max_age, pace.ttl, pace.skip_hours, pace.skip_days)


def _rendering(rendering: made.Rendering) -> wire.Rendering:
    filled_by = tuple(wire.FilledBy(one.url, one.size) for one in rendering.filled_by)
    return wire.Rendering(**mirrored(rendering, wire.Rendering) | {"filled_by": filled_by})


def preview_of(shown: made.Preview) -> wire.Preview:
    robots = shown.robots
    return wire.Preview(
        fetched_at=rfc3339(shown.fetched_at),
        feed=None if shown.feed is None else _feed(shown.feed),
        page=None if shown.page is None else _page(shown.page),
        push=None if shown.push is None else _push(shown.push),
        pace=None if shown.pace is None else _pace(shown.pace),
        robots=None if robots is None else wire.RobotsVerdict(robots.allowed, robots.crawl_delay, robots.says),
        rendering=None if shown.rendering is None else _rendering(shown.rendering),
        part=None if shown.part is None else wire.ShownPart(**mirrored(shown.part, wire.ShownPart)),
    )


def detection_of(url: str, found: made.Previewed) -> wire.DetectAnswer:
    """Return a URL's detected type and its preview in the wire format."""
    detection = found.detection
    return wire.DetectAnswer(
        url=url,
        supported=True,
        discovered_feed_url=detection.feed_url,
        source_id=found.source,
        preview=preview_of(found.preview),
        **mirrored(detection, wire.DetectAnswer) | {"final_url": where_it_led(detection.final_url, url)},
    )


async def detect(call: Call) -> Answer:
    """Classify a URL without adding it, and preview its events."""
    return Answer(detection_of(call.body.url, await sources.detect(call, call.body)))


async def preview(call: Call) -> Answer:
    """Preview another part of a watched page."""
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
