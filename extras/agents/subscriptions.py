"""Agents' subscriptions: the resources of each client, its position in the log, and its notification stream.

A notification only names a resource. So each resource is named once per stretch of the log. A client that was away
longer than the log reaches gets all its resources: it reads too much but misses nothing. Each frame's id is a position
in the log, as on event streams, so a client resumes with it in any session.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final
from weakref import WeakKeyDictionary

import msgspec
import trio

from api.streams.reader import PAGE, EventFilter, Reader
from api.streams.streams import Streams
from storage.records.event import Filter
from storage.records.identity import Seq, SourceId, id_of
from storage.records.tiers import UNASKED
from storage.sql.stores.log import EventLog
from storage.tail import Tail

CHANGES: Final = "sanderling://changes"  # the resource of all changes
OF_SOURCE: Final = "sanderling://source/"
MOST, MOST_OF_KEY, MOST_RESOURCES = 1_000, 20, 100
"""Clients remembered in total and per key, and subscriptions per client."""


class Subscriber:
    """One client since its `initialize`. cursor: everything up to it has been notified."""

    __slots__ = ("cursor", "key", "reader", "resources")

    def __init__(self, key: str, cursor: Seq) -> None:
        self.key, self.cursor = key, cursor
        self.resources: dict[str, None] = {}
        self.reader: UpdateReader | None = None

    def __repr__(self) -> str:
        return f"<Subscriber of {self.key} to {len(self.resources)} resources>"

    def filter(self) -> Filter:
        if CHANGES in self.resources:
            return Filter(kinds=UNASKED)  # a heartbeat is no change
        return Filter(sources=tuple(uri.removeprefix(OF_SOURCE) for uri in self.resources))

    def touched(self, sources: Sequence[SourceId]) -> list[str]:
        """Return the subscribed resources that events of these sources change."""
        told = [uri for uri in dict.fromkeys(f"{OF_SOURCE}{source}" for source in sources) if uri in self.resources]
        return [*told, CHANGES] if sources and CHANGES in self.resources else told


class Subscribers:
    """The clients by session id. The one idle for longest is forgotten first."""

    def __init__(self) -> None:
        self._known: dict[str, Subscriber] = {}

    def begin(self, session: str, key: str, cursor: Seq) -> None:
        of_key = [id for id, known in self._known.items() if known.key == key]
        for id in of_key[: max(0, len(of_key) - MOST_OF_KEY + 1)]:
            del self._known[id]
        while len(self._known) >= MOST:
            del self._known[next(iter(self._known))]
        self._known[session] = Subscriber(key, cursor)

    def of(self, session: str, key: str) -> Subscriber | None:
        found = self._known.get(session)
        if found is None or found.key != key:
            return None
        self._known[session] = self._known.pop(session)
        return found

    def end(self, session: str) -> None:
        self._known.pop(session).reader = None

    def __len__(self) -> int:
        return len(self._known)


_BY_SERVICE: WeakKeyDictionary[Streams, Subscribers] = WeakKeyDictionary()


def subscribers_of(streams: Streams) -> Subscribers:
    return _BY_SERVICE.setdefault(streams, Subscribers())


class UpdateReader(Reader):
    """A client's notification stream. A newer one of the same client replaces it."""

    __slots__ = ("_subscriber",)

    def __init__(self, log: EventLog, tail: Tail, subscriber: Subscriber, cursor: Seq) -> None:
        super().__init__(log, tail, EventFilter(), cursor=cursor, form="sse", replay_from=id_of(cursor, 0))
        self._subscriber = subscriber
        subscriber.reader = self

    @property
    def _replaced(self) -> bool:
        return self._subscriber.reader is not self

    def at_end(self) -> bool:
        return self._replaced or super().at_end()

    async def wait(self) -> None:
        if self._replaced:
            await trio.sleep_forever()  # the client has another stream: notify once only
        await super().wait()

    def take_nowait(self) -> bytes | None:
        """Return a notification for each changed resource, b"" if none; None if only the log knows."""
        client, head = self._subscriber, self.tail.head
        if self._replaced or not client.resources:
            self._move(max(head, self.cursor))
            return b""
        where, recent = client.filter(), self.tail.since(self.cursor)
        if recent is None:
            return None
        changed = [each.stored.source for each in recent if where.admits(each.stored)]
        self._move(max(head, self.cursor))
        return self._told(client.touched(changed))

    async def take(self) -> bytes:
        """Return a notification for each changed resource, b"" if none."""
        if (taken := self.take_nowait()) is not None:
            return taken
        client, head = self._subscriber, self.tail.head
        page = await self._log.read(self.cursor, PAGE, client.filter())
        lost = page.floor > self.cursor
        self._move(page.scanned if page.scanned > self.cursor else max(self.cursor, head))
        return self._told(list(client.resources) if lost else client.touched([event.source for event in page.events]))

    def _move(self, cursor: Seq) -> None:
        self.cursor = cursor
        if not self._replaced:
            self._subscriber.cursor = cursor

    def _told(self, uris: Sequence[str]) -> bytes:
        id, told = id_of(self.cursor, 0).encode(), {"jsonrpc": "2.0", "method": "notifications/resources/updated"}
        frames = (msgspec.json.encode(told | {"params": {"uri": uri}}) for uri in uris)
        return b"".join([b"event: message\ndata: %b\nid: %b\n\n" % (frame, id) for frame in frames])
