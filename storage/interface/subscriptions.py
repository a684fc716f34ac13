"""The store of subscriptions to published feeds."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from storage.records.identity import Seq
from storage.records.publication import Progress, Subscriber, Subscription


class Subscriptions(Protocol):
    """Subscriptions with their subscribers' progress. They are deleted with their publication's address."""

    async def put(self, subscription: Subscription, cursor: Seq) -> Subscriber | None:
        """Add a subscription to events after `cursor` and return it; None if the address is gone.

        A subscription of the same callback to the same feed is renewed: it keeps its id and progress.
        """

    async def end(self, ids: Sequence[str]) -> None:
        """Delete subscriptions."""

    async def all(self) -> Sequence[Subscriber]:
        """Return all subscriptions, oldest first."""

    async def count(self, publication_id: str) -> int:
        """Return how many a publication has."""

    async def advance(self, steps: Sequence[Progress]) -> None:
        """Store subscribers' progress in one transaction. Skips deleted ones."""
