"""Bugs of the readers, which hold a cursor over the log."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from contextlib import AbstractContextManager
from typing import Any
from unittest.mock import patch

from api.streams.reader import Reader
from storage.append import Recent
from storage.records.identity import Seq
from storage.tail import Tail


def resumes_with_the_last_event() -> AbstractContextManager[Any]:
    """A resumed stream repeats the event of its cursor."""
    right = Reader.__init__

    def wrong(self: Reader, *args: Any, **kwargs: Any) -> None:
        right(self, *args, **kwargs)
        self.cursor = Seq(max(0, self.cursor - 1))

    return patch.object(Reader, "__init__", wrong)


def live_without_replay() -> AbstractContextManager[Any]:
    """A reader with a cursor older than the ring goes live at once and skips the events between."""

    async def wrong(self: Reader) -> None:
        self.cursor = self.tail.head

    return patch.object(Reader, "_read_page", wrong)


def spins_behind_the_ring() -> AbstractContextManager[Any]:
    """A reader with a cursor older than the ring gets an empty page, and asks again at once."""

    def wrong(self: Tail, after: Seq) -> Sequence[Recent] | None:
        return () if after >= self._head else self._ring[bisect_right(self._keys, after) :]

    return patch.object(Tail, "since", wrong)
