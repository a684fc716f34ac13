"""The streams that are open at this node, for whoever operates it: whose each is, how far it is, and an end to it.

The listeners share the list, so the admin socket shows the streams of the public one. What a stream has sent and where
it stands is asked when somebody looks, so an open stream costs nothing more.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import NamedTuple

from storage.records.identity import Millis, Seq


class Whose(NamedTuple):
    """key: the id of an API key, or of a session of the dashboard; "" on the admin socket. name, prefix: of the key."""

    key: str
    name: str
    prefix: str = ""


class OpenStream(NamedTuple):
    """asked: path and query. cursor: the position up to which it has looked; None of one that follows no log.

    sent: bytes of events. close: ends it; its client may come back, and go on where it was.
    """

    number: int
    whose: Whose
    address: str
    asked: str
    since: Millis
    cursor: Callable[[], Seq | None]
    sent: Callable[[], int]
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

    @contextmanager
    def listed(
        self,
        whose: Whose,
        address: str,
        asked: str,
        since: Millis,
        *,
        cursor: Callable[[], Seq | None],
        sent: Callable[[], int],
        close: Callable[[], None],
    ) -> Iterator[OpenStream]:
        """Keep a stream on the list for the length of the block."""
        self._last += 1
        one = self._open[self._last] = OpenStream(self._last, whose, address, asked, since, cursor, sent, close)
        try:
            yield one
        finally:
            del self._open[one.number]
