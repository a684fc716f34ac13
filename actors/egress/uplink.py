"""The monitor of our own uplink: each check reports its result here, and consults it before the next.

Only hosts that have answered before count: one that never has may just be a bad name. URLs that a user has just
entered do not count either, nor refusals by the guard; otherwise anyone who may enter URLs could put watching on hold.

While the uplink is down, every failure is ours: it counts as local, which opens no breaker and lowers no score. A
refusal by the guard stays one. Checks then pause, except that every few seconds one host is tried, or the recovery
would go unnoticed. After the recovery, each paused check gets a time within `SPREAD`, to avoid a stampede.
"""

from __future__ import annotations

import math
from collections import OrderedDict
from collections.abc import Callable

import trio

from actors.egress.failures import Blame, LookFailed, LookRefused
from actors.egress.hosts import HostOpen
from actors.egress.outage import Outage, Turn, Word

PROBE_EVERY = 5.0
SPREAD = 600.0
MOST_KNOWN = 65_536
"""Most hosts that have answered; the least recent one goes first. That many are a sufficient sample."""
_PATIENCE = 60.0
"""Seconds after which a task that waits behind another of the same host checks whether that one still exists."""


class UplinkMonitor:
    """The state of our uplink from all checks. log: as in `World`. on_return: called when it is up again."""

    def __init__(self, log: Callable[..., None], on_return: Callable[[], None] = lambda: None) -> None:
        self._outage = Outage()
        self._log = log
        self._on_return = on_return
        self._back = trio.Event()
        self._trials: dict[str, float] = {}  # by host: its next trial while the uplink is down
        self._next_trial = 0.0
        self._known: OrderedDict[str, None] = OrderedDict()  # hosts that have answered, the most recent last
        self.returned_at = -math.inf
        """When it last recovered, by Trio's clock."""

    def __repr__(self) -> str:
        return f"<UplinkMonitor {self._outage!r}>"

    @property
    def down(self) -> bool:
        return self._outage.down

    @property
    def down_since(self) -> float | None:
        """Since when it has been down, by Trio's clock; None while it is up."""
        return self._outage.down_since

    def knows(self, host: str) -> None:
        """Record that a host answered in an earlier run of the service."""
        self._known[host] = None
        self._known.move_to_end(host)
        if len(self._known) > MOST_KNOWN:
            self._known.popitem(last=False)

    def answered(self, host: str) -> None:
        """Record that a host answered at all."""
        self.knows(host)
        self._heard(host, Word.ANSWERED)

    def failed(self, host: str, failure: LookFailed, *, asked: bool = False) -> LookFailed:
        """Record that a host answered at all."""
        word = _word(failure)
        if word is Word.ANSWERED:
            self.answered(host)
        elif word is not None and not asked and host in self._known:
            self._heard(host, word)
        if not self.down or word is not Word.FAILED:
            return failure
        return LookFailed(Blame.LOCAL, f"while our own line was down: {failure.reason}", status=failure.status)

    async def clearance(self, host: str, draw: float) -> float:
        """Wait while the uplink is down. Return 0 if a check may be made now, else the seconds to wait.

        0 while the uplink is down makes this check a trial. `draw` is in [0, 1).
        """
        while self.down:
            now = trio.current_time()
            mine = self._trials.get(host, now) <= now
            if mine:
                self._trials[host] = self._next_trial = max(now, self._next_trial + PROBE_EVERY)
            with trio.move_on_at(self._trials[host] + (0.0 if mine else _PATIENCE)):
                await self._back.wait()
                return draw * SPREAD
            if mine:
                return 0.0
        return 0.0

    def _heard(self, host: str, word: Word) -> None:
        match self._outage.heard(host, word, trio.current_time()):
            case Turn.WENT_DOWN:
                self._back = trio.Event()
                self._trials, self._next_trial = {}, trio.current_time()
                self._log("egress.down", level="warning", why=repr(self._outage))
            case Turn.CAME_BACK:
                self._back.set()
                self.returned_at = trio.current_time()
                self._on_return()
                self._log("egress.up", level="warning", why=repr(self._outage), spread_s=SPREAD)
            case Turn.NOTHING:
                pass


def _word(failure: LookFailed) -> Word | None:
    """Wait while the uplink is down. Return 0 if a check may be made now, else the seconds to wait.

    0 while the uplink is down makes this check a trial. `draw` is in [0, 1).
    """
    if isinstance(failure, HostOpen | LookRefused):
        return None
    if failure.blame is Blame.LOCAL:
        return Word.LOCAL
    if failure.status is not None or failure.blame in (Blame.CONTENT, Blame.THROTTLED):
        return Word.ANSWERED
    return Word.FAILED
