"""Bugs that show to filtered clients, or when keys are deleted."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager
from typing import Any
from unittest.mock import patch

import trio

from actors import matcher as matching
from api.streams.reader import Reader
from api.streams.streams import Streams
from storage.append import Lease
from storage.records.access import ApiKey
from storage.records.destination import Match
from storage.records.identity import Seq
from storage.sql.stores.outbox import Outbox
from storage.sql.stores.people import Keys


def filtered_resumes_off_by_one() -> AbstractContextManager[Any]:
    """A filtered reader's cursor moves one beyond the page that it has read."""
    right = Reader._read_page

    async def wrong(self: Reader) -> None:
        before = self.cursor
        await right(self)
        if not self._filter.everything and before < self.cursor < self.tail.head:
            self.cursor = Seq(self.cursor + 1)

    return patch.object(Reader, "_read_page", wrong)


def filtered_pages_overlap() -> AbstractContextManager[Any]:
    """A filtered reader's cursor moves too little: the next page repeats the last events."""
    right = Reader._read_page

    async def wrong(self: Reader) -> None:
        await right(self)
        if not self._filter.everything and len(self._page) > 1:
            self.cursor = Seq(self._page[0].seq - 1)

    return patch.object(Reader, "_read_page", wrong)


def filters_forgotten_in_the_ring() -> AbstractContextManager[Any]:
    """A filtered reader that has caught up gets the events of all sources."""
    right = Reader._of_ring

    def wrong(self: Reader, recent: Sequence[Any]) -> bytes:
        asked, everything = self._filter.where, self._filter.everything
        self._filter.everything = everything or bool(asked.sources)
        try:
            return right(self, recent)
        finally:
            self._filter.everything = everything

    return patch.object(Reader, "_of_ring", wrong)


def rows_cut_off() -> AbstractContextManager[Any]:
    """Of one event's matches only a transaction's intended number of rows is written."""
    right = Outbox.advance

    async def wrong(  # same signature as the method
        self: Outbox, name: str, expect: Seq | None, to: Seq, matches: Sequence[Match], lease: Lease, **more: Any
    ) -> None:
        await right(self, name, expect, to, matches[: matching.MOST_ROWS], lease, **more)

    return patch.object(Outbox, "advance", wrong)


def revoked_streams_go_on() -> AbstractContextManager[Any]:
    """The stream of a deleted key stays open until its client disconnects."""

    async def wrong(self: Streams) -> None:
        await trio.sleep_forever()

    return patch.object(Streams, "watch_keys", wrong)


def lookups_cached() -> AbstractContextManager[Any]:
    """A key that was once found is not looked up again."""
    right = Keys.by_hash
    found: dict[str, ApiKey | None] = {}

    async def wrong(self: Keys, sha256: str, *now: Any) -> ApiKey | None:
        if sha256 not in found:
            found[sha256] = await right(self, sha256, *now)
        return found[sha256]

    return patch.object(Keys, "by_hash", wrong)
