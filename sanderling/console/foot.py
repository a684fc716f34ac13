"""The bottom line: the keys that work here, from the real bindings, or a notice."""

from __future__ import annotations

from collections.abc import Sequence

from textual.binding import Binding
from textual.screen import Screen

from sanderling.console.lines import Lines
from sanderling.console.text import Line, cells, fit

NOTICE_FOR = 6.0
"""Seconds that a notice replaces the keys."""


def bindings_of(screen: Screen[object]) -> list[Binding]:
    """Return this program's active bindings, each once, the screen's before the program's."""
    found: dict[tuple[str, str], Binding] = {}
    active = list(screen.active_bindings.values())
    for node in (screen.focused, screen, screen.app):
        for one in active:
            if one.node is node and one.binding.tooltip and one.enabled:
                found.setdefault((one.binding.action, one.binding.tooltip), one.binding)
    return list(found.values())


def shown_key(binding: Binding) -> str:
    return binding.key_display or {"slash": "/", "colon": ":", "question_mark": "?"}.get(binding.key, binding.key)


class Foot(Lines):
    """The bottom line. A notice replaces the keys for a while."""

    def __init__(self) -> None:
        super().__init__(self._drawn, id="foot")
        self._notice: tuple[str, str] | None = None

    def notice(self, text: str, style: str = "bold") -> None:
        """Show a notice for a while."""
        self._notice = notice = (text, style)
        self.refresh()

        def over() -> None:
            if self._notice is notice:
                self._notice = None
                self.refresh()

        self.set_timer(NOTICE_FOR, over)

    def clear(self) -> None:
        """Remove the notice: it was about another screen."""
        self._notice = None
        self.refresh()

    def _drawn(self, width: int, height: int) -> Sequence[Line]:
        question = getattr(self.app, "question", None)
        if question is not None:
            return [question.line(width)]
        if self._notice is not None:
            text, style = self._notice
            return [[(fit(f" {text}", width), style)]]
        bindings = [binding for binding in bindings_of(self.screen) if binding.show]
        return [_keys(bindings, width)]


def _keys(bindings: Sequence[Binding], width: int) -> Line:
    """Return as many keys as fit; the last two (help, quit) always do."""
    line: list[tuple[str, str]] = []
    kept = sum(_length(binding) for binding in bindings[-2:])
    left = width - 1
    for number, binding in enumerate(bindings):
        needed = _length(binding)
        if number < len(bindings) - 2 and needed + kept > left:
            continue
        left -= needed
        line += [(f" {shown_key(binding)}", "bold"), (f" {binding.description}", "dim")]
    return line


def _length(binding: Binding) -> int:
    return cells(shown_key(binding)) + cells(binding.description) + 2
