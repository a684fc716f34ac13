"""Bugs of the recorder and of the log that it writes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from typing import Any
from unittest.mock import patch

from msgspec.structs import replace

from actors.messages.workers import Record, RecorderMessage
from actors.recorder.actor import Identifiers, Recorder
from storage.append import Answer, Lease, Mint, Stamp
from storage.records.event import Stored
from storage.records.identity import COUNTER_BITS, START, Seq, id_of
from storage.records.source import Harvest
from storage.sql.stores.log import EventLog


def acknowledged_before_the_commit() -> AbstractContextManager[Any]:
    """The recorder answers a source before its harvest is durable."""
    right = Recorder._commit

    async def wrong(self: Recorder, batch: Sequence[RecorderMessage]) -> None:
        for message in batch:
            if isinstance(message, Record):
                message.reply.answer(())
        await right(self, batch)

    return patch.object(Recorder, "_commit", wrong)


class _AtTheLook:
    """Mints ids with the time of the check."""

    def __init__(self, harvest: Harvest) -> None:
        self._at = iter([draft.fetched_at for draft in harvest.drafts])
        self._last = START

    def raise_floor(self, floor: Seq) -> None:
        return None

    def mint(self) -> tuple[Seq, str]:
        self._last = Seq(max(next(self._at) << COUNTER_BITS, self._last + 1))
        return self._last, id_of(self._last, 0)


def minted_before_the_commit() -> AbstractContextManager[Any]:
    """An event's id has the time of its check, not of its commit."""
    right = EventLog._minted

    def wrong(self: EventLog, harvest: Harvest, mint: Mint, stamp: Stamp, *more: Any) -> Iterator[Stored]:
        self._last = START
        yield from right(self, harvest, _AtTheLook(harvest), stamp, *more)

    return patch.object(EventLog, "_minted", wrong)


def state_and_events_in_two_commits() -> AbstractContextManager[Any]:
    """A source's next state is durable before its events."""
    right = EventLog.append

    async def wrong(
        self: EventLog, harvests: Sequence[Harvest], lease: Lease, mint: Mint, stamp: Stamp, *more: Any
    ) -> Sequence[Answer]:
        await self.save_states([harvest.state for harvest in harvests if harvest.state is not None], lease)
        stateless = [replace(harvest, state=None) for harvest in harvests]
        return await right(self, stateless, lease, mint, stamp, *more)

    return patch.object(EventLog, "append", wrong)


@contextmanager
def ids_by_the_wall_clock() -> Iterator[None]:
    """Ids follow the wall clock even when it is set back, and the log accepts them."""
    right = EventLog._minted

    def wrong(self: Identifiers) -> tuple[Seq, str]:
        now = Seq(self._now() << COUNTER_BITS)
        self._last = now if now >> COUNTER_BITS != self._last >> COUNTER_BITS else Seq(self._last + 1)
        return self._last, id_of(self._last, 0)

    def unguarded(self: EventLog, harvest: Harvest, mint: Mint, stamp: Stamp, *more: Any) -> Iterator[Stored]:
        self._last = START
        yield from right(self, harvest, mint, stamp, *more)

    with patch.object(Identifiers, "mint", wrong), patch.object(EventLog, "_minted", unguarded):
        yield


@contextmanager
def unseen_stays_unseen() -> Iterator[None]:
    """The recorder itself shows its commits: live readers never see the last ones before its crash."""
    right = Recorder._count

    def wrong(self: Recorder, harvests: int, seconds: float, events: Sequence[Stored]) -> None:
        right(self, harvests, seconds, events)
        log = self._storage.log
        assert isinstance(log, EventLog)
        log.follower.committed(START, events)

    with patch.object(Recorder, "_count", wrong), patch.object(EventLog, "_show", lambda *args: None):
        yield
