"""The ends of a source's sleep besides its next check: the pause switch, and the delays of its failure notice.

While the switch is closed no source is checked. An operator drains the service with it, and a node that can't reach the
others parks itself. Nothing is lost: checks in progress finish, and their events reach the log and the destinations.

The matcher passes the alerts on whenever it has read them. A task that sleeps with an unreported trouble registers its
scope here, and wakes when the delays change.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Final

import trio

from actors.notices import NOTICE
from actors.sources.schedule.cadence import CATCH_UP_RATE
from storage.records.alert import Alert
from storage.records.source import Source

SPREAD = 60.0  # seconds within which all sources that waited are checked once the switch is open again


class PauseSwitch:
    """Open at first."""

    def __init__(self) -> None:
        self.is_drained = self._is_parked = False
        self._opened = trio.Event()
        self._waiting, self._window = 0, 0.0

    @property
    def is_closed(self) -> bool:
        return self.is_drained or self._is_parked

    def close(self) -> None:
        self.is_drained = True

    def open(self) -> None:
        self.is_drained = False
        self._wake()

    def park(self, parked: bool) -> None:
        self._is_parked = parked
        self._wake()

    def _wake(self) -> None:
        if not self.is_closed:
            self._window = min(self._waiting / CATCH_UP_RATE, SPREAD)
            self._opened.set()
            self._opened = trio.Event()

    async def wait_open(self, draw: float, interval: float = SPREAD) -> float:
        """Wait while it is closed; return the seconds until a check may begin: 0 if it was open. A few sources are
        checked at once, many at `CATCH_UP_RATE`, and each within its own interval (s). draw: in [0, 1).
        """
        window = 0.0
        while self.is_closed:
            self._waiting += 1
            try:
                await self._opened.wait()
            finally:
                self._waiting -= 1
            window = min(self._window, interval)
        return draw * window


DEFAULT_DELAY: Final = 3600
"""Seconds after which a trouble that no alert asks for is written to the log: the default of alerts."""
_SLICE: Final = 500


class FailureDelays:
    """The delays, sorted, in seconds: of alerts over the whole library, and of those that name a source or a tag."""

    def __init__(self) -> None:
        self._anywhere: tuple[int, ...] = ()
        self._by_scope: dict[str, tuple[int, ...]] = {}
        self._sleepers: dict[trio.CancelScope, None] = {}

    def __repr__(self) -> str:
        return f"<FailureDelays of {len(self._by_scope)} sources and tags and all others, {len(self._sleepers)} asleep>"

    async def update(self, alerts: Sequence[Alert]) -> None:
        anywhere: set[int] = set()
        by_scope: dict[str, set[int]] = {}
        for number, alert in enumerate(alerts):
            if alert.enabled and "source_failing" in alert.notices:
                for named in (*alert.source_ids, *alert.tags):
                    by_scope.setdefault(named, set()).add(alert.notice_after)
                if alert.scope.everywhere:
                    anywhere.add(alert.notice_after)
            if number % _SLICE == _SLICE - 1:
                await trio.lowlevel.checkpoint()
        delays = tuple(sorted(anywhere)), {scope: tuple(sorted(times)) for scope, times in by_scope.items()}
        if delays == (self._anywhere, self._by_scope):
            return
        self._anywhere, self._by_scope = delays
        sleepers = list(self._sleepers)
        for start in range(0, len(sleepers), _SLICE):
            for scope in sleepers[start : start + _SLICE]:
                scope.cancel()
            await trio.lowlevel.checkpoint()

    @contextmanager
    def cancel_on_change(self, scope: trio.CancelScope) -> Iterator[None]:
        self._sleepers[scope] = None
        try:
            yield
        finally:
            del self._sleepers[scope]

    def next_delay(self, source: Source, notified: int | None) -> int | None:
        """Return the next of a source's delays after `notified` (None: no alert is notified yet), if there is one."""
        later = [
            times[place]
            for times in self._times(source, notified)
            if (place := 0 if notified is None else bisect_right(times, notified)) < len(times)
        ]
        return min(later, default=None)

    def due_delay(self, source: Source, notified: int | None, seconds: float) -> int | None:
        """Return the longest of a source's delays that has passed after `seconds` and is not notified yet."""
        passed = [each[place - 1] for each in self._times(source, notified) if (place := bisect_right(each, seconds))]
        longest = max(passed, default=None)
        return longest if longest is not None and (notified is None or longest > notified) else None

    def _times(self, source: Source, notified: int | None) -> Sequence[tuple[int, ...]]:
        scoped = [self._by_scope[scope] for scope in (source.id, NOTICE, *source.tags) if scope in self._by_scope]
        if notified is None and not scoped and not self._anywhere:
            return ((DEFAULT_DELAY,),)
        return self._anywhere, *scoped
