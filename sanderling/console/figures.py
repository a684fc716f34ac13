"""The figures that the console keeps: of the service, and the newest events. Pure.

`Figures.lines` draws the two lines at the top of every screen.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping, Sequence
from typing import Any

from sanderling.client.lines import apart, by_state, span
from sanderling.console.text import BAD, POOR, Line, between, fit, line_of, short

WINDOW = 60
"""Ticks of one second each that rates cover."""
KEPT = 500
"""Events kept in memory."""
_PAUSED = "FROZEN, space resumes"


class Figures:
    """The newest figures and those of the last minute. lost: why none arrive, empty while they do."""

    def __init__(self, where: str) -> None:
        self.where = where
        self.now: Mapping[str, Any] | None = None
        self.lost = "connecting"
        self._past: deque[Mapping[str, Any]] = deque(maxlen=WINDOW)

    @property
    def at(self) -> str:
        """The service's time of the newest figures, empty before the first."""
        return "" if self.now is None else str(self.now["at"])

    def take(self, figures: Mapping[str, Any]) -> bool:
        another = self.now is not None and self.now["started_at"] != figures["started_at"]
        if another or self.lost:
            self._past.clear()
        self.now, self.lost = figures, ""
        self._past.append(figures)
        return another

    def rate(self, name: str) -> str:
        """Return a total's growth per minute as text; empty before two figures."""
        if len(self._past) < 2:
            return ""
        first, last = self._past[0], self._past[-1]
        seconds = apart(first["at"], last["at"])
        grown = last["totals"].get(name, 0) - first["totals"].get(name, 0)
        return f"{60 * grown / seconds:,.0f}/m" if seconds > 0 else ""

    def lines(self, width: int, age: float, *, frozen: bool) -> list[Line]:
        """age: seconds since the connection was lost."""
        told = _PAUSED if frozen else ""
        if self.lost:
            told = f"NO CONNECTION {short(age)}" if self.now is not None else "NOT CONNECTED"
        if self.now is None:
            return [
                [(between(" Sanderling", f" {told} ", width), "bold")],
                line_of(f"{self.where}: {self.lost}", width, POOR),
            ]
        now, sources = self.now, self.now["sources"]
        state = " DRAINED" if now["draining"] else ""
        title = f" Sanderling {now['version']}  up {span(apart(now['started_at'], now['at']))}{state}"
        counts = f" {told} " if told else f" sources {sources['total']:,}  {by_state(sources)} "
        return [[(between(title, counts, width), "reverse" if told else "bold")], self._second(now, width)]

    def _second(self, now: Mapping[str, Any], width: int) -> Line:
        if self.lost:
            return line_of(f"{self.where}: {self.lost.rstrip('.')}; trying again", width, BAD)
        if now["failing"]:
            says = "; ".join(f"{part}: {why}" for part, why in now["failing"].items())
            return line_of(f"NOT READY  {says}", width, BAD)
        if late := now.get("matching", {}).get("says"):
            return line_of(f"MATCHING LATE  {late}", width, BAD)
        totals, hooks = now["totals"], now["destinations"]
        parts = [
            f"events {totals.get('events', 0):,}" + (f" +{grown}" if (grown := self.rate("events")) else ""),
            f"looks {self.rate('looks') or '-'}",
            f"sent {self.rate('attempts') or '-'}",
            f"overdue {now['sources']['overdue']:,}",
            f"queued {sum(now['queues'].values()):,}",
            f"loop {now['loop_lag_s'] * 1000:.0f}ms",
            f"streams {now['streams']:,}",
        ]
        if hooks["backoff"] or hooks["quarantined"]:
            parts.insert(3, f"hooks down {hooks['backoff'] + hooks['quarantined']:,}")
        if now.get("looks", {}).get("says"):
            parts.insert(2, f"OVER BUDGET {now['looks']['budget']:g}/s for {now['looks']['passed_for_s']:.0f} s")
        return [(fit(_as_many_as_fit(parts, width), width), "")]


def _as_many_as_fit(parts: Sequence[str], width: int) -> str:
    """Join as many parts as fit whole.

    >>> _as_many_as_fit(["ab", "cd", "ef"], 8)
    ' ab  cd'
    """
    line = ""
    for part in parts:
        further = f"{line}{'  ' if line else ' '}{part}"
        if len(further) > width:
            break
        line = further
    return line


class EventTail:
    """The newest events; while paused, it collects and counts but does not show new ones."""

    def __init__(self) -> None:
        self.paused = False
        self.held = 0
        self._events: deque[Mapping[str, Any]] = deque(maxlen=KEPT)
        self._shown: Sequence[Mapping[str, Any]] = ()

    @property
    def shown(self) -> Sequence[Mapping[str, Any]]:
        return self._shown if self.paused else self._events

    def fill(self, past: Sequence[Mapping[str, Any]]) -> None:
        known = {event.get("id") for event in self._events}
        older = [event for event in past if event["id"] not in known]
        self._events.extendleft(reversed(older[-(KEPT - len(self._events)) :] if len(self._events) < KEPT else ()))
        if self.paused and not self.held:
            self._shown = tuple(self._events)

    def take(self, event: Mapping[str, Any]) -> None:
        self._events.append(event)
        self.held += self.paused

    def pause(self, on: bool) -> None:
        self._shown = tuple(self._events)
        self.paused, self.held = on, 0
