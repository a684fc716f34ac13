"""A selection of sources, as data; `selecting.py` decides whether a source is in it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from storage.records.states import Flag, SourceState
from storage.records.tiers import SourceType


@dataclass(frozen=True, slots=True)
class SourceSelection:
    """Conditions on sources. All set ones must hold; of one condition any value suffices, but of `words` all must
    match.

    tags: one that ends with "/*" or ":*" covers all below it; "news/*" covers `news` too. words: parts of the URL, the
    title or a tag, in any case. private: only private ones. flags: of the health of sources that are not paused.
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
"""The order of a list: worst health, name, last change, next check, newest; a minus reverses it."""

ALL = SourceSelection()
