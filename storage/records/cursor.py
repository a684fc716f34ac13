"""Positions in the log and what a read returns."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from msgspec import Struct

from storage.records.event import Stored
from storage.records.identity import Seq

MATCHED = "matcher"
"""The durable cursor of matching: what is not after it has reached the outbox."""


class Filter(Struct, frozen=True):
    """What a reader wants. An empty tuple asks for everything; values of one field are alternatives, fields all hold.

    `sources` are whole source ids; `source_prefixes` are beginnings of them. Both together are one field. `tags` match
    whole tags. `kinds` are `Kind` numbers. What is of a kind in `also` passes whatever the others say.
    """

    sources: tuple[str, ...] = ()
    source_prefixes: tuple[str, ...] = ()
    kinds: tuple[int, ...] = ()
    tags: tuple[str, ...] = ()
    also: tuple[int, ...] = ()

    def admits(self, event: Stored) -> bool:
        """Return whether a stored event passes. The in-memory ring and every engine use this one definition."""
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
    """What a read found. Go on from `scanned`: it moves even when nothing passed the filter.

    `head` is the newest position, as in `Bounds`; a forward read that has reached the end has scanned up to it. `floor`
    is that of `Bounds`, as it was after the look: unless it is past where the look began, nothing is missing.
    """

    events: Sequence[Stored]
    scanned: Seq
    head: Seq
    floor: Seq


class SourceSize(NamedTuple):
    """What the log holds of a source: how many events, and about how many bytes in them."""

    events: int
    bytes: int


class Bounds(NamedTuple):
    """The log's ends.

    `floor`: everything at or below it has been deleted by retention (0 when nothing was). `oldest`: the oldest event
    that is there (0 when none is). `newest`: the newest position that anyone may have seen, its event there or not.
    """

    floor: Seq
    oldest: Seq
    newest: Seq
