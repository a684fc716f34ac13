"""An event as a person reads it in the terminal: one line, and under it what changed on a page. Pure.

Colour is never alone: the tier is a word and a change has a sign. Nothing that a page wrote reaches the terminal
unescaped.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import datetime, tzinfo
from typing import Any
from unicodedata import combining, east_asian_width

from sanderling.logs import plain

COLOURS = {"feed": "32", "html": "36", "push": "35", "notice": "33", "added": "32", "removed": "31", "dim": "2"}
SIGNS = {"added": "+", "removed": "-"}
TIER, HOST = 6, 24
MOST_CHANGES = 4


class Renderer:
    """Turns events into lines of at most `width` cells; `zone` None is the machine's own time zone."""

    def __init__(self, *, width: int = 100, colour: bool = False, zone: tzinfo | None = None) -> None:
        self._width, self._colour, self._zone = width, colour, zone

    def lines(self, event: Mapping[str, Any]) -> Iterator[str]:
        """Yield the line of an event, then a few of its changes."""
        notice = event.get("alert_type")
        kind = "notice" if notice else str(event["source_type"])
        host = str(event.get("source_url") or event.get("url") or "").partition("//")[2].partition("/")[0]
        title = str(event.get("title") or event.get("content") or event.get("url") or "")
        text = f"{notice}: {title}" if notice else title
        clock = self._clock(str(event["emitted_at"]))
        left = self._width - len(clock) - 1 - TIER - 1 - HOST - 1
        tier = self._paint(kind, f"{kind:<{TIER}}")
        yield f"{self._paint('dim', clock)} {tier} {pad(fit(host, HOST), HOST)} {fit(text, left)}"
        indent = " " * (len(clock) + 1)
        for sort, change in _changes(event.get("diff") or {}):
            yield indent + self._paint(sort, f"{SIGNS[sort]} {fit(change, self._width - len(indent) - 2)}")

    def _clock(self, moment: str) -> str:
        return datetime.fromisoformat(moment).astimezone(self._zone).strftime("%H:%M:%S")

    def _paint(self, name: str, text: str) -> str:
        return f"\x1b[{COLOURS[name]}m{text}\x1b[0m" if self._colour and name in COLOURS else text


def _changes(diff: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield at most so many changes, altered blocks first: they say most."""
    pairs: list[tuple[str, str]] = []
    for change in diff.get("changed", ()):
        pairs += [("removed", change["before"]), ("added", change["after"])]
    pairs += [("added", text) for text in diff.get("added", ())]
    pairs += [("removed", text) for text in diff.get("removed", ())]
    yield from pairs[:MOST_CHANGES]


def moment(text: str, zone: tzinfo | None = None) -> str:
    """Return an RFC 3339 time as people write it, in a time zone, the machine's own unless one is given.

    >>> from datetime import UTC
    >>> moment("2026-05-28T23:26:00.000Z", UTC)
    '28 May 2026 23:26'
    """
    there = datetime.fromisoformat(text).astimezone(zone)
    return f"{there.day} {there:%b %Y %H:%M}"


def cells(text: str) -> int:
    """Return how many terminal cells a text takes.

    >>> cells('abc'), cells('日本')
    (3, 4)
    """
    return sum(0 if combining(c) else 2 if east_asian_width(c) in "WF" else 1 for c in text)


def fit(text: str, width: int) -> str:
    """Return a text on one line, control characters escaped, cut to so many cells.

    >>> fit('a  long title', 8)
    'a long …'
    """
    text = plain(" ".join(text[: 4 * max(1, width)].split()))
    if cells(text) <= width:
        return text
    while text and cells(text) > width - 1:
        text = text[:-1]
    return text + "…"


def pad(text: str, width: int) -> str:
    """Return a text with spaces up to so many cells."""
    return text + " " * (width - cells(text))
