"""The open streams of this node, for the operator: each one's owner and cursor, and a way to close it.

The listeners share the list, so the admin socket shows the streams of the public one. Cursors are read on demand, so
an open stream costs nothing extra.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple, Protocol

from storage.records.identity import Millis, Seq


class StreamOwner(NamedTuple):
    """key: the id of an API key or a dashboard session; "" on the admin socket. name, prefix: of the key."""

    key: str
    name: str
    prefix: str = ""


class StreamProgress(Protocol):
    """A stream's cursor, and the bytes of events it has sent."""

    cursor: Seq
    sent: int


class OpenStream(NamedTuple):
    """asked: path and query. progress: None without the log. close: ends it; the client may reconnect and resume."""

    number: int
    owner: StreamOwner
    address: str
    asked: str
    since: Millis
    progress: StreamProgress | None
    close: Callable[[], None]


class OpenStreams:
    """All open streams by number; numbers are never reused."""

    def __init__(self) -> None:
        self._open: dict[int, OpenStream] = {}
        self._last = 0

    def __len__(self) -> int:
        return len(self._open)

    def all(self) -> list[OpenStream]:
        return list(self._open.values())

    def find(self, number: int) -> OpenStream | None:
        return self._open.get(number)

    def add(
        self,
        owner: StreamOwner,
        address: str,
        asked: str,
        since: Millis,
        *,
        progress: StreamProgress | None,
        close: Callable[[], None],
    ) -> int:
        self._last += 1
        self._open[self._last] = OpenStream(self._last, owner, address, asked, since, progress, close)
        return self._last

    def drop(self, number: int) -> None:
        del self._open[number]
