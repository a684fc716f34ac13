"""A cache of recent bodies, so that trying out selectors does not fetch each time.

Bounded in bytes, number and age; least recently used bodies go first.
"""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass
from typing import Final

import trio

from actors.egress.http import FetchedResponse
from storage.records.identity import Millis

MOST_BYTES: Final = 16 << 20
MOST_BODIES: Final = 64
LONGEST: Final = 600.0  # seconds after which a body is too old


@dataclass(frozen=True, slots=True)
class CachedBody:
    """A body, the wall-clock time of its fetch, and its age by the loop's clock."""

    fetched: FetchedResponse
    at: Millis
    since: float


class BodyCache:
    """The bodies, by requested URL."""

    def __init__(self) -> None:
        self._bodies: OrderedDict[str, CachedBody] = OrderedDict()
        self._bytes = 0

    def put(self, url: str, fetched: FetchedResponse, at: Millis) -> CachedBody:
        self._drop(url)
        body = CachedBody(fetched, at, trio.current_time())
        if len(fetched.body) > MOST_BYTES:
            return body
        self._bodies[url] = body
        self._bytes += len(fetched.body)
        while self._bytes > MOST_BYTES or len(self._bodies) > MOST_BODIES:
            self._drop(next(iter(self._bodies)))
        return body

    def find(self, url: str, within: float = LONGEST) -> CachedBody | None:
        """Return a cached body of at most `within` seconds of age, else None."""
        now = trio.current_time()
        for old in [name for name, cached in self._bodies.items() if now - cached.since > LONGEST]:
            self._drop(old)
        cached = self._bodies.get(url)
        if cached is None or now - cached.since > within:
            return None
        self._bodies.move_to_end(url)
        return cached

    def _drop(self, url: str) -> None:
        dropped = self._bodies.pop(url, None)
        self._bytes -= 0 if dropped is None else len(dropped.fetched.body)
