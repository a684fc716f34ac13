"""The store of subscriptions to published feeds."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from storage.records.identity import Seq
from storage.records.subscription import Progress, Subscriber, Subscription


class Subscriptions(Protocol):
    """Subscriptions, each with how far its subscriber has been told. They go with their publication's address."""

    async def put(self, subscription: Subscription, cursor: Seq) -> Subscriber | None:
        """Add a subscription that is told what comes after `cursor`, and return it; None when the address is gone.

        One of the same callback to the same feed is renewed: it keeps its id and its progress.
        """

    async def end(self, ids: Sequence[str]) -> None:
        """Delete subscriptions."""

    async def all(self) -> Sequence[Subscriber]:
        """Return all subscriptions, oldest first."""

    async def count(self, publication_id: str) -> int:
        """Return how many a publication has."""

    async def advance(self, steps: Sequence[Progress]) -> None:
        """Store how far subscribers have been told, in one transaction. Those that are gone are passed over."""
