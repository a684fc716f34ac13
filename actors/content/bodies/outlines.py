"""Lists of feeds that feed readers export: OPML; listparser reads FOAF and iGoogle too.

listparser gets UTF-8 bytes with a BOM, never a str: it would fetch a str that looks like an address. It uses libxml2's
HTML parser, which knows only HTML's own entities and opens nothing.
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

import listparser

from actors.content.bodies.encoding import decode, unpacked
from actors.content.errors import ContentError
from actors.outline import FeedLine, Outline
from storage.records.source import OWN_NAMESPACES

MOST_LINES: Final = 5_000
"""Feeds read from one list."""
MOST_FOLDERS: Final = 10
_LONGEST_TITLE, _LONGEST_TAG, _LONGEST_URL = 200, 80, 2048
_NAMED = re.compile(r"([a-z0-9_-]+):\S.*")


def read_outline(body: bytes, most: int = MOST_LINES) -> Outline:
    """Return the feeds of a list, each address once. Raises ContentError for any other document."""
    text = decode(unpacked(body), "").text
    try:
        found = listparser.parse(codecs.BOM_UTF8 + text.encode("utf-8", "replace"))
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError) as error:
        # listparser fails on damaged lists: it closes elements that were never opened.
        raise ContentError(f"The list of feeds cannot be parsed ({type(error).__name__}).") from error
    if not found["version"]:
        raise ContentError("This is not a list of feeds: it has no <opml> element.")
    feeds, lists = found["feeds"], found["lists"]
    if not feeds:
        names = f"; it names {len(lists)} other lists, which are not followed" if lists else ""
        raise ContentError(f"This list of feeds contains no feed{names}.")
    return Outline(
        title=_one_line(str(found["meta"].get("title", "")), _LONGEST_TITLE),
        feeds=tuple(_line(feed) for feed in feeds[:most]),
        lists=tuple(_one_line(one["url"], _LONGEST_URL) for one in lists[:MOST_LINES]),
        left_out=max(0, len(feeds) - most),
    )


def _line(feed: Mapping[str, Any]) -> FeedLine:
    tags = tuple(dict.fromkeys(_tags(feed.get("categories", ()))))[:MOST_FOLDERS]
    return FeedLine(feed["url"], _one_line(feed["title"], _LONGEST_TITLE), tags)


def _tags(categories: Sequence[Sequence[str]]) -> Iterator[str]:
    for path in categories:
        for folder in path[:MOST_FOLDERS]:
            if word := _tag(folder):
                yield word


def _tag(folder: str) -> str:
    """Return a folder's name as a tag. "Tides: north" is a title with a colon; "topic:tides" is already a tag."""
    word = _one_line(folder, _LONGEST_TAG)
    named = _NAMED.fullmatch(word)
    is_tag = named is not None and named[1] not in OWN_NAMESPACES
    return word if is_tag else _one_line(word.replace(":", " "), _LONGEST_TAG)


def _one_line(text: str, most: int) -> str:
    return " ".join(text.split())[:most].strip()
