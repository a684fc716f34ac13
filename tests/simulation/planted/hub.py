"""Bugs of the hub and of publications; finding them takes subscribers and visitors."""

from __future__ import annotations

import dataclasses
from contextlib import AbstractContextManager
from typing import Any
from unittest.mock import patch

import trio
from msgspec.structs import replace

from actors.egress.failures import PostResult
from extras.publish import newest
from extras.publish.hub import Hub, Progress

Plant = AbstractContextManager[Any]


def one_try_is_enough() -> Plant:
    """The hub does not repeat a failed post to a subscriber."""

    def wrong(self: Hub, reader: Any, answer: Any, upto: Any) -> Progress:
        return Progress(reader.progress.id, upto)

    return patch.object(Hub, "_failed", wrong)


def unsigned_after_a_failure() -> Plant:
    """A retry is signed with an empty secret."""
    right = Hub._post

    async def wrong(self: Hub, topic: Any, subscription: Any, document: Any) -> Any:
        reader = topic.readers[subscription.id]
        secret = "" if reader.progress.attempts else subscription.secret
        return await right(self, topic, replace(subscription, secret=secret), document)

    return patch.object(Hub, "_post", wrong)


def places_are_forgotten() -> Plant:
    """The subscribers' positions are not stored."""

    async def wrong(self: Hub) -> None:
        await trio.sleep_forever()

    return patch.object(Hub, "_save", wrong)


def leases_without_end() -> Plant:
    """A lease never ends."""
    right = Hub._subscribe

    async def wrong(self: Hub, intent: Any) -> None:
        await right(self, dataclasses.replace(intent, lease=10 * 365 * 86_400))

    return patch.object(Hub, "_subscribe", wrong)


def callbacks_unconfirmed() -> Plant:
    """A subscription needs no confirmation by its callback."""
    right = Hub._get

    async def wrong(self: Hub, callback: str, asked: dict[str, str]) -> Any:
        found = await right(self, callback, asked) if asked["hub.mode"] != "subscribe" else None
        return found or PostResult(200, 0, asked["hub.challenge"].encode(), None)

    return patch.object(Hub, "_get", wrong)


def renewals_are_forgotten() -> Plant:
    """A renewed lease is stored, but the running hub goes by the first one."""
    right = Hub._know

    async def wrong(self: Hub, subscriber: Any, client: str = "") -> None:
        topic = self._topics.get(subscriber.subscription.publication)
        if topic is None or subscriber.subscription.id not in topic.readers:
            await right(self, subscriber, client)

    return patch.object(Hub, "_know", wrong)


def given_up_at_the_third() -> Plant:
    """The hub gives up a post that has failed three times."""
    right = Hub._failed

    def wrong(self: Hub, reader: Any, answer: Any, upto: Any) -> Progress:
        progress = right(self, reader, answer, upto)
        return Progress(progress.id, upto) if progress.attempts == 3 else progress

    return patch.object(Hub, "_failed", wrong)


def pages_skip_an_event() -> Plant:
    """When new events push old ones off the first page, the next page begins one event too late."""
    right = newest._cut

    def wrong(kept: Any) -> None:
        before = list(kept.events)
        right(kept)
        if len(kept.events) < len(before):
            kept.older = before[len(kept.events)].seq

    return patch.object(newest, "_cut", wrong)
