"""What watching would tell, put together from a look that adds nothing: for detection, and for trying out selectors."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Final

import msgspec

from actors.content.bodies.frames import Frame
from actors.content.messages.readings import NO_PARTS, Entry
from actors.content.messages.requests import Fault, FrameRequest, PageRequest, SelectorsRequest
from actors.egress.failures import LookFailed, ReadingStopped
from actors.egress.http import FetchedResponse
from actors.errors import Unprocessable
from actors.previews import EXCERPT, DraftEvent, FeedPreview, PacePreview, PagePreview, Preview, PushPreview
from actors.sources.detection.classify import Classification, refused
from actors.sources.detection.handshake import Greeting
from actors.sources.looks import progress
from actors.sources.looks.drafts import NEW
from actors.sources.looks.progress import LookResult
from actors.sources.looks.tier import body_hints, in_jail
from actors.sources.polling.feed import hints_of, oldest_first, times_of, without_reports
from actors.sources.ports import Ports
from actors.sources.schedule.cadence import START_INTERVAL, Hints, Limits
from storage.records.identity import Millis, SourceId
from storage.records.source import Source, SourceRuntime, Validators

LISTEN: Final = 3.0
"""Seconds for which a push source's first frames are waited for."""
NEWEST: Final = 10
MOST_BACKFILL: Final = 50
_NOBODY: Final = SourceId("")


@dataclass(frozen=True, slots=True)
class Narrowing:
    """Which part of a page is wanted: what `selector` matches (None: all of it), without what `ignore` matches."""

    selector: str | None = None
    ignore: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        return self.selector is not None or bool(self.ignore)


async def check_selectors(ports: Ports, part: Narrowing) -> None:
    """Raise Unprocessable at the first selector that is no CSS, with the place in it."""
    if not part:
        return
    request = msgspec.msgpack.encode(SelectorsRequest(part.selector, part.ignore))
    try:
        answer = await in_jail(ports.world.jail, "selectors", request)
    except LookFailed as failure:
        raise Unprocessable(f"the selectors can't be read: {failure.reason}", "body.selector") from None
    for fault in msgspec.msgpack.decode(answer, type=list[Fault])[:1]:
        where = "body.selector" if fault.index is None else f"body.ignore[{fault.index}]"
        raise Unprocessable(fault.reason, where, part.selector if fault.index is None else part.ignore[fault.index])


async def preview_page(ports: Ports, fetched: FetchedResponse, part: Narrowing) -> PagePreview:
    """Return what of a page would be watched. Raises Unprocessable: nothing, a wall, too slow a selector."""
    request = PageRequest(fetched.body, fetched.content_type, fetched.url, part.selector, part.ignore)
    try:
        answer = await in_jail(ports.world.jail, "preview_page", msgspec.msgpack.encode(request))
    except LookFailed as failure:
        raise _blamed(failure, fetched.url, part) from None
    found = msgspec.msgpack.decode(answer, type=PagePreview)
    if found.matched == 0:
        has = f"it has {', '.join(found.has)}" if found.has else "it has no element with a telling name"
        raise Unprocessable(f"{part.selector!r} matches nothing on this page; {has}", "body.selector", part.selector)
    if found.trouble is not None:
        raise Unprocessable(f"this is not the page itself: {found.trouble}", "body.url", fetched.url)
    return found


def _blamed(failure: LookFailed, url: str, part: Narrowing) -> Exception:
    """Return the refusal; a time-out that came with selectors is most likely theirs, and so is what has no parts."""
    where = "body.selector" if part.selector is not None else "body.ignore"
    if part and failure.reason.endswith(NO_PARTS):
        return Unprocessable(failure.reason, where)
    if part and isinstance(failure, ReadingStopped) and failure.too_slow:
        return Unprocessable("applying the selectors to this page takes too long: write simpler ones", where)
    return refused(failure, url)


async def preview(ports: Ports, found: Classification, part: Narrowing, query: str | None) -> Preview:
    """Return what watching a classified URL would tell; `query` is a push source's own filter.

    Raises Unprocessable, Overloaded.
    """
    if found.greeting is not None:
        return Preview(found.at, push=await _push(ports, found, found.greeting, query))
    assert found.fetched is not None, "what is no WebSocket was fetched"
    if found.type == "html":
        page = await preview_page(ports, found.fetched, part)
        pace = _pace(ports, found, body_hints(found.fetched), ())
        return Preview(found.at, page=page, pace=pace, robots=found.robots)
    assert found.feed is not None, "what is no page either was read as a feed"
    try:
        feed = without_reports(found.feed, found.fetched)
    except LookFailed as failure:
        raise refused(failure, found.watch_url) from None
    pace = _pace(ports, found, hints_of(feed, found.fetched), times_of(feed.entries))
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


def _pace(ports: Ports, found: Classification, hints: Hints, times: tuple[Millis, ...]) -> PacePreview:
    """Return when the second look would be, without jitter."""
    settings = ports.settings
    limits = Limits(settings.cadence_floor, settings.cadence_ceiling)
    looked = LookResult(found.at, 200, Validators(), changed=False, hints=hints, times=times)
    hot = progress.succeeded(SourceRuntime(interval=START_INTERVAL), looked, limits, 0.5, ports.market.price)
    due = hot.next_look_at if hot.next_look_at is not None else found.at
    return PacePreview(hot.interval, due, hints.max_age, hints.ttl, hints.skip_hours, hints.skip_days)


async def _push(ports: Ports, found: Classification, greeting: Greeting, query: str | None) -> PushPreview:
    url = found.watch_url
    source = Source(_NOBODY, url, url, "push", found.detection, found.at, found.at, filter=query)
    await ports.admission.refresh()
    wanted = ports.admission.wanted(source)
    shown = []
    for text in greeting.frames:
        try:
            answer = await in_jail(ports.world.jail, "frame", msgspec.msgpack.encode(FrameRequest(text, url)))
        except LookFailed:
            continue  # a frame that nobody can read becomes no event either
        frame = msgspec.msgpack.decode(answer, type=Frame)
        shown.append(_framed(frame, url, wanted.admits(frame.title, frame.content)))
    return PushPreview(greeting.subprotocol, greeting.waited, len(greeting.frames), tuple(shown), greeting.ended)


def _framed(frame: Frame, url: str, told: bool) -> DraftEvent:
    content = frame.content[:EXCERPT]
    tags = (NEW, *frame.tags)
    return DraftEvent(frame.title, frame.url or url, frame.author, content, frame.published_at, tags, "id", told)
