"""Bugs of users' changes that show under load, or when clients hang up."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from typing import Any
from unittest.mock import patch

import trio

from actors.delivery.registry import DeliveryRegistry
from api.nouns import context
from storage.append import Lease
from storage.records.destination import Delivery, Freeze, Match
from storage.records.identity import Millis, Seq
from storage.sql.stores import outbox
from storage.sql.stores.outbox import Outbox
from storage.sql.writing import Transaction

_AGAIN = "INSERT INTO outbox(destination, seq, claimed, due, first_due, attempts) VALUES(?,?,0,?,?,0)"
_LAPSE = """UPDATE outbox SET claimed=0 WHERE claimed>0 AND due<?
    AND destination=(SELECT key FROM destination WHERE id=?)"""
_LEASE = 10_000


class _Unshielded:
    """Trio as an unshielded act sees it."""

    TooSlowError, current_time, lowlevel = trio.TooSlowError, trio.current_time, trio.lowlevel
    fail_after = trio.fail_after

    @staticmethod
    def CancelScope(*, shield: bool, deadline: float) -> trio.CancelScope:  # noqa: N802  # Trio's name
        return trio.CancelScope(deadline=deadline)


@contextmanager
def acts_end_with_their_request() -> Iterator[None]:
    """A hang-up leaves an alert stored but not in force; and the matcher does not compare revisions."""
    right = Outbox.advance

    async def wrong(  # same signature as the method
        self: Outbox, name: str, expect: Seq | None, to: Seq, matches: Sequence[Match], lease: Lease, **more: Any
    ) -> None:
        await right(self, name, expect, to, matches, lease, **more | {"revision": None})

    with patch.object(context, "trio", _Unshielded), patch.object(Outbox, "advance", wrong):
        yield


def answered_before_all_heard() -> AbstractContextManager[Any]:
    """A change of destinations is confirmed, but deliveries use it only after the next start."""
    right = DeliveryRegistry.refresh

    async def wrong(self: DeliveryRegistry) -> None:
        if not self._actors:
            await right(self)

    return patch.object(DeliveryRegistry, "refresh", wrong)


def claims_lapse_by_the_wall_clock() -> AbstractContextManager[Any]:
    """A claim lapses ten seconds after its delivery was due; then any node may claim it."""
    right = Outbox.claim

    async def wrong(
        self: Outbox, destination: str, now: Millis, limit: int, lease: Lease, **more: Any
    ) -> Sequence[Delivery]:
        await self._writer.submit(lambda transaction: transaction.execute(_LAPSE, (now - _LEASE, destination)))
        return await right(self, destination, now, limit, lease, **more)

    return patch.object(Outbox, "claim", wrong)


def digests_frozen_by_two() -> AbstractContextManager[Any]:
    """Two nodes make a digest of the same window, and neither sees the other's."""
    right = outbox._freeze

    def wrong(
        transaction: Transaction, key: int, taken: Sequence[tuple[Seq, bytes]], end: Millis, freeze: Freeze
    ) -> None:
        right(transaction, key, taken, end, freeze)
        if len(taken) > 1:
            first, (id, content) = taken[0][0], freeze([body for _, body in taken])
            transaction.execute(_AGAIN, (key, first, end, end))
            transaction.execute("INSERT INTO digest VALUES(?,?,?,?)", (key, first, id, content))

    return patch.object(outbox, "_freeze", wrong)


def windows_end_late() -> AbstractContextManager[Any]:
    """A late digest takes events from up to a minute after its window's end."""
    return patch.object(outbox, "_INSIDE", outbox._INSIDE.replace("o.first_due<?", "o.first_due<?+60000"))
