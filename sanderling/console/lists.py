"""The lists behind a jump (open streams, the log), and events: a line in the tail, and one in full with its changes."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from textwrap import wrap
from typing import Any, ClassVar

from textual.binding import BindingType
from textual.widget import Widget

from actors.notification.headline import headline, host_of, listed_event
from sanderling.client.lines import SIGNS, changes_of
from sanderling.console.lines import Lines, key
from sanderling.console.text import (
    BAD,
    FAINT,
    GOOD,
    POOR,
    Column,
    Line,
    Piece,
    Table,
    age,
    between,
    clock,
    day_and_clock,
    line_of,
    named,
    safe,
    short,
)
from sanderling.console.view import BACK, ListView, PageScreen
from storage.records.tiers import TIERS

STREAMS = "/v1/admin/streams"
MOST_STREAMS = 500
LATE, TOO_LATE = 10, 300
"""Seconds behind the newest event until a reader is drawn as slow, and as far behind."""
LOG_KEPT, LOG_AT_ONCE = 2_000, 500
_LEVELS = {"error": ("error", BAD), "warning": ("warn", POOR), "debug": ("debug", FAINT), "critical": ("crit", BAD)}


def _behind(stream: Mapping[str, Any], _now: str) -> Piece:
    late = stream["behind_s"]
    return short(late) if late >= 1 else "-", BAD if late >= TOO_LATE else POOR if late >= LATE else ""


class StreamsScreen(ListView):
    """One row per stream, the furthest behind first, read again every second."""

    BINDINGS: ClassVar[list[BindingType]] = [key("e", "end", "close", "close a stream; its client may come back"), BACK]
    EVERY = 1
    NONE = "No stream is open at this node."
    TABLE = Table(
        Column("key", 16, lambda stream, _: stream["name"] or stream["prefix"]),
        Column("behind", 7, _behind, right=True),
        Column("open", 7, lambda stream, now: age(stream["since"], now), right=True),
        Column("sent", 7, lambda stream, _: _size(stream["bytes"]), right=True),
        Column("from", 16, lambda stream, _: stream["address"] or "socket"),
        Column("asked", 0, lambda stream, _: stream["asked"]),
    )
    node = ""

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        return self.here() is not None if action == "end" else True

    def headline(self) -> str:
        return f"streams of {self.node} alone: open the console at another node for its own" if self.node else "streams"

    async def read(self) -> None:
        found = await self.console_app.link.get(STREAMS, limit=MOST_STREAMS)
        self.node = found.get("node") or ""
        self.show(found["streams"])

    def action_end(self) -> None:
        if (row := self.here()) is not None:
            done = f"The stream of {row['name']} is closed. Its client may come back."
            self.send(f"Close it?  {row['name']}: {row['asked']}", f"{STREAMS}/{row['number']}/close", done)


def _size(count: int) -> str:
    """Return a byte count in at most seven cells.

    >>> _size(0), _size(950), _size(48_210), _size(5 << 20)
    ('-', '950 B', '47 K', '5 M')
    """
    if not count:
        return "-"
    for size, unit in ((1 << 30, "G"), (1 << 20, "M"), (1 << 10, "K")):
        if count >= size:
            return f"{count // size} {unit}"
    return f"{count} B"


def _log_text(line: Mapping[str, Any], _now: str) -> Piece:
    actor = named(str(line["actor"])) + "  " if line["actor"] else ""
    return actor + "  ".join(f"{name}={value}" for name, value in line["fields"].items()), FAINT


LOG = Table(
    Column("time", 8, lambda line, _: (clock(str(line["ts"])), FAINT)),
    Column("level", 5, lambda line, _: _LEVELS.get(str(line["level"]), (str(line["level"])[:5], ""))),
    Column("event", 22, lambda line, _: str(line["event"])),
    Column("fields", 0, _log_text),
)


class LogScreen(ListView):
    """The live log of the service, or of the part at `path`; it follows while the cursor is on the last line."""

    BINDINGS: ClassVar[list[BindingType]] = [key("f", "follow", "follow", "go to the newest line and follow"), BACK]
    EVERY = 1
    TABLE = LOG
    NONE = f"No lines are kept: the service keeps its newest {LOG_KEPT:,} lines in memory."

    def __init__(self, path: str = "") -> None:
        super().__init__()
        self.path = path
        self.lines: deque[Mapping[str, Any]] = deque(maxlen=LOG_KEPT)
        self._after = 0
        self.rows = ()

    def connected(self) -> None:
        """Start over: a restarted service numbers its lines from the beginning."""
        self._after = 0
        self.lines.clear()
        super().connected()

    async def read(self) -> None:
        query = {"actor": self.path, "after": self._after, "limit": LOG_AT_ONCE}
        found = await self.console_app.link.get("/v1/admin/log", **query)
        new = [line for line in found["lines"] if line["number"] > self._after]
        self._after = max(self._after, found["last"])
        if new:
            following = self.picks.cursor >= self.picks.count - 1
            dropped = max(0, len(self.lines) + len(new) - LOG_KEPT)
            self.lines.extend(new)
            self.picks.cursor = max(0, self.picks.cursor - dropped)
            self.show(self.lines)
            if following:
                self.action_follow()

    def middle(self) -> Sequence[Widget]:
        def title(width: int, height: int) -> Sequence[Line]:
            return [[(between(f" log of {self.path}" if self.path else " log", self.place(), width), "bold")]]

        return (Lines(title, id="title"), self.picks)

    def place(self) -> str:
        told = "following" if self.picks.cursor >= self.picks.count - 1 else "f follow"
        return f"lines {len(self.lines):,}, {told} "

    def action_follow(self) -> None:
        self.picks.go(len(self.lines) - 1)
        self.redraw()


MOST = 400
_KINDS = {name: f"ansi_{tier.colour}" for name, tier in TIERS.items()} | {"notice": "ansi_yellow"}
_CHANGES = {"added": GOOD, "removed": BAD}


def _kind(event: Mapping[str, Any]) -> Piece:
    kind = "notice" if event.get("alert_type") else str(event.get("source_type", ""))
    return kind, _KINDS.get(kind, "")


def said(event: Mapping[str, Any]) -> str:
    return str(event.get("headline") or headline(listed_event(event)))


_TAIL = Table(
    Column("time", 8, lambda event, _: (clock(str(event.get("emitted_at", ""))), FAINT)),
    Column("tier", 6, lambda event, _: _kind(event)),
    Column("site", 20, lambda event, _: host_of(str(event.get("source_url", "")))),
    Column("text", 0, lambda event, _: said(event)),
)


def event_line(event: Mapping[str, Any], width: int) -> Line:
    """Return an event, or the count of omitted ones, as a line of exactly so many cells."""
    if "count" in event:
        return line_of(f"… {event['count']:,} more in that second", width, FAINT)
    return _TAIL.line(event, width, "")


class EventScreen(PageScreen):
    """told: the tail's short form; the rest is fetched."""

    def __init__(self, told: Mapping[str, Any]) -> None:
        super().__init__("", f"/v1/events/{told['id']}", lambda event, width: list(event_page(event, width)))
        self.answer = told


def event_page(event: Mapping[str, Any], width: int) -> Iterator[Line]:
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
