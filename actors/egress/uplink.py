"""The monitor of our own uplink: many hosts that fail at once mean that it is down.

Only hosts that have answered before count, and no URLs that a user has just entered, nor refusals by the guard;
otherwise anyone who may enter URLs could put watching on hold. While the uplink is down, every failure but a refusal is
ours: it opens no breaker and lowers no score. Checks pause, except that every few seconds one host is tried. After the
recovery, each paused check gets a time within `SPREAD`.

The uplink is down when within 60 seconds at least half of at least 20 distinct hosts failed, or when 5 hosts failed by
local faults and no more than that succeeded. It is up again when 3 hosts succeed, and the conditions no longer hold.
After five minutes one success is enough, as there may be no three live hosts. Hosts that failed during an outage do not
count towards the next one until they have answered again; otherwise dead ones would cause one outage after the other.
"""

from __future__ import annotations

import math
from collections import OrderedDict
from collections.abc import Callable
from enum import Enum

import trio

from actors.egress.failures import Blame, CheckFailed, CheckRefused
from actors.egress.hosts import HostOpen

WINDOW = 60.0
MOST_HOSTS = 4096  # Most hosts; the oldest goes first. With more a minute, a sample is as good.

HOSTS_TO_JUDGE, FAILING_SHARE, LOCAL_HOSTS = 20, 0.5, 5
HOSTS_TO_RECOVER, PATIENCE = 3, 300.0


class HostResult(Enum):
    """The result of the last request to a host."""

    ANSWERED = "answered"
    FAILED = "failed"
    LOCAL = "local"


class Outage:
    """The last result of each host within the window, and the verdict. The cost of a result is constant."""

    def __init__(self) -> None:
        self._results: OrderedDict[str, tuple[float, HostResult]] = OrderedDict()  # oldest first
        self._counts = dict.fromkeys(HostResult, 0)
        self._failed: dict[str, None] = {}  # while down: hosts that did not answer
        self._dead: dict[str, None] = {}  # hosts that have not answered since an outage
        self.down_since: float | None = None
        """By the clock of `record`; None while it is up."""

    def __repr__(self) -> str:
        state = "up" if self.down_since is None else f"down since {self.down_since:g}"
        counts = ", ".join(f"{count} {result.value}" for result, count in self._counts.items())
        return f"<Outage {state}; hosts: {counts}>"

    @property
    def down(self) -> bool:
        """Whether our uplink is considered down: breakers and scores are then frozen."""
        return self.down_since is not None

    def record(self, host: str, result: HostResult, now: float) -> bool:
        """Take a host's result; return whether that changes the verdict. `now`: seconds of a monotonic clock."""
        self._forget(host)
        if result is HostResult.ANSWERED:
            self._dead.pop(host, None)
            self._failed.pop(host, None)
        if result is HostResult.FAILED and host in self._dead:
            return False
        if result is HostResult.FAILED and self.down and len(self._failed) < MOST_HOSTS:
            self._failed[host] = None
        self._results[host] = (now, result)
        self._counts[result] += 1
        while len(self._results) > MOST_HOSTS or now - next(iter(self._results.values()))[0] > WINDOW:
            self._forget(next(iter(self._results)))
        if not self.down and self._is_outage():
            self.down_since = now
            self._failed = {host: None for host, (_, result) in self._results.items() if result is HostResult.FAILED}
            return True
        if self.down_since is None or self._is_outage():
            return False
        if self._counts[HostResult.ANSWERED] >= (HOSTS_TO_RECOVER if now - self.down_since < PATIENCE else 1):
            self.down_since = None
            self._dead, self._failed = self._failed, {}
            return True
        return False

    def _forget(self, host: str) -> None:
        result = self._results.pop(host, None)
        if result is not None:
            self._counts[result[1]] -= 1

    def _is_outage(self) -> bool:
        answered, local = self._counts[HostResult.ANSWERED], self._counts[HostResult.LOCAL]
        failing = local + self._counts[HostResult.FAILED]
        known = failing + answered
        is_failing = known >= HOSTS_TO_JUDGE and failing >= FAILING_SHARE * known
        return is_failing or (local >= LOCAL_HOSTS and answered <= local)


PROBE_EVERY, SPREAD = 5.0, 600.0
MOST_KNOWN = 65_536
"""Most hosts that have answered; the least recent one goes first. That many are a sufficient sample."""
_PATIENCE = 60.0
"""Seconds after which a task that waits behind another of the same host checks whether that one still exists."""


class UplinkMonitor(Outage):
    """The state of our uplink from all checks. log: as in `World`. on_recovery: called when it is up again."""

    def __init__(self, log: Callable[..., None], on_recovery: Callable[[], None] = lambda: None) -> None:
        super().__init__()
        self._log, self._on_recovery = log, on_recovery
        self._recovered = trio.Event()
        self._trials: dict[str, float] = {}  # by host: its next trial while the uplink is down
        self._next_trial = 0.0
        self._known: OrderedDict[str, None] = OrderedDict()  # hosts that have answered, the most recent last
        self.recovered_at = -math.inf
        """When it last recovered, by Trio's clock."""

    def add_known(self, host: str) -> None:
        self._known[host] = None
        self._known.move_to_end(host)
        if len(self._known) > MOST_KNOWN:
            self._known.popitem(last=False)

    def answered(self, host: str) -> None:
        self.add_known(host)
        self._record(host, HostResult.ANSWERED)

    def failed(self, host: str, failure: CheckFailed, *, interactive: bool = False) -> CheckFailed:
        """Record a failure; return it, as a local one while the uplink is down. interactive: a person waits for it."""
        result = _result_of(failure)
        if result is HostResult.ANSWERED:
            self.answered(host)
        elif result is not None and not interactive and host in self._known:
            self._record(host, result)
        if not self.down or result is not HostResult.FAILED:
            return failure
        return CheckFailed(Blame.LOCAL, f"while our own connection was down: {failure.reason}", status=failure.status)

    async def clearance(self, host: str, draw: float) -> float:
        """Wait while it is down. Return 0 to check now, or as a trial, else the seconds to wait. draw: in [0, 1)."""
        while self.down:
            now = trio.current_time()
            is_trial = self._trials.get(host, now) <= now
            if is_trial:
                self._trials[host] = self._next_trial = max(now, self._next_trial + PROBE_EVERY)
            with trio.move_on_at(self._trials[host] + (0.0 if is_trial else _PATIENCE)):
                await self._recovered.wait()
                return draw * SPREAD
            if is_trial:
                return 0.0
        return 0.0

    def _record(self, host: str, result: HostResult) -> None:
        if not self.record(host, result, trio.current_time()):
            return
        if self.down:
            self._recovered = trio.Event()
            self._trials, self._next_trial = {}, trio.current_time()
            self._log("egress.down", level="warning", why=repr(self))
        else:
            self._recovered.set()
            self.recovered_at = trio.current_time()
            self._on_recovery()
            self._log("egress.up", level="warning", why=repr(self), spread_s=SPREAD)


def _result_of(failure: CheckFailed) -> HostResult | None:
    """Return what a failure says about the way to its host; None if no request was made."""
    if isinstance(failure, HostOpen | CheckRefused):
        return None
    if failure.blame is Blame.LOCAL:
        return HostResult.LOCAL
    if failure.status is not None or failure.blame in (Blame.CONTENT, Blame.THROTTLED):
        return HostResult.ANSWERED
    return HostResult.FAILED
