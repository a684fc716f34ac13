"""Lists of feeds as feed readers exchange them (OPML): the records of one, and the library written as one. Pure.

A worker parses such files (`content/feeds/feeds.py`), since they are as hostile as any other.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from html import escape

from msgspec import Struct

from storage.records.source import OWN_NAMESPACES, Source

MEDIA = "text/x-opml; charset=utf-8"


class FeedLine(Struct, frozen=True):
    """One feed of a list. `tags` are its folders and categories."""

    url: str
    title: str = ""
    tags: tuple[str, ...] = ()


class Outline(Struct, frozen=True):
    """A list of feeds. lists: addresses of further lists, which are not followed. left_out: feeds beyond the limit."""

    title: str
    feeds: tuple[FeedLine, ...]
    lists: tuple[str, ...] = ()
    left_out: int = 0


def written(sources: Iterable[Source], title: str) -> Iterator[str]:
    """Yield the OPML piece by piece. Labels become categories; the service's own tags are left out. Pages and
    WebSockets get an `xmlUrl` too, so that Sanderling can import the list again.
    """
    yield '<?xml version="1.0" encoding="UTF-8"?>\n<opml version="2.0">\n'
    yield f"<head><title>{escape(_plain(title), quote=False)}</title></head>\n<body>\n"
    for source in sources:
        words = [tag.removeprefix("label:") for tag in source.tags if tag.partition(":")[0] not in OWN_NAMESPACES]
        joined = ",".join(_plain(word).replace(",", " ").replace("/", " ") for word in words)
        category = f' category="{escape(joined)}"' if words else ""
        text, url = escape(_plain(source.called)), escape(_plain(source.url))
        yield f'<outline type="{source.tier.outline}" text="{text}" xmlUrl="{url}"{category}/>\n'
    yield "</body>\n</opml>\n"


def _plain(text: str) -> str:
    """Return one line of text, without characters that XML 1.0 can't hold."""
    return "".join(sign for sign in " ".join(text.split()) if sign.isprintable())
