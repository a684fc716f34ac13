"""Our own line to the world: who looks tells it how that went, and asks it before looking again.

Only hosts that have answered before speak about it: one that never has says nothing but that it is no good name. What
somebody names just now (to add it, to try it out) does not speak either, nor what the guard refuses: else whoever may
name URLs could have the watching held.

While the line is down, a failure is nobody's but ours: it counts as local, which opens no breaker and moves no
score. A refusal by the guard stays one. Looks then pause, but for one host every few seconds that is tried, or the
return would go unnoticed. On the return, whoever paused is given a moment within `SPREAD`, so that it is no stampede.
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
"""Hosts remembered at most that have answered; the one heard longest ago goes first. A sample of so many is as good."""
_PATIENCE = 60.0
"""Seconds after which who waits behind another source of the same host sees whether that one is still there."""


class UplinkMonitor:
    """What all looks together say about our own line. log: as in `World`. on_return: called when it is up again."""

    def __init__(self, log: Callable[..., None], on_return: Callable[[], None] = lambda: None) -> None:
        self._outage = Outage()
        self._log = log
        self._on_return = on_return
        self._back = trio.Event()
        self._trials: dict[str, float] = {}  # by host: when it is tried next while the line is down
        self._next_trial = 0.0
        self._known: OrderedDict[str, None] = OrderedDict()  # hosts that have answered, the last heard last
        self.returned_at = -math.inf
        """When it last came back, by Trio's clock."""

    def __repr__(self) -> str:
        return f"<UplinkMonitor {self._outage!r}>"

    @property
    def down(self) -> bool:
        """Whether the line is held to be down."""
        return self._outage.down

    @property
    def down_since(self) -> float | None:
        """Since when it has been down, by Trio's clock; None while it is up."""
        return self._outage.down_since

    def knows(self, host: str) -> None:
        """Take note that a host answered in an earlier life of the service."""
        self._known[host] = None
        self._known.move_to_end(host)
        if len(self._known) > MOST_KNOWN:
            self._known.popitem(last=False)

    def answered(self, host: str) -> None:
        """Take note that a host answered, in whatever way."""
        self.knows(host)
        self._heard(host, Word.ANSWERED)

    def failed(self, host: str, failure: LookFailed, *, asked: bool = False) -> LookFailed:
        """Take note of a failed request, and return what it counts as: itself, or a local one while we are to blame.

        asked: somebody waits for it, who may have named the host.
        """
        word = _word(failure)
        if word is Word.ANSWERED:
            self.answered(host)
        elif word is not None and not asked and host in self._known:
            self._heard(host, word)
        if not self.down or word is not Word.FAILED:
            return failure
        return LookFailed(Blame.LOCAL, f"while our own line was down: {failure.reason}", status=failure.status)

    async def clearance(self, host: str, draw: float) -> float:
        """Wait while the line is down. Return 0 when a look may be made now, else in how many seconds.

        0 while the line is down makes this look a trial. `draw` is in [0, 1).
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
    """Return what a failure says of the way to its host; None when nothing was asked of it."""
    if isinstance(failure, HostOpen | LookRefused):
        return None
    if failure.blame is Blame.LOCAL:
        return Word.LOCAL
    if failure.status is not None or failure.blame in (Blame.CONTENT, Blame.THROTTLED):
        return Word.ANSWERED
    return Word.FAILED
