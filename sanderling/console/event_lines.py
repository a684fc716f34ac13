"""The newest events as lines. Pure."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import urlsplit

from actors.notification.reading import lines_of, listed
from sanderling.client.rendering import undirected
from sanderling.console.text import Line, fit
from sanderling.console.words import FAINT, clock
from storage.records.tiers import TIERS

KEPT = 500
"""Events kept in memory."""
_TIME, _TIER, _HOST = 8, 6, 20
_COLOURS = {name: f"ansi_{tier.colour}" for name, tier in TIERS.items()} | {"notice": "ansi_yellow"}


class EventTail:
    """The newest events; while paused, it collects and counts but does not show new ones."""

    def __init__(self) -> None:
        self.paused = False
        self.held = 0
        self._events: deque[Mapping[str, Any]] = deque(maxlen=KEPT)
        self._shown: Sequence[Mapping[str, Any]] = ()

    @property
    def shown(self) -> Sequence[Mapping[str, Any]]:
        """The visible events, newest last."""
        return self._shown if self.paused else self._events

    def fill(self, past: Sequence[Mapping[str, Any]]) -> None:
        """Prepend older events, given oldest first."""
        known = {event.get("id") for event in self._events}
        older = [event for event in past if event["id"] not in known]
        self._events.extendleft(reversed(older[-(KEPT - len(self._events)) :] if len(self._events) < KEPT else ()))
        if self.paused and not self.held:
            self._shown = tuple(self._events)

    def take(self, event: Mapping[str, Any]) -> None:
        """Append an event, or a record that counts omitted ones."""
        self._events.append(event)
        self.held += self.paused

    def pause(self, on: bool) -> None:
        """Freeze the display, or resume it with the events collected since."""
        self._shown = tuple(self._events)
        self.paused, self.held = on, 0


def event_line(event: Mapping[str, Any], width: int) -> Line:
    """Return an event as one line: time, tier, page (else host), text."""
    if "count" in event:
        return [(fit(f" … {event['count']:,} more in that second", width), FAINT)]
    kind = "notice" if event.get("alert_type") else str(event.get("source_type", ""))
    title = said(event)
    left = max(0, width - 4 - _TIME - _TIER - _HOST)
    return [
        (f" {fit(clock(str(event.get('emitted_at', ''))), _TIME)} ", FAINT),
        (fit(kind, _TIER) + " ", _COLOURS.get(kind, "")),
        (fit(_page(event) or _host(event), _HOST) + " ", ""),
        (fit(title, left), ""),
    ]


def said(event: Mapping[str, Any]) -> str:
    """Return an event in one line: a page's change, otherwise the title."""
    if event.get("change"):
        return undirected(str(event["change"]))
    one = listed(event)
    lines = lines_of(one)
    if one.is_change and lines.summary:
        return undirected(lines.summary)
    return lines.title


def _page(event: Mapping[str, Any]) -> str:
    """Return the title of a changed page, because pages of one host look alike; "" for other events."""
    one = listed(event)
    is_change = one.is_change or bool(event.get("change"))
    return undirected(one.title) if is_change and not event.get("alert_type") else ""


def _host(event: Mapping[str, Any]) -> str:
    try:
        return urlsplit(str(event.get("source_url", ""))).hostname or ""
    except ValueError:
        return ""
