"""The streams that are open at this node, for whoever operates it: whose each is, how far it is, and an end to it.

The listeners share the list, so the admin socket shows the streams of the public one. What a stream has sent and where
it stands is asked when somebody looks, so an open stream costs nothing more.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple, Protocol

from storage.records.identity import Millis, Seq


class Whose(NamedTuple):
    """key: the id of an API key, or of a session of the dashboard; "" on the admin socket. name, prefix: of the key."""

    key: str
    name: str
    prefix: str = ""


class Place(Protocol):
    """The position up to which a stream has looked, and the bytes of events that it has sent."""

    cursor: Seq
    sent: int


class OpenStream(NamedTuple):
    """asked: path and query. place: None of one that follows no log.

    close: ends it; its client may come back, and go on where it was.
    """

    number: int
    whose: Whose
    address: str
    asked: str
    since: Millis
    place: Place | None
    close: Callable[[], None]


class OpenStreams:
    """All of them by number; a number is never given twice."""

    def __init__(self) -> None:
        self._open: dict[int, OpenStream] = {}
        self._last = 0

    def __len__(self) -> int:
        return len(self._open)

    def __repr__(self) -> str:
        return f"<OpenStreams {len(self._open)} open>"

    def all(self) -> list[OpenStream]:
        """Return them, the oldest first."""
        return list(self._open.values())

    def find(self, number: int) -> OpenStream | None:
        return self._open.get(number)

    def add(
        self,
        whose: Whose,
        address: str,
        asked: str,
        since: Millis,
        *,
        place: Place | None,
        close: Callable[[], None],
    ) -> int:
        """Keep a stream on the list until it is dropped; return its number."""
        self._last += 1
        self._open[self._last] = OpenStream(self._last, whose, address, asked, since, place, close)
        return self._last

    def drop(self, number: int) -> None:
        del self._open[number]
