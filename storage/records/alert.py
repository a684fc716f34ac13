"""Alerts: standing queries over sources."""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import Final, Literal, NamedTuple

from msgspec import Struct

from storage.records.event import Stored
from storage.records.identity import Managed, Millis
from storage.records.source import Source, SourceRuntime
from storage.records.tiers import Kind

NOTICES_OF_SOURCES: Final = ("source_quiet", "source_recovered", "source_failing", "source_reset", "source_moved")
"""The notices that an alert gets unless told otherwise."""
Matching = Literal["change", "added", "removed", "page"]
"""The texts of a page's event that a query reads: the whole change, one side of it, or the whole page."""
MOST_ALERTS = 10_000
KEPT_DAYS = 31  # days that an alert's daily match counts are kept
MOST_SOURCES = 1000
MOST_TAGS = 50  # most sources and most tags that one alert may name


class Scope(NamedTuple):
    """Sources by id and tags; an event needs to match one of either. Empty: all sources. private: private sources that
    are included by name, like those of `sources`. made_at: sources that were private by then are included, too; 0 for a
    public face, which shows only named ones.
    """

    sources: Collection[str]
    tags: Collection[str]
    private: Collection[str] = ()
    made_at: Millis = Millis(0)

    @property
    def everywhere(self) -> bool:
        return not (self.sources or self.tags)

    @property
    def several(self) -> bool:
        """Whether the scope has, or may come to have, more than one source."""
        return bool(self.tags) or len(self.sources) != 1

    def has(self, source: str, tags: Collection[str]) -> bool:
        return self.everywhere or source in self.sources or any(tag in tags for tag in self.tags)

    def names(self, source: str) -> bool:
        return source in self.sources or source in self.private

    def has_left(self, source: Source, hot: SourceRuntime, since: Millis) -> bool:
        """Return whether a source was left out since a moment: it became private, and the alert does not name it."""
        gone = (hot.private_since or 0) > since and not self.names(source.id)
        return gone and self.has(source.id, source.tags)

    def covers(self, event: Stored) -> bool:
        """Return whether an alert may match an event; none matches a held one. Practice needs the source by id."""
        if event.kind == Kind.HELD:
            return False
        if event.kind == Kind.PRACTICE:
            return event.source in self.sources
        return self.has(event.source, event.tags if self.tags else ())

    def includes(self, source: str, private_since: Millis | None) -> bool:
        """Return whether the scope may have a source: it is public, named, or was private when the scope was made."""
        return private_since is None or private_since <= self.made_at or self.names(source)

    def takes(self, event: Stored, private_since: Callable[[str], Millis | None]) -> bool:
        return self.covers(event) and self.includes(event.source, private_since(event.source))


class Alert(Struct, frozen=True):
    """A Boolean query in a language over some sources, named by id or by tag; without either over the whole library.

    tags: an event with any of them is of the alert, wherever it comes from, so later sources count too.
    """

    id: str
    name: str
    filter_query: str
    language: str
    source_ids: tuple[str, ...]
    created_at: Millis
    updated_at: Millis
    channel: str | None = None
    enabled: bool = True
    notices: tuple[str, ...] = NOTICES_OF_SOURCES
    notice_after: int = 3600
    last_match_at: Millis | None = None
    match_count: int = 0
    template: str | None = None
    """The template and the key of the suggestion that the alert was made from, as `<template>/<key>`."""
    match: Matching = "page"
    """Alerts stored before this field existed use the whole page; new ones set it."""
    tags: tuple[str, ...] = ()
    once_per_story: bool | None = False
    """Whether it matches only the first event of each story; None: yes if its scope has several sources."""
    private_source_ids: tuple[str, ...] = ()
    """Private sources that are included by name, in addition to `source_ids`."""
    updated_by: str = ""
    managed: Managed | None = None

    @property
    def scope(self) -> Scope:
        return Scope(self.source_ids, self.tags, self.private_source_ids, self.created_at)

    def has_left(self, source: Source, hot: SourceRuntime) -> bool:
        """Return whether a source became private after the last edit and so left this alert."""
        return self.scope.has_left(source, hot, self.updated_at)

    @property
    def meets_once(self) -> bool:
        return self.scope.several if self.once_per_story is None else self.once_per_story
