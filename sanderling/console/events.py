"""Events: a line in the tail, and one event in full with its source, time and changes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from textwrap import wrap
from typing import Any, ClassVar
from urllib.parse import urlsplit

from textual.binding import BindingType

from actors.notification.reading import lines_of, listed
from sanderling.client.lines import SIGNS, changes_of, undirected
from sanderling.console.text import Column, Line, Piece, Table, line_of, safe
from sanderling.console.view import BACK, COPY_KEYS, ReadingView
from sanderling.console.words import BAD, FAINT, GOOD, clock, day_and_clock
from storage.records.tiers import TIERS

MOST = 400
"""Maximum lines of a text."""
_KINDS = {name: f"ansi_{tier.colour}" for name, tier in TIERS.items()} | {"notice": "ansi_yellow"}
_CHANGES = {"added": GOOD, "removed": BAD}


def _kind(event: Mapping[str, Any]) -> Piece:
    kind = "notice" if event.get("alert_type") else str(event.get("source_type", ""))
    return kind, _KINDS.get(kind, "")


def _place(event: Mapping[str, Any]) -> str:
    """Return the title of a changed page, because pages of one host look alike; for other events the host."""
    one = listed(event)
    is_change = (one.is_change or bool(event.get("change"))) and not event.get("alert_type")
    if is_change and (title := undirected(one.title)):
        return title
    try:
        return urlsplit(str(event.get("source_url", ""))).hostname or ""
    except ValueError:
        return ""


def said(event: Mapping[str, Any]) -> str:
    """Return an event in one line: a page's change, otherwise the title."""
    if event.get("change"):
        return undirected(str(event["change"]))
    one = listed(event)
    lines = lines_of(one)
    return undirected(lines.summary) if one.is_change and lines.summary else lines.title


_TAIL = Table(
    Column("time", 8, lambda event, _: (clock(str(event.get("emitted_at", ""))), FAINT)),
    Column("tier", 6, lambda event, _: _kind(event)),
    Column("page", 20, lambda event, _: _place(event)),
    Column("text", 0, lambda event, _: said(event)),
)


def event_line(event: Mapping[str, Any], width: int) -> Line:
    """Return an event, or the count of omitted ones, as a line of exactly so many cells."""
    if "count" in event:
        return line_of(f"… {event['count']:,} more in that second", width, FAINT)
    return _TAIL.line(event, width, "")


class EventScreen(ReadingView):
    """told: the tail's short form; the rest is fetched."""

    BINDINGS: ClassVar[list[BindingType]] = [*COPY_KEYS, BACK]

    def __init__(self, told: Mapping[str, Any]) -> None:
        super().__init__()
        self.event = told

    def subject(self) -> Mapping[str, Any] | None:
        """Return the event's own URL to copy and open."""
        url = self.event.get("url") or self.event.get("source_url", "")
        return {"path": f"events/{self.event['id']}", "name": url, "state": "", "kind": "event"}

    async def read(self) -> None:
        self.event = await self.console_app.link.get(f"/v1/events/{self.event['id']}")
        self.redraw()

    def whole(self, width: int) -> Sequence[Line]:
        return list(event_page(self.event, width))


def event_page(event: Mapping[str, Any], width: int) -> Iterator[Line]:
    """Yield an event as lines: title, URL, time, then its changes or the beginning of its text."""
    yield line_of(said(event), width, "bold")
    yield line_of(event.get("title", ""), width)
    yield line_of(event.get("url") or event.get("source_url", ""), width)
    kind = event.get("alert_type") or event.get("source_type", "")
    yield line_of(f"{kind}  {day_and_clock(str(event.get('emitted_at', '')))}  {event['id']}", width, FAINT)
    yield [("", "")]
    for sort, text in changes_of(event.get("diff") or {}):
        yield from _wrapped(f"{SIGNS[sort]} {text}", width, _CHANGES[sort])
    if not event.get("diff"):
        for text in str(event.get("content", "")).splitlines()[:MOST]:
            yield from _wrapped(text, width, "")


def _wrapped(text: str, width: int, style: str) -> Iterator[Line]:
    for line in wrap(safe(text), max(20, width - 2)) or [""]:
        yield line_of(line, width, style)
