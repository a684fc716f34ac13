"""Alerts: a standing query over sources."""

from __future__ import annotations

from collections.abc import Collection
from typing import Literal, NamedTuple

from msgspec import Struct

from storage.records.event import Stored
from storage.records.identity import Millis
from storage.records.managed import Managed
from storage.records.tiers import Kind

Matching = Literal["change", "added", "removed", "page"]
"""Which texts of a page's event a query is held against: what changed, one side of that, or the whole page."""
MOST_ALERTS = 10_000
KEPT_DAYS = 31
"""Days of which it is known how many events an alert has met on each."""
MOST_SOURCES = 1000
"""Sources that one alert may name."""
MOST_TAGS = 50
"""Tags that one alert may name."""


class Scope(NamedTuple):
    """Some sources, by id, and some tags, of which one is enough; with neither the whole library."""

    sources: Collection[str]
    tags: Collection[str]

    @property
    def everywhere(self) -> bool:
        """Whether it is the whole library."""
        return not (self.sources or self.tags)

    @property
    def several(self) -> bool:
        """Whether it is more than one source, or may become so."""
        return bool(self.tags) or len(self.sources) != 1

    def has(self, source: str, tags: Collection[str]) -> bool:
        """Return whether something of a source, with these tags, lies in it."""
        return self.everywhere or source in self.sources or any(tag in tags for tag in self.tags)

    def covers(self, event: Stored) -> bool:
        """Return whether an alert over this is over an event, which is not a notice.

        What was held is for no alert; practice is for those that name its source by id.
        """
        if event.kind == Kind.HELD:
            return False
        if event.kind == Kind.PRACTICE:
            return event.source in self.sources
        return self.has(event.source, event.tags if self.tags else ())


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
    notices: tuple[str, ...] = (
        "source_quiet",
        "source_recovered",
        "source_failing",
        "source_reset",
        "source_moved",
    )
    notice_after: int = 3600
    last_match_at: Millis | None = None
    match_count: int = 0
    template: str | None = None
    """The template and the key of its suggestion that it was made of, as `<template>/<key>`."""
    match: Matching = "page"
    """An alert that was stored before there was a choice goes on with the whole page; new ones say what they mean."""
    tags: tuple[str, ...] = ()
    once_per_story: bool | None = False
    """Whether of the events that tell the same it meets only the first that it matches; None: over several sources."""
    updated_by: str = ""
    """Who set something last: a key's name, the dashboard, this machine; "" for the service itself."""
    managed: Managed | None = None
    """The files that describe it, if any do."""

    @property
    def scope(self) -> Scope:
        """The part of the library that it is over."""
        return Scope(self.source_ids, self.tags)

    @property
    def meets_once(self) -> bool:
        """Whether it meets each story once."""
        return self.scope.several if self.once_per_story is None else self.once_per_story
