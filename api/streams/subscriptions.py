"""Subscriptions of agents: what each client wants to hear of, its place in the log, and the stream that tells it.

A notification names a resource and says no more. So the changes of a stretch of the log are told once for each
resource, and whoever was away too long for the log to know hears of all its resources: too much is read then, and
nothing is missed. The id of each frame is a position of the log, as on the streams of events: a client that comes back
with it goes on there, in whatever session.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import msgspec
import trio

from api.streams.reader import PAGE, EventFilter, Reader
from storage.interface.log import EventLog
from storage.records.cursor import Filter
from storage.records.identity import Seq, SourceId, id_of
from storage.records.tiers import UNASKED
from storage.tail import Tail

CHANGES: Final = "sanderling://changes"
"""Everything that is new."""
OF_SOURCE: Final = "sanderling://source/"
MOST, MOST_OF_KEY, MOST_RESOURCES = 1_000, 20, 100
"""Clients that are remembered, of these those of one key, and what each may subscribe to."""


class Subscriber:
    """One client, from its `initialize` on. cursor: what is after it has not been told."""

    __slots__ = ("cursor", "key", "reader", "resources")

    def __init__(self, key: str, cursor: Seq) -> None:
        self.key, self.cursor = key, cursor
        self.resources: dict[str, None] = {}
        self.reader: UpdateReader | None = None

    def __repr__(self) -> str:
        return f"<Subscriber of {self.key} to {len(self.resources)} resources>"

    def filter(self) -> Filter:
        """Return which events it must hear of, while it has subscribed to something."""
        if CHANGES in self.resources:
            return Filter(kinds=UNASKED)  # a heartbeat is no change
        return Filter(sources=tuple(uri.removeprefix(OF_SOURCE) for uri in self.resources))

    def touched(self, sources: Sequence[SourceId]) -> list[str]:
        """Return the resources that events of these sources change."""
        uris = dict.fromkeys(f"{OF_SOURCE}{source}" for source in sources)
        told = [uri for uri in uris if uri in self.resources]
        return [*told, CHANGES] if sources and CHANGES in self.resources else told


class Subscribers:
    """The clients, by the ids of their sessions. Who was not heard of for longest is forgotten first."""

    def __init__(self) -> None:
        self._known: dict[str, Subscriber] = {}

    def begin(self, session: str, key: str, cursor: Seq) -> None:
        """Remember a client of a key that begins."""
        of_key = [id for id, known in self._known.items() if known.key == key]
        for id in of_key[: max(0, len(of_key) - MOST_OF_KEY + 1)]:
            del self._known[id]
        while len(self._known) >= MOST:
            del self._known[next(iter(self._known))]
        self._known[session] = Subscriber(key, cursor)

    def of(self, session: str, key: str) -> Subscriber | None:
        """Return a client, None when it is not known, or another key's."""
        found = self._known.get(session)
        if found is None or found.key != key:
            return None
        self._known[session] = self._known.pop(session)
        return found

    def end(self, session: str) -> None:
        """Forget a client; its stream, if it has one, says nothing more."""
        self._known.pop(session).reader = None

    def __len__(self) -> int:
        return len(self._known)


class UpdateReader(Reader):
    """A client's stream of notifications. A later one of the same client takes over."""

    __slots__ = ("_subscriber",)

    def __init__(self, log: EventLog, tail: Tail, subscriber: Subscriber, cursor: Seq) -> None:
        super().__init__(log, tail, EventFilter(), cursor=cursor, form="sse", replay_from=id_of(cursor, 0))
        self._subscriber = subscriber
        subscriber.reader = self

    @property
    def _replaced(self) -> bool:
        return self._subscriber.reader is not self

    def at_end(self) -> bool:
        """Return whether there is nothing to look at."""
        return self._replaced or super().at_end()

    async def wait(self) -> None:
        """Wait until there is."""
        if self._replaced:
            await trio.sleep_forever()  # the client has another stream: nothing is told twice
        await super().wait()

    async def take(self) -> bytes:
        """Return a notification for each resource that has changed, b"" when none has."""
        client, head = self._subscriber, self._tail.head
        if self._replaced or not client.resources:
            self._move(max(head, self.cursor))
            return b""
        where, recent = client.filter(), self._tail.since(self.cursor)
        if recent is not None:
            changed = [each.stored.source for each in recent if where.admits(each.stored)]
            self._move(max(head, self.cursor))
            return self._told(client.touched(changed))
        page = await self._log.read(self.cursor, PAGE, where)
        lost = page.floor > self.cursor
        self._move(page.scanned if page.scanned > self.cursor else max(self.cursor, head))
        return self._told(list(client.resources) if lost else client.touched([event.source for event in page.events]))

    def _move(self, cursor: Seq) -> None:
        self.cursor = cursor
        if not self._replaced:
            self._subscriber.cursor = cursor

    def _told(self, uris: Sequence[str]) -> bytes:
        return b"".join([_frame(uri, id_of(self.cursor, 0)) for uri in uris])


def _frame(uri: str, id: str) -> bytes:
    said = {"jsonrpc": "2.0", "method": "notifications/resources/updated", "params": {"uri": uri}}
    return b"event: message\ndata: %b\nid: %b\n\n" % (msgspec.json.encode(said), id.encode())
