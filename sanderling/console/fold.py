"""The folds of the tree: each part shows none, the troubled, or all of its children. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from sanderling.console.rows import FOLDED, OPEN, TROUBLED

BRANCHES: Final = ("sources", "destinations")
"""The parts with dynamic children."""
_WIDER: Final = {FOLDED: TROUBLED, TROUBLED: OPEN, OPEN: OPEN}
_NARROWER: Final = {OPEN: TROUBLED, TROUBLED: FOLDED, FOLDED: FOLDED}


class Fold:
    """How much each part shows: nothing, the troubled (initially), or all."""

    def __init__(self) -> None:
        self._shown = dict.fromkeys(BRANCHES, TROUBLED)

    def of(self, path: str) -> str:
        """Return a part's fold sign; "" for a part without children."""
        return self._shown.get(path, "")

    def turn(self, path: str, *, wider: bool) -> bool:
        """Show more or less of a part; return whether that changed anything."""
        before = self.of(path)
        if before:
            self._shown[path] = (_WIDER if wider else _NARROWER)[before]
        return self.of(path) != before

    def turn_all(self) -> None:
        """Fold everything, or open everything if all is folded."""
        to = OPEN if all(shown == FOLDED for shown in self._shown.values()) else FOLDED
        self._shown = dict.fromkeys(self._shown, to)

    @property
    def query(self) -> Mapping[str, object]:
        """The query parameters for the service."""
        return {
            "tree": True,
            "open": [path for path, shown in self._shown.items() if shown == OPEN],
            "troubled": [path for path, shown in self._shown.items() if shown == TROUBLED],
        }
