"""Bugs that show when mailboxes and pages are small and retention is quick."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Any
from unittest.mock import patch

from api.streams.reader import Reader
from storage.records.identity import START, Seq
from storage.sql.stores.log import EventLog


@contextmanager
def goes_on_behind_retention() -> Iterator[None]:
    """A reader whose next events retention has deleted silently continues with the rest."""
    read, replay, bounds = EventLog.read, EventLog.replay, EventLog.bounds

    async def page(self: EventLog, *args: Any) -> Any:
        return (await read(self, *args))._replace(floor=START)

    async def replayed(self: EventLog, *args: Any) -> Any:
        return (await replay(self, *args))._replace(floor=START)

    async def known(self: EventLog) -> Any:
        return (await bounds(self))._replace(floor=START)

    with patch.multiple(EventLog, read=page, replay=replayed, bounds=known):
        yield


def gaps_at_a_pages_end() -> AbstractContextManager[Any]:
    """A full page of the log counts as the last one: the cursor moves beyond the events read."""
    right = Reader._read_page

    async def wrong(self: Reader) -> None:
        await right(self)
        if self._page and self.cursor < self.tail.head:
            self.cursor = Seq(min(self.tail.head, self.cursor + (1 << 20)))

    return patch.object(Reader, "_read_page", wrong)
