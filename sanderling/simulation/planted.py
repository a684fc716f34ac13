"""Bugs that are put into the product on purpose: a simulation that can't find them proves nothing.

Each replaces one attribute of the product by a plausible wrong version. `tests/simulation/test_planted.py` names
a seed for each that finds it.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from typing import Any
from unittest.mock import patch

from actors.delivery import schedule
from actors.delivery.schedule import Answer
from actors.messages import Record, RecorderMessage
from actors.recorder.actor import Recorder
from actors.recorder.identifiers import Identifiers
from api.reader import Reader
from storage.interface import Lease, Mint, Stamp
from storage.memory.log import MemoryLog
from storage.memory.work import MemoryWork
from storage.records.delivery import Match
from storage.records.event import Stored
from storage.records.identity import COUNTER_BITS, START, Seq, id_of
from storage.records.source import Harvest
from storage.tail import Recent, Tail

Plant = Callable[[], AbstractContextManager[Any]]


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
    """Mints as if ids had been given when the source looked."""

    def __init__(self, harvest: Harvest) -> None:
        self._at = iter([draft.fetched_at for draft in harvest.drafts])
        self._last = START

    def raise_floor(self, floor: Seq) -> None:
        return None

    def mint(self) -> tuple[Seq, str]:
        self._last = Seq(max(next(self._at) << COUNTER_BITS, self._last + 1))
        return self._last, id_of(self._last, 0)


def minted_before_the_commit() -> AbstractContextManager[Any]:
    """An event's id says when its source looked, not when it was committed."""
    right = MemoryLog._minted

    def wrong(self: MemoryLog, harvest: Harvest, mint: Mint, stamp: Stamp) -> Iterator[Stored]:
        self._last = START
        yield from right(self, harvest, _AtTheLook(harvest), stamp)

    return patch.object(MemoryLog, "_minted", wrong)


def state_and_events_in_two_commits() -> AbstractContextManager[Any]:
    """A source's next state is durable before the events that belong to it."""
    right = MemoryLog.append

    async def wrong(
        self: MemoryLog, harvests: Sequence[Harvest], lease: Lease, mint: Mint, stamp: Stamp
    ) -> Sequence[Stored]:
        await self.save_states([harvest.state for harvest in harvests], lease)
        return await right(self, harvests, lease, mint, stamp)

    return patch.object(MemoryLog, "append", wrong)


@contextmanager
def ids_by_the_wall_clock() -> Iterator[None]:
    """Ids follow the wall clock also when it is set back, and the log takes them."""
    right = MemoryLog._minted

    def wrong(self: Identifiers) -> tuple[Seq, str]:
        now = Seq(self._now() << COUNTER_BITS)
        self._last = now if now >> COUNTER_BITS != self._last >> COUNTER_BITS else Seq(self._last + 1)
        return self._last, id_of(self._last, 0)

    def unguarded(self: MemoryLog, harvest: Harvest, mint: Mint, stamp: Stamp) -> Iterator[Stored]:
        self._last = START
        yield from right(self, harvest, mint, stamp)

    with patch.object(Identifiers, "mint", wrong), patch.object(MemoryLog, "_minted", unguarded):
        yield


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


def unseen_stays_unseen() -> AbstractContextManager[Any]:
    """What the recorder committed just before it crashed is never shown to live readers."""

    async def wrong(self: Recorder) -> None:
        return None

    return patch.object(Recorder, "_show_unseen", wrong)


def claimed_for_ever() -> AbstractContextManager[Any]:
    """Deliveries that were under way at a crash stay claimed by the dead life."""

    async def wrong(self: MemoryWork, lease: Lease) -> int:
        return 0

    return patch.object(MemoryWork, "release", wrong)


def matches_after_the_cursor() -> AbstractContextManager[Any]:
    """The matcher's cursor is durable before the rows that its step caused."""
    right = MemoryWork.advance

    async def wrong(  # noqa: PLR0917  # as the method that it stands for
        self: MemoryWork, name: str, expect: Seq | None, to: Seq, matches: Sequence[Match], lease: Lease
    ) -> None:
        await right(self, name, expect, to, (), lease)
        if matches:
            await right(self, name, to, to, matches, lease)

    return patch.object(MemoryWork, "advance", wrong)


def given_up_after_two() -> AbstractContextManager[Any]:
    """A delivery is given up after its second failure."""

    def wrong(answer: Answer, attempt: int) -> str:
        return "sent" if answer.delivered else "given_up" if attempt >= 2 else "retry"

    return patch.object(schedule, "verdict", wrong)


PLANTS: tuple[Plant, ...] = (
    acknowledged_before_the_commit,
    minted_before_the_commit,
    state_and_events_in_two_commits,
    ids_by_the_wall_clock,
    resumes_with_the_last_event,
    live_without_replay,
    spins_behind_the_ring,
    unseen_stays_unseen,
    claimed_for_ever,
    matches_after_the_cursor,
    given_up_after_two,
)
