"""Line widgets: a plain one, one with a cursor, one to scroll, and the foot with the keys that work here.

They store no rows. They draw only the visible ones, so a list of 100,000 rows costs no more than one screen.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import ClassVar

from textual import events
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.screen import Screen
from textual.widget import Widget

from sanderling.console.text import Line, as_content, cells, fit

Draw = Callable[[int, int], Sequence[Line]]
"""Takes width and height; returns at most so many lines."""
NOTICE_FOR = 6.0
"""Seconds that a notice replaces the keys."""


def key(keys: str, action: str, word: str, says: str, *, foot: bool = True, shown: str | None = None) -> Binding:
    """Make a binding. word: at the foot. says: in the help."""
    return Binding(keys, action, word, show=foot, key_display=shown, tooltip=says)


class Lines(Widget):
    """Shows the lines that `draw` makes for its size."""

    def __init__(self, draw: Draw, *, id: str | None = None, classes: str | None = None) -> None:
        super().__init__(id=id, classes=classes)
        self.draw = draw

    def render(self) -> Content:
        width, height = self.size
        return as_content(self.draw(width, height)[:height])


MOVING: list[BindingType] = [
    key("down,j", "move(1)", "down", "a line down", foot=False, shown="↓ j"),
    key("up,k", "move(-1)", "up", "a line up", foot=False, shown="↑ k"),
    key("pagedown,ctrl+f", "leap(1)", "page down", "a page down", foot=False, shown="PgDn ^f"),
    key("pageup,ctrl+b", "leap(-1)", "page up", "a page up", foot=False, shown="PgUp ^b"),
    key("g,home", "edge(0)", "top", "the first line", foot=False, shown="g Home"),
    key("G,end", "edge(1)", "bottom", "the last line", foot=False, shown="G End"),
]


class Picks(Lines, can_focus=True):
    """A list with a cursor. line: draws a position. seen: gets visible ones. shy: hides the cursor without focus."""

    BINDINGS: ClassVar[list[BindingType]] = MOVING

    def __init__(
        self,
        line: Callable[[int, int], Line],
        seen: Callable[[int, int], None] = lambda _first, _last: None,
        *,
        empty: Callable[[], str] = lambda: "",
        shy: bool = False,
        id: str | None = None,
    ) -> None:
        super().__init__(self._drawn, id=id)
        self._shy = shy
        self._line, self._seen, self._empty = line, seen, empty
        self.count = 0
        self.cursor = 0
        self.top = 0

    @property
    def window(self) -> tuple[int, int]:
        return self.top, max(self.top, min(self.count, self.top + self.size.height) - 1)

    def resize_to(self, count: int) -> None:
        self.count = count
        self.go(self.cursor)

    def go(self, position: int) -> None:
        self.cursor = max(0, min(position, self.count - 1))
        height = max(1, self.size.height)
        self.top = max(0, min(self.top, self.count - height))
        if self.cursor < self.top:
            self.top = self.cursor
        elif self.cursor >= self.top + height:
            self.top = self.cursor - height + 1
        self._seen(*self.window)
        self.refresh()

    def _drawn(self, width: int, height: int) -> list[Line]:
        if not self.count:
            return [[(f" {self._empty()}"[:width], "dim")]]
        lines = []
        for position in range(self.top, min(self.count, self.top + height)):
            line = self._line(position, width)
            if position == self.cursor and (self.has_focus or not self._shy):  # reversed, with ">" for a leading space
                (text, style), *rest = [(text, f"{style} reverse".strip()) for text, style in line]
                line = [(">" + text[1:] if text.startswith(" ") else text, style), *rest]
            lines.append(line)
        return lines

    def on_resize(self, event: events.Resize) -> None:
        self.go(self.cursor)

    def action_move(self, by: int) -> None:
        self.go(self.cursor + by)

    def action_leap(self, by: int) -> None:
        self.go(self.cursor + by * max(1, self.size.height - 1))

    def action_edge(self, last: int) -> None:
        self.go(self.count - 1 if last else 0)


class Reading(Lines, can_focus=True):
    """Lines to scroll. whole: makes all of them for a width."""

    BINDINGS: ClassVar[list[BindingType]] = MOVING

    def __init__(self, whole: Callable[[int], Sequence[Line]], *, id: str | None = None) -> None:
        super().__init__(self._drawn, id=id)
        self._whole = whole
        self.top = 0

    def _drawn(self, width: int, height: int) -> Sequence[Line]:
        lines = self._whole(width)
        self.top = max(0, min(self.top, len(lines) - height))
        shown = list(lines[self.top : self.top + height])
        if len(lines) > self.top + height and shown:
            shown[-1] = [(f" … {len(lines) - self.top - height + 1} more lines below", "dim")]
        return shown

    def action_move(self, by: int) -> None:
        self.top = max(0, self.top + by)
        self.refresh()

    def action_leap(self, by: int) -> None:
        self.action_move(by * max(1, self.size.height - 2))

    def action_edge(self, last: int) -> None:
        self.top = 10**6 if last else 0
        self.refresh()


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
        self._notice = notice = (text, style)
        self.refresh()

        def over() -> None:
            if self._notice is notice:
                self._notice = None
                self.refresh()

        self.set_timer(NOTICE_FOR, over)

    def clear(self) -> None:
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
