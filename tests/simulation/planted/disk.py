"""Bugs that show when the disk is slow, fails, or gives no answer."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager
from functools import cache
from typing import Any
from unittest.mock import patch

from msgspec.structs import replace

from actors.recorder import actor as recording
from actors.sources.checks import progress
from actors.sources.polling import PolledSource
from actors.sources.push.actor import Committer
from storage.append import Answer, Lease, Mint, Stamp, events_of
from storage.errors import DiskFull
from storage.records.identity import Millis, Seq
from storage.records.source import Harvest
from storage.sql.stores.log import EventLog
from storage.sql.writing import Transaction, fenced


def frames_not_restored() -> AbstractContextManager[Any]:
    """The source forgets the frames of a harvest that the recorder did not answer."""

    async def wrong(self: Committer) -> None:
        taken = self._pipeline.take_pending()
        if taken:
            await self._send(tuple(draft for _, _, draft in taken), len(taken))

    return patch.object(Committer, "flush", wrong)


class _Undone(Exception):
    """A trial of a commit, with its results."""

    def __init__(self, answers: Sequence[Answer]) -> None:
        super().__init__()
        self.answers = answers


class _Repeating:
    """Mints, and then the same once more."""

    def __init__(self, mint: Mint) -> None:
        self._mint = mint
        self._gave: list[tuple[Seq, str]] = []
        self.again: Iterator[tuple[Seq, str]] = iter(())

    def raise_floor(self, floor: Seq) -> None:
        self._mint.raise_floor(floor)

    def mint(self) -> tuple[Seq, str]:
        self._gave.append(next(self.again, None) or self._mint.mint())
        return self._gave[-1]

    def anew(self) -> None:
        self.again, self._gave = iter(self._gave), []


def own_commits_shown_before_their_time() -> AbstractContextManager[Any]:
    """The recorder shows a commit before storage has made it durable."""
    right = EventLog.append

    async def wrong(
        self: EventLog, harvests: Sequence[Harvest], lease: Lease, mint: Mint, stamp: Stamp, *more: Any
    ) -> Sequence[Answer]:
        repeating, before = _Repeating(mint), self._last
        stamp = cache(stamp)

        def trial(transaction: Transaction) -> None:
            answers = self._append(harvests, repeating, stamp, more[0] if more else None, transaction)
            transaction.afterwards.clear()
            raise _Undone(answers)

        try:
            await self._writer.submit(fenced(lease, trial))
        except _Undone as undone:
            self.follower.committed(before, events_of(undone.answers))
        self._last = before
        repeating.anew()
        return await right(self, harvests, lease, repeating, stamp, *more)

    return patch.object(EventLog, "append", wrong)


def wake_up_lost() -> AbstractContextManager[Any]:
    """A commit with an unknown result is shown only with the next one, however late."""
    right = EventLog._show

    def wrong(self: EventLog, before: Seq, answers: Sequence[Answer], committed: bool) -> None:
        if committed:
            right(self, before, answers, committed)

    return patch.object(EventLog, "_show", wrong)


def unanswered_not_read_back() -> AbstractContextManager[Any]:
    """The source does not look up the result of an unanswered harvest."""

    async def wrong(self: PolledSource) -> None:
        soon = Millis(self._ports.world.now() + 60_000)
        self._live.hot = replace(self._live.hot, next_look_at=soon)

    return patch.object(PolledSource, "_reload", wrong)


def recorder_crashes_at_a_lock() -> AbstractContextManager[Any]:
    """A storage timeout crashes the recorder, and with it all actors after it."""
    return patch.object(recording, "STANDSTILL", (DiskFull,))


def failed_commits_take_back_checks() -> AbstractContextManager[Any]:
    """After a failed commit, or at an edit during one, the source takes the stored state, even if it is older."""
    return patch.object(progress, "newer", lambda known, stored: stored)
