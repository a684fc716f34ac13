"""The timer of a failing source between checks: it sends the notice when an alert's `notice_after` has passed.

Failing sources are checked ever less often, so an alert with a delay of a minute can't wait for the next check. No
notice goes out while the source may not be at fault: while our own network is down or checks are paused, and after
that, or after a time without watching, until a check confirms the trouble.
"""

from __future__ import annotations

import math
from collections.abc import Awaitable, Callable

import trio
from msgspec.structs import replace

from actors.messages.sources import SourceMessage
from actors.sources.health.notices import news
from actors.sources.ports import LiveSource, Ports
from storage.records.event import Draft
from storage.records.health import Health
from storage.records.identity import Millis
from storage.records.source import SourceRuntime

Tell = Callable[[SourceRuntime, tuple[Draft, ...]], Awaitable[None]]
"""Commits notices together with the state that records them."""


class TroubleTimer:
    """One source's timer. Call `looked` after each check."""

    __slots__ = ("_live", "_looked_at", "_ports")

    def __init__(self, ports: Ports, live: LiveSource) -> None:
        self._ports = ports
        self._live = live
        self._looked_at = trio.current_time()

    def __repr__(self) -> str:
        return f"<TroubleTimer of {self._live.source.url}{', in doubt' if self._live.doubted else ''}>"

    def looked(self, *, local: bool = False) -> None:
        """Record a finished check; local: it failed by our own fault, which confirms nothing."""
        self._looked_at = trio.current_time()
        self._live.doubted = local

    def news(self, before: Health, after: Health, at: Millis) -> tuple[Health, tuple[Draft, ...]]:
        """Return the notices due now (`notices.news`)."""
        return news(self._live.source, before, after, at, self._reached)

    async def sleep(self, wait: float, tell: Tell) -> SourceMessage | None:
        """Wait this many seconds, or for a message; send due notices in between."""
        until = trio.current_time() + max(0.0, wait)
        while True:
            with trio.CancelScope(deadline=min(until, self._next())) as scope, self._ports.patience.wakes(scope):
                return await self._live.mailbox.receive()
            if trio.current_time() >= until:
                return None
            hot = self._live.hot
            health, drafts = self.news(hot.health, hot.health, self._ports.world.now())
            if drafts:
                await tell(replace(hot, health=health), drafts)
                if self._live.hot.health.told != health.told:
                    self._live.doubted = True  # it could not be committed: the next check retries

    def _next(self) -> float:
        """Return when, by the loop's clock, the next notice is due."""
        health, source = self._live.hot.health, self._live.source
        if health.down_since is None or source.practice is not None or source.detection.pending or self._in_doubt():
            return math.inf
        known = None if health.told is None else health.told.failing
        after = self._ports.patience.after(source, known)
        if after is None:
            return math.inf
        # Add a millisecond, so that rounding never wakes it too early.
        return trio.current_time() + max(0.0, (health.down_since + 1 - self._ports.world.now()) / 1000 + after)

    def _reached(self, told: int | None, lasts: float) -> int | None:
        return None if self._in_doubt() else self._ports.patience.reached(self._live.source, told, lasts)

    def _in_doubt(self) -> bool:
        line, gate = self._ports.egress.line, self._ports.gate
        self._live.doubted |= line.down or gate.closed or line.returned_at > self._looked_at
        return self._live.doubted
