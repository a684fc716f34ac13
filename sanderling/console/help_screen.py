"""Help: every key of the screen below, from the real bindings, and the meaning of letters and marks."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from textual.binding import Binding, BindingType
from textual.widget import Widget

from sanderling.console.foot import shown_key
from sanderling.console.lines import Reading
from sanderling.console.text import Line, fit
from sanderling.console.view import BACK, View
from storage.records.states import HEALTH, LOOKS, PARTS

_KEY = 10
_CHANGED = "its state has changed since the order was made: s makes it anew"


class HelpScreen(View):
    """Built for one screen's bindings."""

    BINDINGS: ClassVar[list[BindingType]] = [BACK]

    def __init__(self, bindings: Sequence[Binding]) -> None:
        super().__init__()
        self._told = bindings

    def middle(self) -> Sequence[Widget]:
        return (Reading(self._whole, id="reading"),)

    def on_mount(self) -> None:
        self.query_one(Reading).focus()

    def _whole(self, width: int) -> Sequence[Line]:
        lines: list[Line] = [[(fit(" Keys", width), "bold")]]
        lines += [_row(shown_key(binding), binding.tooltip, width) for binding in self._told]
        lines += [[("", "")], [(fit(" States", width), "bold")]]
        lines += [_row(state.short, f"{state.word}: {state.says}", width) for state in PARTS.values()]
        lines += [_row("*", _CHANGED, width)]
        lines += [[("", "")], [(fit(" Health, the score over days", width), "bold")]]
        lines += [_row(state.short, f"{state.word}: {state.says}", width) for state in HEALTH.values()]
        lines += [[("", "")], [(fit(" Looks", width), "bold")]]
        lines += [_row(state.short, f"{state.word}: {state.says}", width) for state in LOOKS.values()]
        return lines


def _row(name: str, says: str, width: int) -> Line:
    return [(f" {fit(name, _KEY)} ", "bold"), (fit(says, width - _KEY - 2), "")]
