"""The limit on password attempts. It never locks out the owner (S9).

Each hash costs a tenth of a second and 64 MiB, and each attempt is a guess. So each address gets few attempts, and
strangers queue for a shared pace instead of being refused. Separate from that queue are addresses that have signed in,
browsers that have (by a cookie that only this service can make), and sessions. So a flood of guesses does not lock out
the owner, even if it comes through the owner's proxy.
"""

from __future__ import annotations

import hmac
from collections import Counter, OrderedDict
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from hashlib import sha256
from typing import TYPE_CHECKING

import trio

from api.dashboard.language.speaking import say
from api.problems import Refusal
from api.ratelimit import Limit, neighbourhood
from storage.records.session import Password
from storage.sql.stores.people import People

if TYPE_CHECKING:
    from api.ratelimit import Limiter

OF_ONE = Limit(1 / 30, 5)
"""Attempts from one address, one known browser, or one session."""
OF_STRANGERS = Limit(1.0, 30)
"""Attempts of all strangers together; further ones wait."""
MOST_WAITING = 30
"""Strangers in the queue; at one per second, none waits longer than half a minute."""
MOST_OF_ONE = 2
"""Queue slots per address."""
REMEMBERED = 256
"""Addresses that signed in since the start, in addition to those with open sessions."""


class Attempts:
    """The sign-in attempts at one service."""

    def __init__(self, limiter: Limiter, people: People) -> None:
        self._limiter, self._people = limiter, people
        self._known: OrderedDict[str, None] = OrderedDict()
        self._waiting: Counter[str] = Counter()
        self._turn = trio.Lock()

    def succeeded(self, address: str) -> None:
        """Remember an address that has signed in."""
        place = neighbourhood(address)
        self._known[place] = None
        self._known.move_to_end(place)
        if len(self._known) > REMEMBERED:
            self._known.popitem(last=False)

    @asynccontextmanager
    async def one(self, address: str, browser: str = "") -> AsyncIterator[None]:
        """Hold a slot for one sign-in attempt. browser: from `known_browser`. Raises Refusal (429)."""
        place = neighbourhood(address)
        if browser:
            self._take(f"sign-in browser {browser}")
            yield
            return
        self._take(f"sign-in {place}")
        if await self._is_known(place):
            yield
            return
        if self._waiting.total() >= MOST_WAITING or self._waiting[place] >= MOST_OF_ONE:
            raise _too_many(MOST_WAITING)
        self._waiting[place] += 1
        try:
            async with self._turn:
                if (wait := self._paced()) > 0:
                    await trio.sleep(wait)
                    self._paced()  # no other task takes the token in between
                yield
        finally:
            self._waiting[place] -= 1
            if not self._waiting[place]:
                del self._waiting[place]

    def in_session(self, session_id: str) -> None:
        """Count an attempt in an open session. Raises Refusal (429)."""
        self._take(f"password {session_id}")

    def _take(self, who: str) -> None:
        verdict = self._limiter.take(who, OF_ONE, trio.current_time())
        if not verdict.admitted:
            raise _too_many(verdict.retry_after)

    def _paced(self) -> float:
        verdict = self._limiter.take("sign-in of strangers", OF_STRANGERS, trio.current_time())
        return 0.0 if verdict.admitted else float(verdict.retry_after)

    async def _is_known(self, place: str) -> bool:
        if place in self._known:
            return True
        return any(neighbourhood(one.address) == place for one in await self._people.sessions())


def browser_mark(nonce: str, password: Password) -> str:
    """Return the mark for a browser that has signed in. It cannot be forged, and a new password ends it."""
    return f"{nonce}.{_seal(nonce, password)}"


def known_browser(mark: str, password: Password | None) -> str:
    """Return the name of the browser that a mark belongs to, or "" if invalid."""
    nonce, _, seal = mark.partition(".")
    if password is None or not nonce or not hmac.compare_digest(seal.encode(), _seal(nonce, password).encode()):
        return ""
    return nonce


def _seal(nonce: str, password: Password) -> str:
    return hmac.new(password.hashed.encode(), f"browser {nonce}".encode(), sha256).hexdigest()


def _too_many(seconds: int) -> Refusal:
    return Refusal(
        "rate-limited",
        say("Too many attempts. Wait %(seconds)s s.", seconds=seconds),
        headers={"Retry-After": str(seconds)},
    )
