"""Subscriptions to published feeds (WebSub): the subscriber, the expiry, and the progress."""

from __future__ import annotations

from typing import NamedTuple

from msgspec import Struct

from storage.records.identity import Millis, Seq

MOST_SUBSCRIPTIONS = 20_000


class Subscription(Struct, frozen=True):
    """A subscription to a feed's new events.

    token_hash: of the subscribed address. ending: the feed's format. secret: signs its requests, None for none.
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
        """Leave out the secret and the callback, which may grant access."""
        return f"Subscription({self.id!r})"


class Progress(NamedTuple):
    """A subscriber's progress.

    cursor: everything up to it was sent or given up. attempts: failures since. due_at: earliest next attempt. error: of
    the last attempt, "" if it succeeded.
    """

    id: str
    cursor: Seq
    attempts: int = 0
    due_at: Millis = Millis(0)
    error: str = ""


class Subscriber(NamedTuple):
    """A subscription and its progress."""

    subscription: Subscription
    progress: Progress
