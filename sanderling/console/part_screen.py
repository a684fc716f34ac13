"""One part in full, refreshed continuously."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from textual.binding import BindingType
from textual.widget import Widget

from sanderling.console.lines import Reading, key
from sanderling.console.part_lines import part_lines
from sanderling.console.text import Line, fit
from sanderling.console.view import ACT_KEYS, BACK, View

EVERY = 2
"""Beats between two requests."""
EVENTS = 5


class PartScreen(View):
    """A part of the tree: identity, health, reasons, recent activity."""

    BINDINGS: ClassVar[list[BindingType]] = [
        *ACT_KEYS,
        key("L", "log", "log", "its log lines"),
        BACK,
    ]

    def __init__(self, path: str) -> None:
        super().__init__()
        self.path = path
        self.part: Mapping[str, Any] | None = None
        self.events: Sequence[Mapping[str, Any]] = ()
        self._beats = 0

    def middle(self) -> Sequence[Widget]:
        return (Reading(self._whole, id="reading"),)

    def on_mount(self) -> None:
        self.query_one(Reading).focus()
        self.ask_for("part", self._read)

    def connected(self) -> None:
        self.ask_for("part", self._read)

    def change(self, path: str) -> None:
        """Refresh at the next beat if it is this part."""
        if path == self.path:
            self._beats = 0

    def beat(self) -> None:
        """Refresh every EVERY beats."""
        self.redraw()
        if self._beats % EVERY == 0:
            self.ask_for("part", self._read)
        self._beats += 1

    async def _read(self) -> None:
        link = self.console_app.link
        self.part = await link.get(f"/v1/admin/tree/{self.path}")
        self.redraw()
        source = self.part["source"]
        if source is not None:
            found = await link.get("/v1/events", source=source["id"], order="desc", limit=EVENTS)
            self.events = found["events"]
            self.redraw()

    def _whole(self, width: int) -> Sequence[Line]:
        if self.part is None:
            return [[(fit(f" {self.path} …", width), "dim")]]
        return list(part_lines(self.part, self.events, self.now, width))

    def subject(self) -> Mapping[str, Any] | None:
        return None if self.part is None else self.part["row"]

    def action_log(self) -> None:
        self.console_app.show_log(self.path)
