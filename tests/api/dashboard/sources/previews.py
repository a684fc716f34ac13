"""Previews of each kind, as the registry returns them."""

from __future__ import annotations

from msgspec.structs import replace

from actors.messages.requests import (
    DraftEvent,
    FeedPreview,
    FoundValue,
    Ignored,
    PacePreview,
    PagePreview,
    Preview,
    PreviewBlock,
    PushPreview,
    RobotsVerdict,
)
from storage.records.identity import Millis
from tests.support.build import NOW

PACE = PacePreview(120.0, Millis(NOW + 120_000), 0.0, 1800.0, (), ())


def an_entry(title: str = "High water on Sunday", *, told: bool = True) -> DraftEvent:
    return DraftEvent(title, "https://a.test/1", "", "The quay is closed.", NOW, ("change:new",), "guid", told)


def of_a_feed(*titles: str, title: str = "Tide tables") -> Preview:
    newest = tuple(an_entry(one) for one in titles or ("High water on Sunday", "New ferry"))
    feed = FeedPreview(title, "rss20", "https://a.test/feed", 25, 2, {"guid": 25}, newest, 25, True, (), {})
    return Preview(NOW, feed=feed, pace=PACE)


def of_a_page(*, allowed: bool = True, values: tuple[FoundValue, ...] = ()) -> Preview:
    blocks = (PreviewBlock("Day ticket: 12 euros.", True, ""), PreviewBlock("Home | Contact", False, "menu"))
    page = PagePreview("Prices", "", None, "Day ticket", blocks, 34, 12, 1, (Ignored(".ad", 3),), (), True, None)
    page = replace(page, values=values)
    return Preview(NOW, page=page, pace=PACE, robots=RobotsVerdict(allowed, None, "robots.txt allows it."))


def of_a_stream() -> Preview:
    frames = (an_entry("A frame"), an_entry("Unwanted", told=False))
    return Preview(NOW, push=PushPreview("v2", 3.0, 7, frames, "closed by the server (1000)"))
