"""Calls refused for lack of a key or scope: one log line per key or address and minute, with the count.

A line per call would let a client flood the log; no line would hide someone guessing keys or probing scopes.
"""

from __future__ import annotations

from collections.abc import Callable

import trio
from msgspec import Struct

EVERY = 60.0
"""Seconds of calls per line."""
MOST = 500
"""Keys and addresses with a line each per minute; the rest share one."""
REST = "others"
_SHOWN = 200


class Tally(Struct):
    """The calls of one key or address in a minute. path, says: of the first one."""

    key: str | None
    address: str
    path: str
    says: str
    unauthorized: int = 0
    forbidden: int = 0


class RefusedCalls:
    """The refused calls since the last lines. Sleeps while there are none."""

    def __init__(self, log: Callable[..., None]) -> None:
        self._log = log
        self._tallies: dict[str, Tally] = {}
        self._some = trio.Event()

    def count(self, status: int, path: str, says: str, *, key: str | None, address: str) -> None:
        """Count a call that got 401 or 403. key: the prefix of a known key."""
        who = f"key {key}" if key else f"address {address}"
        if who not in self._tallies and len(self._tallies) >= MOST:
            who, key, address = REST, None, REST
        tally = self._tallies.setdefault(who, Tally(key, address, path[:_SHOWN], says))
        tally.unauthorized += status == 401
        tally.forbidden += status == 403
        self._some.set()

    async def run(self) -> None:
        while True:
            await self._some.wait()
            await trio.sleep(EVERY)
            self.tell()

    def tell(self) -> None:
        tallies, self._tallies, self._some = self._tallies, {}, trio.Event()
        for tally in tallies.values():
            self._log(
                "http.refused",
                level="warning",
                key=tally.key,
                address=tally.address,
                unauthorized=tally.unauthorized,
                forbidden=tally.forbidden,
                path=tally.path,
                says=tally.says,
            )
