"""The answer of `sanderling why` as a screen: why a source reported something, or nothing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from textwrap import wrap
from typing import Any, ClassVar

from textual.binding import BindingType
from textual.widget import Widget

from sanderling.client.why import lines
from sanderling.console.lines import Reading
from sanderling.console.text import Line, fit
from sanderling.console.view import BACK, View


class WhyScreen(View):
    """row: the source's row in the tree."""

    BINDINGS: ClassVar[list[BindingType]] = [BACK]

    def __init__(self, row: Mapping[str, Any]) -> None:
        super().__init__()
        self._row = row
        self.answer: Mapping[str, Any] | None = None

    def middle(self) -> Sequence[Widget]:
        return (Reading(self._whole, id="reading"),)

    def on_mount(self) -> None:
        self.query_one(Reading).focus()
        self.ask_for("why", self._read)

    def connected(self) -> None:
        self.ask_for("why", self._read)

    async def _read(self) -> None:
        id = str(self._row["path"]).partition("/")[2]
        self.answer = await self.console_app.link.get(f"/v1/sources/{id}/why")
        self.redraw()

    def _whole(self, width: int) -> Sequence[Line]:
        if self.answer is None:
            return [[(fit(f" {self._row['name']} …", width), "dim")]]
        first, *rest = lines(self.answer, asked=False)
        found: list[Line] = [[(fit(f" {first}", width), "bold")]]
        for text in rest:
            indent = " " * (1 + len(text) - len(text.lstrip()))
            for part in wrap(text.strip(), max(20, width - len(indent))):
                found.append([(fit(indent + part, width), "")])
        return found
