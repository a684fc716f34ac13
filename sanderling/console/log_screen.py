"""The log of the service, or of one part, live."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from textual.binding import BindingType
from textual.widget import Widget

from sanderling.console.lines import Lines, Picks, key
from sanderling.console.log_lines import log_line
from sanderling.console.text import Line, between
from sanderling.console.view import BACK, View

KEPT = 2_000
AT_ONCE = 500


class LogScreen(View):
    """Follows while the cursor is on the last line. path: empty for the whole log."""

    BINDINGS: ClassVar[list[BindingType]] = [
        key("f", "follow", "follow", "to the newest line, and on with those that come"),
        BACK,
    ]

    def __init__(self, path: str) -> None:
        super().__init__()
        self.path = path
        self.lines: deque[Mapping[str, Any]] = deque(maxlen=KEPT)
        self._after = 0
        self.picks = Picks(lambda n, width: log_line(self.lines[n], width), empty=self._empty, id="rows")

    def middle(self) -> Sequence[Widget]:
        return (Lines(self._title, id="title"), self.picks)

    def on_mount(self) -> None:
        self.picks.focus()
        self.ask_for("log", self._read)

    def connected(self) -> None:
        """Start over: a restarted service numbers its lines from the beginning."""
        self._after = 0
        self.lines.clear()
        self.ask_for("log", self._read)

    def beat(self) -> None:
        self.redraw()
        self.ask_for("log", self._read)

    async def _read(self) -> None:
        query = {"actor": self.path, "after": self._after, "limit": AT_ONCE}
        found = await self.console_app.link.get("/v1/admin/log", **query)
        new = [line for line in found["lines"] if line["number"] > self._after]
        self._after = max(self._after, found["last"])
        if not new:
            return
        following = self.picks.cursor >= self.picks.count - 1
        dropped = max(0, len(self.lines) + len(new) - KEPT)
        self.lines.extend(new)
        self.picks.cursor = max(0, self.picks.cursor - dropped)
        self.picks.resize_to(len(self.lines))
        if following:
            self.picks.go(len(self.lines) - 1)
        self.redraw()

    def _empty(self) -> str:
        return "No line of it is kept: the service keeps its newest 2,000 lines in memory."

    def _title(self, width: int, height: int) -> Sequence[Line]:
        of = f" log of {self.path}" if self.path else " log"
        told = "following" if self.picks.cursor >= self.picks.count - 1 else "f follow"
        return [[(between(of, f"lines {len(self.lines):,}, {told} ", width), "bold")]]

    def action_follow(self) -> None:
        self.picks.go(len(self.lines) - 1)
        self.redraw()
