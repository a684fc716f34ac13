"""The outcomes of deliveries are kept until storage accepts them."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
import trio
from trio.testing import MockClock

from actors.delivery.claims import COMMIT_DEADLINE, Claims
from storage.errors import Unavailable
from storage.records.destination import Delivery, Outcome
from storage.records.identity import Millis, Seq

DELIVERY = Delivery("hook", Seq(1), "id", 1, Millis(1), b"{}")


class Slow:
    """takes: seconds for each piece of work."""

    def __init__(self, *takes: float) -> None:
        self._takes = list(takes)
        self.settled: list[Outcome] = []
        self.released = 0
        self.held: tuple[Seq, ...] = ()

    async def settle(self, outcomes: tuple[Outcome, ...], lease: object, **more: Any) -> None:
        await trio.sleep(self._takes.pop(0))
        self.settled += outcomes

    async def claim(self, *given: Any, **more: Any) -> list[Delivery]:
        await trio.sleep(self._takes.pop(0))
        return [DELIVERY]

    async def release(self, lease: object, *, held: tuple[Seq, ...] = (), **more: Any) -> None:
        self.released += 1
        self.held = held


def a_book(work: Slow) -> Claims:
    world: Any = SimpleNamespace(now=lambda: Millis(1), reach=lambda name: None)
    storage: Any = SimpleNamespace(outbox=work, lease=None)
    return Claims("hook", world, storage)


async def test_an_outcome_that_is_not_written_in_time_is_written_by_the_next_try(autojump_clock: MockClock) -> None:
    work = Slow(0.1, COMMIT_DEADLINE + 1, 0.1)
    book = a_book(work)
    await book.claim(1, digests=False)
    outcome = Outcome("hook", Seq(1), "sent", Millis(2))
    book.record(outcome)
    with pytest.raises(Unavailable, match="not written"):
        await book.write()
    assert work.settled == []
    await book.write()
    await book.write()
    assert work.settled == [outcome]


async def test_an_unanswered_claim_is_released_before_the_next(autojump_clock: MockClock) -> None:
    work = Slow(COMMIT_DEADLINE + 1)
    book = a_book(work)
    with pytest.raises(Unavailable, match="no claim"):
        await book.claim(1, digests=False)
    await book.release_unconfirmed()
    await book.release_unconfirmed()
    assert (work.released, book.held) == (1, {})


async def test_a_release_leaves_unsettled_attempts_alone(autojump_clock: MockClock) -> None:
    work = Slow(0.1, COMMIT_DEADLINE + 1)
    book = a_book(work)
    await book.claim(1, digests=False)
    book.record(Outcome("hook", Seq(1), "sent", Millis(2)))
    with pytest.raises(Unavailable, match="no claim"):
        await book.claim(1, digests=False)
    await book.release_unconfirmed()
    assert work.held == (1,), "it would be sent twice"
