"""Bugs that show when the database is damaged, or replaced by a backup."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from typing import Any, TypeVar
from unittest.mock import patch

from api.nouns import streams
from api.nouns.context import OperationContext
from storage.errors import Corrupt
from storage.records.event import Page
from storage.records.identity import Seq, seq_of
from storage.sql.storage import Damage
from storage.sql.stores.log import EventLog, Replayed

T = TypeVar("T")


def damaged_rows_left_out() -> AbstractContextManager[Any]:
    """Unreadable parts of the log count as empty."""
    right, replay = EventLog.read, EventLog.replay

    async def wrong(self: EventLog, after: Seq, *more: Any) -> Page:
        try:
            return await right(self, after, *more)
        except Corrupt:
            return Page((), self._last, self._last, Seq(0))

    async def wrong_replay(self: EventLog, after: Seq, limit: int, make: Any) -> Replayed[Any]:
        try:
            return await replay(self, after, limit, make)
        except Corrupt:
            return Replayed(make(()), 0, self._last, Seq(0))

    return patch.multiple(EventLog, read=wrong, replay=wrong_replay)


def damage_unreported() -> AbstractContextManager[Any]:
    """A request that meets damage fails alone; the service does not record the damage."""

    @contextmanager
    def wrong(self: Damage) -> Iterator[None]:
        yield

    return patch.object(Damage, "recorded", wrong)


def futures_taken_as_they_are() -> AbstractContextManager[Any]:
    """A stream with a cursor of a lost event waits until the log gets there."""
    right = streams._start

    async def wrong(call: OperationContext, since: str | None, last: str) -> tuple[Seq, str]:
        found = await right(call, since, last)
        with suppress(TypeError, ValueError):
            return max(found, (seq_of(since or ""), since or ""))
        return found

    return patch.object(streams, "_start", wrong)
