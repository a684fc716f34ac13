"""Subscriptions to published feeds (WebSub): who is told of what, until when, and how far they have been told."""

from __future__ import annotations

from typing import NamedTuple

from msgspec import Struct

from storage.records.identity import Millis, Seq

MOST_SUBSCRIPTIONS = 20_000


class Subscription(Struct, frozen=True):
    """Who is told of what is new in a feed.

    token_hash: of the address that was subscribed to. ending: the feed's format. secret: what its requests are signed
    with, None for none.
    """

    id: str
    publication: str
    token_hash: str
    ending: str
    callback: str
    created_at: Millis
    expires_at: Millis
    secret: str | None = None

    def __repr__(self) -> str:
        """Name the subscription without its callback, which may let somebody in, and its secret."""
        return f"Subscription({self.id!r})"


class Progress(NamedTuple):
    """How far a subscriber has been told.

    cursor: all up to there is told, or given up. attempts: failed ones since. due_at: not before. error: of the last
    one, "" after one that worked.
    """

    id: str
    cursor: Seq
    attempts: int = 0
    due_at: Millis = Millis(0)
    error: str = ""


class Subscriber(NamedTuple):
    """A subscription with its progress."""

    subscription: Subscription
    progress: Progress
