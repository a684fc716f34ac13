"""Questions at the foot: a text prompt, and a confirmation. Pure.

A question owns the keyboard until it is answered. It is no screen and takes no focus, so keys typed ahead, pasted or
sent in one packet arrive in order.
"""

from __future__ import annotations

from collections.abc import Callable

from sanderling.console.text import Line, cells, fit

LONGEST = 500


class Confirm:
    """Asks once; only `y` means yes, every other key no."""

    def __init__(self, question: str, answered: Callable[[bool], None]) -> None:
        self._question, self._answered = question, answered

    def press(self, key: str, sign: str) -> bool:
        self._answered(key == "y")
        return True

    def line(self, width: int) -> Line:
        says = "y yes, else no "
        return [(fit(f" {self._question}", width - len(says) - 1) + " ", "bold reverse"), (says, "reverse")]


class Ask:
    """Asks for a line of text. answered: receives it, or None on Escape. changed: receives every edit."""

    def __init__(
        self,
        label: str,
        text: str,
        hint: str,
        answered: Callable[[str | None], None],
        *,
        changed: Callable[[str], None] = lambda _text: None,
    ) -> None:
        self._label, self._hint = label, hint
        self._answered, self._changed = answered, changed
        self.text = text

    def press(self, key: str, sign: str) -> bool:
        if key in ("enter", "escape"):
            self._answered(self.text.strip() if key == "enter" else None)
            return True
        before = self.text
        match key:
            case "ctrl+u":
                self.text = ""
            case "ctrl+w":
                self.text = before[: before.rstrip().rfind(" ") + 1]
            case "backspace":
                self.text = before[:-1]
            case _ if sign.isprintable():
                self.text = (before + sign)[:LONGEST]
        if self.text != before:
            self._changed(self.text.strip())
        return False

    def line(self, width: int) -> Line:
        shown = self.text
        while cells(self._label) + cells(shown) >= width:
            shown = shown[1:]
        left = width - cells(self._label) - cells(shown) - 1
        return [
            (self._label, "bold"),
            (shown, ""),
            (" ", "reverse"),
            (fit("" if self.text else f" {self._hint}", left), "dim"),
        ]


Question = Confirm | Ask
"""The owner of the keyboard: `press` returns whether it is answered, `line` is its line for the foot."""
