"""The folds of the tree: of each part nothing is shown, or what is not well, or all. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from sanderling.console.rows import FOLDED, OPEN, TROUBLED

BRANCHES: Final = ("sources", "destinations")
"""The parts whose children come and go."""
_WIDER: Final = {FOLDED: TROUBLED, TROUBLED: OPEN, OPEN: OPEN}
_NARROWER: Final = {OPEN: TROUBLED, TROUBLED: FOLDED, FOLDED: FOLDED}


class Fold:
    """Of each part: whether nothing of it is shown, or what is not well (as at first), or all."""

    def __init__(self) -> None:
        self._shown = dict.fromkeys(BRANCHES, TROUBLED)

    def of(self, path: str) -> str:
        """Return the sign of a part; "" for one that holds nothing."""
        return self._shown.get(path, "")

    def turn(self, path: str, *, wider: bool) -> bool:
        """Show more of a part, or less; return whether that changes anything."""
        before = self.of(path)
        if before:
            self._shown[path] = (_WIDER if wider else _NARROWER)[before]
        return self.of(path) != before

    def turn_all(self) -> None:
        """Fold everything, or open everything where all is folded."""
        to = OPEN if all(shown == FOLDED for shown in self._shown.values()) else FOLDED
        self._shown = dict.fromkeys(self._shown, to)

    @property
    def query(self) -> Mapping[str, object]:
        """What the service is asked with."""
        return {
            "tree": True,
            "open": [path for path, shown in self._shown.items() if shown == OPEN],
            "troubled": [path for path, shown in self._shown.items() if shown == TROUBLED],
        }
