"""Positions in the log, and the results of reads."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from msgspec import Struct

from storage.records.event import Stored
from storage.records.identity import Seq

MATCHED = "matcher"
"""The matcher's durable cursor: the outbox has the matches of all events up to it."""


class Filter(Struct, frozen=True):
    """A reader's filter. The values of a field are alternatives; all fields must match. An empty tuple matches all.

    `sources` are source ids, `source_prefixes` prefixes of ids; the two count as one field. `tags` match whole tags.
    `kinds` are `Kind` numbers. An event whose kind is in `also` always passes.
    """

    sources: tuple[str, ...] = ()
    source_prefixes: tuple[str, ...] = ()
    kinds: tuple[int, ...] = ()
    tags: tuple[str, ...] = ()
    also: tuple[int, ...] = ()

    def admits(self, event: Stored) -> bool:
        """Return whether a stored event passes. The in-memory ring and every engine use this definition."""
        if event.kind in self.also:
            return True
        if self.kinds and event.kind not in self.kinds:
            return False
        if (self.sources or self.source_prefixes) and not (
            event.source in self.sources or event.source.startswith(self.source_prefixes)
        ):
            return False
        return not self.tags or any(tag in self.tags for tag in event.tags)


EVERYTHING = Filter()


class Page(NamedTuple):
    """The result of a read. Continue from `scanned`, which advances even if no event passed the filter.

    `head` is the newest position, as in `Bounds`; a forward read that reached the end has scanned up to it. `floor` is
    as in `Bounds`, taken after the read; if it is at or below the position where the read began, no event is missing.
    """

    events: Sequence[Stored]
    scanned: Seq
    head: Seq
    floor: Seq


class SourceSize(NamedTuple):
    """A source's share of the log. bytes: approximate."""

    events: int
    bytes: int


class Bounds(NamedTuple):
    """The log's ends.

    `floor`: retention has deleted every event at or below it (0: none). `oldest`: the oldest stored event (0: none).
    `newest`: the newest position that any reader may have seen, whether or not its event is still stored.
    """

    floor: Seq
    oldest: Seq
    newest: Seq
