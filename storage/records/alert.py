"""Alerts: a standing query over sources."""

from __future__ import annotations

from collections.abc import Collection
from typing import Literal

from msgspec import Struct

from storage.records.event import Stored
from storage.records.identity import Millis
from storage.records.tiers import Kind

Matching = Literal["change", "added", "removed", "page"]
"""Which texts of a page's event a query is held against: what changed, one side of that, or the whole page."""
MOST_ALERTS = 10_000
KEPT_DAYS = 31
"""Days of which it is known how many events an alert has met on each."""
MOST_SOURCES = 1000
"""Sources that one alert may name."""


class Alert(Struct, frozen=True):
    """A Boolean query in a language over a set of sources; no source ids means the whole library."""

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


def covers(sources: Collection[str], event: Stored) -> bool:
    """Whether an alert over these sources is over an event; none are the whole library, but for what is practice.

    What was held is for no alert.
    """
    if event.kind == Kind.HELD:
        return False
    return event.source in sources or (not sources and event.kind != Kind.PRACTICE)
