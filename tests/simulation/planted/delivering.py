"""Bugs between the log and a receiver: the matcher, the outbox, the deliveries."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager
from typing import Any
from unittest.mock import patch

from actors.delivery import schedule
from actors.destination_kinds.contract import Answer
from storage.append import Lease
from storage.records.destination import Match
from storage.records.identity import Seq
from storage.sql.stores.outbox import Outbox


def claimed_for_ever() -> AbstractContextManager[Any]:
    """Deliveries that were under way at a crash stay claimed by the dead life."""

    async def wrong(self: Outbox, lease: Lease, **more: Any) -> int:
        return 0

    return patch.object(Outbox, "release", wrong)


def matches_after_the_cursor() -> AbstractContextManager[Any]:
    """The matcher's cursor is durable before the rows of its step."""
    right = Outbox.advance

    async def wrong(  # same signature as the method
        self: Outbox, name: str, expect: Seq | None, to: Seq, matches: Sequence[Match], lease: Lease, **more: Any
    ) -> None:
        await right(self, name, expect, to, (), lease, **more)
        if matches:
            await right(self, name, to, to, matches, lease)

    return patch.object(Outbox, "advance", wrong)


def given_up_after_two() -> AbstractContextManager[Any]:
    """A delivery fails for good after its second failure."""

    def wrong(answer: Answer, attempt: int) -> str:
        return "sent" if answer.delivered else "given_up" if attempt >= 2 else "retry"

    return patch.object(schedule, "verdict", wrong)
