"""A selection of sources, as data; `selecting.py` decides whether a source is in it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from storage.records.health import Flag
from storage.records.states import SourceState
from storage.records.tiers import SourceType


@dataclass(frozen=True, slots=True)
class SourceSelection:
    """Which sources are meant: each condition holds, if it is set; of one's values any is enough, of `words` all are.

    tags: one that ends with "/*" or ":*" means all below it; "news/*" means `news` itself as well.
    words: parts of the URL, the title or a tag, whatever their case. private: only those that are. flags: of the health
    of what is not paused.
    """

    words: tuple[str, ...] = ()
    states: tuple[SourceState, ...] = ()
    flags: tuple[Flag, ...] = ()
    tags: tuple[str, ...] = ()
    kinds: tuple[SourceType, ...] = ()
    private: bool = False

    def __bool__(self) -> bool:
        return bool(self.words or self.states or self.flags or self.tags or self.kinds or self.private)


SourceSort = Literal["worst", "name", "-name", "changed", "-changed", "next", "-next", "added", "-added"]
"""The order of a list: worst health first, by name, by the last change, by the next look, the newest first; with a
minus the other way round.
"""

ALL = SourceSelection()
"""Every source."""
