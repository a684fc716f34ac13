"""Questions at the foot: a text prompt with completion, and a confirmation. Pure.

A question owns the keyboard until it is answered. It is no screen and takes no focus, so keys typed ahead, pasted or
sent in one packet arrive in order.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Final

from sanderling.console.text import Line, between, cells, fit
from storage.records.states import HEALTH, PARTS
from storage.records.tiers import TIERS

Complete = Callable[[str], Sequence[str]]
"""Takes the typed text; returns completions, best first."""
LONGEST = 500
_VALUES: Final[Mapping[str, Sequence[str]]] = {
    "state": sorted({*PARTS, *(state for state in HEALTH if state != "ok")}),
    "kind": sorted(("part", "destination", *TIERS)),
    "host": (),
    "tag": (),
}
PLACES: Final = ("alerts", "destinations", "streams", "keys", "log", "sources", "parts", "trouble", "all")
"""Names of places that a jump knows."""


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
        complete: Complete = lambda _text: (),
    ) -> None:
        self._label, self._hint = label, hint
        self._answered, self._changed, self._complete = answered, changed, complete
        self.text = text
        self.at = len(text)

    def press(self, key: str, sign: str) -> bool:
        """Edit the line; Enter accepts, Escape cancels, Tab completes."""
        if key in ("enter", "escape"):
            self._answered(self.text.strip() if key == "enter" else None)
            return True
        before = self.text
        match key:
            case "left" | "right":
                self.at = max(0, min(len(self.text), self.at + (1 if key == "right" else -1)))
            case "home" | "ctrl+a" | "end" | "ctrl+e":
                self.at = 0 if key in ("home", "ctrl+a") else len(self.text)
            case "tab" if self.at == len(self.text) and (found := self._complete(self.text)):
                self._keep(found[0], len(found[0]))
            case "ctrl+u":
                self._keep(self.text[self.at :], 0)
            case "ctrl+w":
                head = self.text[: self.at].rstrip().rpartition(" ")
                self._keep(head[0] + head[1] + self.text[self.at :], len(head[0] + head[1]))
            case "backspace" if self.at:
                self._keep(self.text[: self.at - 1] + self.text[self.at :], self.at - 1)
            case "delete":
                self._keep(self.text[: self.at] + self.text[self.at + 1 :], self.at)
            case _ if key != "tab":
                self.put(sign if sign.isprintable() else "")
        if self.text != before:
            self._changed(self.text.strip())
        return False

    def put(self, text: str) -> None:
        self._keep((self.text[: self.at] + text + self.text[self.at :])[:LONGEST], self.at + len(text))

    def _keep(self, text: str, at: int) -> None:
        self.text, self.at = text, min(at, len(text))

    def line(self, width: int) -> Line:
        """Return label, text and cursor, with completions or a hint at the right."""
        label = f"{self._label}"
        room = max(4, width - cells(label) - 1)
        start = max(0, self.at - room + 1)
        shown = self.text[start:] + " "
        before, under, after = shown[: self.at - start], shown[self.at - start], shown[self.at - start + 1 :]
        may = "  ".join(found.rpartition(" ")[2] for found in self._complete(self.text)) if self.text else self._hint
        left = width - cells(label) - cells(before) - cells(under)
        tail = between(after, f" {may} " if may else "", left) if cells(may) + 2 < left else fit(after, left)
        return [(label, "bold"), (before, ""), (under, "reverse"), (tail, "dim" if not after.strip() else "")]


def filters(text: str) -> Sequence[str]:
    """Complete a filter's last word.

    >>> filters("shop state:q"), filters("sta"), filters("shop")
    (['shop state:quarantined'], ['state:'], [])
    """
    head, space, word = text.rpartition(" ")
    name, colon, value = word.partition(":")
    if colon:
        found = [f"{name}:{each}" for each in _VALUES.get(name, ()) if each.startswith(value) and each != value]
    else:
        found = [f"{each}:" for each in _VALUES if word and each.startswith(word)]
    return [head + space + each for each in found]


def places(text: str) -> Sequence[str]:
    """Complete the place of a jump.

    >>> places("al")
    ['alerts', 'all']
    """
    return [place for place in PLACES if place.startswith(text) and place != text]


Question = Confirm | Ask
"""The owner of the keyboard: `press` returns whether it is answered, `line` is its line for the foot."""
