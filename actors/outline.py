"""A list of feeds as readers of feeds exchange them (OPML): what one holds, and the library written as one. Pure.

Read in a worker (`content/bodies/outlines.py`), because such a file is as hostile as any other.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from xml.sax.saxutils import escape, quoteattr

from msgspec import Struct

from storage.records.source import OWN_NAMESPACES, Source

MEDIA = "text/x-opml; charset=utf-8"


class FeedLine(Struct, frozen=True):
    """One feed of a list. `tags` are the folders that it lies in and its categories."""

    url: str
    title: str = ""
    tags: tuple[str, ...] = ()


class Outline(Struct, frozen=True):
    """A list of feeds. lists: addresses of further lists that it names, which nobody follows. left_out: how many feeds
    were beyond what is read.
    """

    title: str
    feeds: tuple[FeedLine, ...]
    lists: tuple[str, ...] = ()
    left_out: int = 0


def written(sources: Iterable[Source], title: str) -> Iterator[str]:
    """Yield a list of feeds, piece by piece. A source's labels are its categories; what the service itself tags is not.

    A page or a WebSocket is no feed, but has an `xmlUrl` all the same: whoever reads the list here again finds it.
    """
    yield '<?xml version="1.0" encoding="UTF-8"?>\n<opml version="2.0">\n'
    yield f"<head><title>{escape(_plain(title))}</title></head>\n<body>\n"
    for source in sources:
        yield _outline(source)
    yield "</body>\n</opml>\n"


def _outline(source: Source) -> str:
    words = [tag.removeprefix("label:") for tag in source.tags if tag.partition(":")[0] not in OWN_NAMESPACES]
    joined = ",".join(_plain(word).replace(",", " ").replace("/", " ") for word in words)
    category = f" category={quoteattr(joined)}" if words else ""
    text = quoteattr(_plain(source.called))
    return f'<outline type="{source.tier.outline}" text={text} xmlUrl={quoteattr(_plain(source.url))}{category}/>\n'


def _plain(text: str) -> str:
    """Return text of one line without what XML 1.0 can't hold."""
    return "".join(sign for sign in " ".join(text.split()) if sign.isprintable())
