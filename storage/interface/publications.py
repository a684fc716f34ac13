"""The store of publications and of retracted events."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple, Protocol

from storage.records.identity import Seq
from storage.records.publication import Publication, Retraction


class Published(NamedTuple):
    """A publication. retractions: rises with each retraction or restoration of any event."""

    publication: Publication
    retractions: int


class Publications(Protocol):
    """Publications, and retracted events."""

    async def put(self, publication: Publication) -> None:
        """Add or replace a publication."""

    async def edit(self, publication_id: str, change: Callable[[Publication], Publication]) -> Publication | None:
        """Replace a publication with the result of `change`, in one transaction, like `Alerts.edit`."""

    async def by_hash(self, token_hash: str) -> Published | None:
        """Return the publication whose token has this hash. On the path of unauthenticated requests: microseconds."""

    async def get(self, publication_id: str) -> Publication | None:
        """Return one publication."""

    async def all(self) -> Sequence[Publication]:
        """Return all publications, oldest first."""

    async def delete(self, publication_id: str, check: Callable[[Publication], None] = lambda _: None) -> bool:
        """Delete a publication; return whether there was one. `check` as in `Alerts.delete`."""

    async def retract(self, retraction: Retraction) -> None:
        """Stop publishing an event; the first time counts."""

    async def restore(self, seq: Seq) -> None:
        """Publish an event again."""

    async def retracted(self, after: Seq, before: Seq, limit: int) -> Sequence[Retraction]:
        """Return retracted events between two positions, both excluded, newest first."""

    async def forget_retractions(self, upto: Seq, limit: int) -> int:
        """Delete at most `limit` retractions of events up to a position, which have left the log; return how many."""
