"""Bugs of the readers, who hold a cursor over the log."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from contextlib import AbstractContextManager
from typing import Any
from unittest.mock import patch

from api.streams.reader import Reader
from storage.recent import Recent
from storage.records.identity import Seq
from storage.tail import Tail


def resumes_with_the_last_event() -> AbstractContextManager[Any]:
    """A stream that is resumed repeats the event that its cursor names."""
    right = Reader.__init__

    def wrong(self: Reader, *args: Any, **kwargs: Any) -> None:
        right(self, *args, **kwargs)
        self.cursor = Seq(max(0, self.cursor - 1))

    return patch.object(Reader, "__init__", wrong)


def live_without_replay() -> AbstractContextManager[Any]:
    """A reader whose cursor is older than the ring goes live at once: what lies between is never read."""

    async def wrong(self: Reader) -> None:
        self.cursor = self._tail.head

    return patch.object(Reader, "_read_page", wrong)


def spins_behind_the_ring() -> AbstractContextManager[Any]:
    """A reader whose cursor is older than the ring is told that there is nothing, and asks again at once."""

    def wrong(self: Tail, after: Seq) -> Sequence[Recent] | None:
        return () if after >= self._head else self._ring[bisect_right(self._keys, after) :]

    return patch.object(Tail, "since", wrong)
