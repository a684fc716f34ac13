"""The formats of feeds, by the ending of their URLs."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Final, NamedTuple

from actors.feed_documents import atom, json_feed, rss
from actors.feed_documents.entry import FeedPage


class FeedFormat(NamedTuple):
    """A format: its label, media type, and writer."""

    label: str
    media: str
    write: Callable[[FeedPage], bytes]


FORMATS: Final[Mapping[str, FeedFormat]] = MappingProxyType(
    {
        "atom": FeedFormat("Atom", atom.MEDIA, atom.atom),
        "rss": FeedFormat("RSS", rss.MEDIA, rss.rss),
        "json": FeedFormat("JSON Feed", json_feed.MEDIA, json_feed.json_feed),
    }
)
