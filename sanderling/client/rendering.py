"""An event in the terminal: one line, and for a page the changes and their places below it. Pure.

Colour never carries meaning alone: the tier is a word and a change has a sign. Page text is always escaped.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import datetime, tzinfo
from typing import Any
from unicodedata import combining, east_asian_width

from actors.notification.reading import lines_of, listed
from storage.records.secrecy import plain
from storage.records.tiers import TIERS, Colour

_CODES: Mapping[Colour, str] = {"green": "32", "cyan": "36", "magenta": "35"}
COLOURS: dict[str, str] = {name: _CODES[tier.colour] for name, tier in TIERS.items()}
COLOURS |= {"notice": "33", "added": "32", "removed": "31", "dim": "2"}
CUT = "…"
_ISOLATES = dict.fromkeys(range(0x2066, 0x206A))
SIGNS = {"added": "+", "removed": "-"}
TIER, HOST = 6, 24
MOST_CHANGES = 4


class Renderer:
    """Turns events into lines of at most `width` cells; `zone` None means local time."""

    def __init__(self, *, width: int = 100, colour: bool = False, zone: tzinfo | None = None) -> None:
        self._width, self._colour, self._zone = width, colour, zone

    def lines(self, event: Mapping[str, Any]) -> Iterator[str]:
        """Yield an event's line and summary, and for a page with several changes a few of them."""
        notice = event.get("alert_type")
        kind = "notice" if notice else str(event["source_type"])
        host = str(event.get("source_url") or event.get("url") or "").partition("//")[2].partition("/")[0]
        said = lines_of(listed(event))
        text = f"{notice}: {said.title}" if notice else said.title
        clock = self._clock(str(event["emitted_at"]))
        left = self._width - len(clock) - 1 - TIER - 1 - HOST - 1
        tier = self._paint(kind, f"{kind:<{TIER}}")
        yield f"{self._paint('dim', clock)} {tier} {pad(fit(host, HOST), HOST)} {fit(text, left)}"
        diff = event.get("diff") or {}
        indent = " " * (len(clock) + 1)
        room = self._width - len(indent)
        if summary := undirected(said.summary):
            yield indent + fit(summary, room)
            count = sum(len(diff.get(sort, ())) for sort in ("changed", "added", "removed"))
            if count == 1 and CUT not in summary:
                return
        changes = list(changes_of(diff))
        for sort, change in changes[:MOST_CHANGES]:
            yield indent + self._paint(sort, f"{SIGNS[sort]} {fit(change, room - 2)}")
        if len(changes) > MOST_CHANGES:
            yield indent + self._paint("dim", fit(f"{CUT} {len(changes) - MOST_CHANGES} more", room))

    def _clock(self, moment: str) -> str:
        return datetime.fromisoformat(moment).astimezone(self._zone).strftime("%H:%M:%S")

    def _paint(self, name: str, text: str) -> str:
        return f"\x1b[{COLOURS[name]}m{text}\x1b[0m" if self._colour and name in COLOURS else text


def changes_of(diff: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield changes with their places, altered blocks first: they are the most useful."""
    for change in diff.get("changed", ()):
        where = where_of(change.get("context"))
        yield from (("removed", where + change["before"]), ("added", where + change["after"]))
    contexts = diff.get("context") or {}
    for sort in ("added", "removed"):
        places = contexts.get(sort, ())
        for i, text in enumerate(diff.get(sort, ())):
            yield sort, where_of(places[i] if i < len(places) else None) + text


def where_of(context: Mapping[str, str] | None) -> str:
    """Return the place of a change, with a colon; "" if unknown.

    >>> where_of({"heading": "Plans", "row": "Team", "column": "Seats"}), where_of({"row": "Team"}), where_of(None)
    ('Plans › Team · Seats: ', 'Team: ', '')
    """
    at = context or {}
    cell = " · ".join(at[part] for part in ("row", "column") if at.get(part))
    whole = " › ".join(filter(None, (at.get("heading", ""), cell)))
    return f"{whole}: " if whole else ""


def undirected(text: str) -> str:
    """Remove bidi isolates: a terminal shows them as codes."""
    return text.translate(_ISOLATES)


def moment(text: str, zone: tzinfo | None = None) -> str:
    """Format an RFC 3339 time for people, in local time by default.

    >>> from datetime import UTC
    >>> moment("2026-05-28T23:26:00.000Z", UTC)
    '28 May 2026 23:26'
    """
    there = datetime.fromisoformat(text).astimezone(zone)
    return f"{there.day} {there:%b %Y %H:%M}"


def cells(text: str) -> int:
    """Return the width of a text in terminal cells.

    >>> cells('abc'), cells('日本')
    (3, 4)
    """
    return sum(0 if combining(c) else 2 if east_asian_width(c) in "WF" else 1 for c in text)


def fit(text: str, width: int) -> str:
    """Return text on one line, control characters escaped, cut to so many cells.

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
    """Pad text with spaces to so many cells."""
    return text + " " * (width - cells(text))
