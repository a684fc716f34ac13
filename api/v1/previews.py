"""Detection, previews and picks: the events that watching a URL would produce, the blocks to choose from."""

from __future__ import annotations

from msgspec import UNSET

from actors import previews
from actors.messages.declaring import mirrored
from actors.messages.requests import DetectRequest
from actors.previews import PickWish, Press
from api.operations import sources, versions
from api.route import Answer, Call, Route
from api.schemas import previews as wire
from api.schemas.previews import ShownPart
from storage.records.identity import given, rfc3339
from storage.records.secrecy import where_it_led


def _draft(event: previews.DraftEvent) -> wire.DraftEvent:
    return wire.DraftEvent(**mirrored(event, wire.DraftEvent))


def _feed(feed: previews.FeedPreview) -> wire.FeedPreview:
    newest = tuple(map(_draft, feed.newest))
    return wire.FeedPreview(**mirrored(feed, wire.FeedPreview) | {"newest": newest})


def _page(page: previews.PagePreview) -> wire.PagePreview:
    blocks = tuple(wire.PreviewBlock(**mirrored(block, wire.PreviewBlock)) for block in page.blocks)
    ignored = tuple(wire.Ignored(**mirrored(removed, wire.Ignored)) for removed in page.ignored)
    items = tuple(wire.ListedItem(item.title, item.url) for item in page.items)
    lists = {"blocks": blocks, "ignored": ignored, "items": items}
    return wire.PagePreview(**mirrored(page, wire.PagePreview) | lists)


def _push(push: previews.PushPreview) -> wire.PushPreview:
    frames = tuple(map(_draft, push.frames))
    return wire.PushPreview(push.subprotocol, push.waited, push.received, frames, push.ended)


def _pace(pace: previews.PacePreview) -> wire.PacePreview:
    due = rfc3339(pace.next_look_at)
    return wire.PacePreview(round(pace.interval, 1), due, pace.max_age, pace.ttl, pace.skip_hours, pace.skip_days)


def _rendering(rendering: previews.Rendering) -> wire.Rendering:
    filled_by = tuple(wire.FilledBy(one.url, one.size) for one in rendering.filled_by)
    return wire.Rendering(**mirrored(rendering, wire.Rendering) | {"filled_by": filled_by})


def preview_of(shown: previews.Preview) -> wire.Preview:
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


def detection_of(url: str, found: previews.Previewed) -> wire.DetectAnswer:
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


def _value(found: previews.PickedValue) -> wire.BlockValue:
    value = found.value
    assert value.type is not UNSET, "a value that was read has a type"
    condition = f"{found.place} {found.subject}".strip()
    number = value.number if isinstance(value.number, int) else None
    return wire.BlockValue(value.text, value.type, number, value.scale, value.unit, found.subject, condition)


def _block(block: previews.PickBlock) -> wire.PageBlock:
    cells = tuple(wire.BlockCell(**mirrored(cell, wire.BlockCell)) for cell in block.cells)
    parts = {"values": tuple(map(_value, block.values)), "cells": cells}
    return wire.PageBlock(**mirrored(block, wire.PageBlock) | parts)


def _kept(kept: previews.PickKept | None) -> wire.KeptBlocks | None:
    return None if kept is None else wire.KeptBlocks(**mirrored(kept, wire.KeptBlocks))


def _choice(choice: previews.PickChoice | None) -> wire.BlockChoice | None:
    if choice is None:
        return None
    return wire.BlockChoice(_block(choice.block), tuple(map(_reach, choice.reaches)), choice.reach, _kept(choice.kept))


def _reach(reach: previews.PickReach) -> wire.BlockReach:
    return wire.BlockReach(**mirrored(reach, wire.BlockReach) | {"held": _held(reach.held)})


def _held(held: previews.PickHeld | None) -> wire.HeldVersions | None:
    return None if held is None else wire.HeldVersions(held.versions, held.same, held.nothing, rfc3339(held.since))


def _picked_page(picked: previews.Picked) -> wire.PageBlocks:
    page = picked.page
    parts = {"blocks": tuple(map(_block, page.blocks)), "now": _kept(page.now), "choice": _choice(page.choice)}
    part = ShownPart(**mirrored(picked, ShownPart))
    return wire.PageBlocks(**mirrored(page, wire.PageBlocks) | parts, fetched_at=rfc3339(picked.fetched_at), part=part)


def _pressed(press: wire.PressedBlock | None) -> Press | None:
    return None if press is None else Press(press.number, press.mark, press.act, press.reach, press.cell)


async def of_url(call: Call) -> Answer:
    """Show the blocks of a URL's page, without watching it."""
    asked: wire.UrlBlocksRequest = call.body
    request = DetectRequest(**given(asked, DetectRequest) | {"type": "html", "selector": None, "ignore": ()})
    wish = PickWish(asked.selector, asked.ignore, asked.first, asked.find, _pressed(asked.press), selectors=True)
    return Answer(_picked_page(await sources.pick_from_url(call, request, wish)))


async def of_source(call: Call) -> Answer:
    asked: wire.SourceBlocksRequest = call.body
    now = (await sources.view(call, call.path["id"])).source
    wish = PickWish(
        now.selector if asked.selector is UNSET else asked.selector,
        now.ignore if asked.ignore is UNSET else asked.ignore,
        asked.first,
        asked.find,
        _pressed(asked.press),
        selectors=True,
    )
    return Answer(_picked_page(await versions.of_source(call, now, wish)))


ROUTES = (
    Route(
        method="POST",
        path="/v1/sources/detect",
        scope="sources:write",
        run=detect,
        says="Classify a URL without watching it, and preview its events.",
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
        says="Preview another selector on a watched page.",
        answers={200: wire.Preview},
        body=(wire.PreviewRequest,),
        refuses=("not-found", "url-refused", "unprocessable"),
    ),
    Route(
        method="POST",
        path="/v1/sources/blocks",
        scope="sources:write",
        run=of_url,
        says="List the blocks of a URL's page, each with its selector.",
        answers={200: wire.PageBlocks},
        body=(wire.UrlBlocksRequest,),
        refuses=("url-refused", "unprocessable"),
    ),
    Route(
        method="POST",
        path="/v1/sources/{id}/blocks",
        scope="sources:write",
        beside=("sources:read",),
        run=of_source,
        says="List the blocks of a watched page, each with its selector.",
        answers={200: wire.PageBlocks},
        body=(wire.SourceBlocksRequest,),
        refuses=("not-found", "url-refused", "unprocessable"),
    ),
)
