"""One event in full: source, time, changes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from textwrap import wrap
from typing import Any, ClassVar

from textual.binding import BindingType
from textual.widget import Widget

from sanderling.client.rendering import SIGNS, changes_of
from sanderling.console.event_lines import said
from sanderling.console.lines import Reading
from sanderling.console.text import Line, fit, safe
from sanderling.console.view import BACK, COPY_KEYS, View
from sanderling.console.words import BAD, FAINT, GOOD, day_and_clock

_COLOURS = {"added": GOOD, "removed": BAD}
MOST = 400
"""Maximum lines of a text."""


class EventScreen(View):
    """told: the tail's short form; the rest is fetched."""

    BINDINGS: ClassVar[list[BindingType]] = [*COPY_KEYS, BACK]

    def __init__(self, told: Mapping[str, Any]) -> None:
        super().__init__()
        self.event = told

    def middle(self) -> Sequence[Widget]:
        return (Reading(lambda width: list(event_page(self.event, width)), id="reading"),)

    def on_mount(self) -> None:
        self.query_one(Reading).focus()
        self.ask_for("event", self._read)

    def subject(self) -> Mapping[str, Any] | None:
        """Return the event's own URL to copy and open."""
        url = self.event.get("url") or self.event.get("source_url", "")
        return {"path": f"events/{self.event['id']}", "name": url, "state": "", "kind": "event"}

    async def _read(self) -> None:
        self.event = await self.console_app.link.get(f"/v1/events/{self.event['id']}")
        self.redraw()


def event_page(event: Mapping[str, Any], width: int) -> Iterator[Line]:
    """Yield an event as lines: title, URL, time, then its changes or the beginning of its text."""
    yield [(fit(f" {said(event)}", width), "bold")]
    yield [(fit(f" {event.get('title', '')}", width), "")]
    yield [(fit(f" {event.get('url') or event.get('source_url', '')}", width), "")]
    kind = event.get("alert_type") or event.get("source_type", "")
    yield [(fit(f" {kind}  {day_and_clock(str(event.get('emitted_at', '')))}  {event['id']}", width), FAINT)]
    yield [("", "")]
    for sort, text in changes_of(event.get("diff") or {}):
        yield from _wrapped(f"{SIGNS[sort]} {text}", width, _COLOURS[sort])
    if not event.get("diff"):
        for text in str(event.get("content", "")).splitlines()[:MOST]:
            yield from _wrapped(text, width, "")


def _wrapped(text: str, width: int, style: str) -> Iterator[Line]:
    for line in wrap(safe(text), max(20, width - 2)) or [""]:
        yield [(fit(f" {line}", width), style)]
