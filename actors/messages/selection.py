"""A selection of sources: its conditions, and the test whether a source is in it. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from actors.messages.views import SourceView
from storage.records.source import Source, tag_of
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


LABEL = "label"
"""The namespace of plain tags."""


def picks(where: SourceSelection, view: SourceView) -> bool:
    source = view.source
    if where.kinds and source.type not in where.kinds:
        return False
    if where.private and not view.private:
        return False
    if where.tags and not any(_has(source, tag_of(tag)) for tag in where.tags):
        return False
    if where.states and view.state not in where.states:
        return False
    if where.flags and (not source.enabled or view.hot.health.flag not in where.flags):
        return False
    if not where.words:
        return True
    text = text_of(source)
    return all(word.casefold() in text for word in where.words)


def _has(source: Source, tag: str) -> bool:
    if not tag.endswith(("/*", ":*")):
        return tag in source.tags
    above, below = tag[:-2], tag[:-1]
    return any(one == above or one.startswith(below) for one in source.tags)


def folders_of(tags: Sequence[str]) -> set[str]:
    """Return tags and the conditions above them: "news/*" for "news/sweden", "topic:*" for "topic:ai".

    "news" itself also yields "news/*", since it matches that.
    """
    found = set[str]()
    for tag in tags:
        found.add(tag)
        space, _, words = tag.partition(":")
        if space != LABEL:
            found.add(f"{space}:*")
        parts = words.split("/")
        found.update(f"{space}:{'/'.join(parts[:end])}/*" for end in range(1, len(parts) + 1))
    return found


def text_of(source: Source) -> str:
    """Return the lower-case text that finds a source: its URL, both titles and its tags."""
    return "\n".join((source.url, source.title, source.found_title, *source.tags)).casefold()
