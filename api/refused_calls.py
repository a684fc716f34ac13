"""Calls refused for want of a key or a scope: one log line for each key or address and minute, with the count.

A line for each call would be a way to fill the log; none would hide who guesses keys, or tries what a key may do.
"""

from __future__ import annotations

from collections.abc import Callable

import trio
from msgspec import Struct

EVERY = 60.0
"""Seconds of calls that one line is about."""
MOST = 500
"""Keys and addresses that have a line of their own in a minute; the rest have one together."""
REST = "others"
_SHOWN = 200


class Tally(Struct):
    """The calls of one key or address in a minute. path, says: of the first of them."""

    key: str | None
    address: str
    path: str
    says: str
    unauthorized: int = 0
    forbidden: int = 0


class RefusedCalls:
    """What was refused since the last lines. It sleeps while nothing is."""

    def __init__(self, log: Callable[..., None]) -> None:
        self._log = log
        self._tallies: dict[str, Tally] = {}
        self._some = trio.Event()

    def count(self, status: int, path: str, says: str, *, key: str | None, address: str) -> None:
        """Count a call that got 401 or 403; `key` is the beginning of a key that is known."""
        who = f"key {key}" if key else f"address {address}"
        if who not in self._tallies and len(self._tallies) >= MOST:
            who, key, address = REST, None, REST
        tally = self._tallies.setdefault(who, Tally(key, address, path[:_SHOWN], says))
        tally.unauthorized += status == 401
        tally.forbidden += status == 403
        self._some.set()

    async def run(self) -> None:
        """Tell, for ever."""
        while True:
            await self._some.wait()
            await trio.sleep(EVERY)
            self.tell()

    def tell(self) -> None:
        """Write the lines of what was counted."""
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
