"""Politeness to hosts: turns, rate, concurrency, rests, and the queue at one host.

All sources of a host share one queue, so 10,000 of them share its rate fairly. A host that asked us to wait (429, 503),
or that fails for several of its sources, has no queue: `turn` refuses at once with the remaining time, so that no task
holds a slot anywhere while a host rests. Then one leader probes for all. A name and its `www.` twin are one host once
they are seen to share an address. Take the turn *before* any other limit: a wait here is by the host's clock.

There are two lanes. Requests that a person waits for are served first come, first served; of all other checks, the one
whose source was checked longest ago goes first: max-min fairness, for any cadences (Bertsekas and Gallager, Data
Networks, 6.5.2). While others wait, the first lane gets at most `IN_A_ROW` turns before one of the second. A source
waits for one turn at a time, so a queue is at most as long as its host's sources and pending requests.
"""

from __future__ import annotations

import heapq
from collections import OrderedDict
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from typing import Final

import trio

from actors.egress.address import HostAliases, is_public
from actors.egress.failures import Blame, CheckFailed
from actors.observer import NO_STEPS, CheckSteps
from actors.settings import Settings
from actors.world import World
from supervision import breaker
from supervision.breaker import Breaker, BreakerRule, Probe, Wait

IN_A_ROW, _FEW, _NOWHERE = 3, 32, 0


@dataclass(frozen=True, slots=True)
class TurnRequest:
    """A request for a turn. name: of the source, or "". last: the time of its last check, by a clock shared by all
    tickets. interactive: a person waits. own: the request of the source's actor, which is stopped when the source is
    edited.
    """

    name: str = ""
    last: float = 0.0
    interactive: bool = False
    steps: CheckSteps = field(default=NO_STEPS, compare=False)
    own: bool = False


INTERACTIVE: Final = TurnRequest(interactive=True)  # the ticket of a request about a URL that is no source yet


@dataclass(slots=True, eq=False)
class Waiter:
    """A place in a queue. call: called when its turn has come."""

    request: TurnRequest
    call: Callable[[], None]
    number: int = _NOWHERE


_Lane = list[tuple[float, int, Waiter]]
"""A heap. An entry counts while its waiter has the same number; leaving and moving leave a stale one behind."""


class Queue:
    """The waiters at one host. Joining, leaving and calling cost the logarithm of its length; a place, all of it."""

    def __init__(self) -> None:
        self._interactive: _Lane = []
        self._background: _Lane = []
        self._numbers, self._waiting, self._streak = _NOWHERE, 0, 0

    def __len__(self) -> int:
        return self._waiting

    def join(self, waiter: Waiter) -> None:
        self._waiting += 1
        self._numbers += 1
        waiter.number = self._numbers
        interactive = waiter.request.interactive
        entry = (0.0 if interactive else waiter.request.last, waiter.number, waiter)
        heapq.heappush(self._interactive if interactive else self._background, entry)

    def leave(self, waiter: Waiter) -> None:
        """Remove a waiter; a no-op if it has been called."""
        if waiter.number == _NOWHERE:
            return
        self._waiting -= 1
        waiter.number = _NOWHERE
        if len(self._interactive) + len(self._background) > 2 * self._waiting + _FEW:
            self._interactive = sorted(_waiting(self._interactive))
            self._background = sorted(_waiting(self._background))

    def next(self) -> Waiter | None:
        interactive, background = _without_stale(self._interactive), _without_stale(self._background)
        lane = background if background and (not interactive or self._streak >= IN_A_ROW) else interactive
        self._streak = self._streak + 1 if background and lane is interactive else 0
        if not lane:
            return None
        waiter = heapq.heappop(lane)[-1]
        self._waiting -= 1
        waiter.number = _NOWHERE
        return waiter

    def prioritize(self, name: str) -> bool:
        waiters = (waiter for lane in (self._interactive, self._background) for _, _, waiter in _waiting(lane))
        found = next((waiter for waiter in waiters if waiter.request.name == name), None)
        if found is not None and not found.request.interactive:
            self.leave(found)
            found.request = replace(found.request, interactive=True)
            self.join(found)
        return found is not None

    def position(self, name: str) -> int:
        waiting = (*sorted(_waiting(self._interactive)), *sorted(_waiting(self._background)))
        return next((place for place, (_, _, waiter) in enumerate(waiting) if waiter.request.name == name), 0)

    def absorb(self, other: Queue) -> None:
        for _, _, waiter in sorted(other._interactive) + sorted(other._background):
            if waiter.number != _NOWHERE:
                other.leave(waiter)
                self.join(waiter)


def _waiting(lane: _Lane) -> Iterator[tuple[float, int, Waiter]]:
    return (entry for entry in lane if entry[-1].number == entry[1])


def _without_stale(lane: _Lane) -> _Lane:
    while lane and lane[0][-1].number != lane[0][1]:
        heapq.heappop(lane)
    return lane


FAILURES_TO_OPEN, SOURCES_TO_OPEN = 5, 2
MOST_CRAWL_DELAY = 300.0  # longest Crawl-delay: at that pace a host's few pages are still checked within the hour

MEMORY = 3600.0  # seconds that a host's failures and Crawl-delay are remembered after its last turn

_FORGET_AT_ONCE = 4


class HostOpen(CheckFailed):
    """The host is resting; no request was made. `retry_after`: seconds. failing: it did not ask us to wait."""

    def __init__(self, host: str, wait: float, *, failing: bool = False) -> None:
        why = "fails for all its sources" if failing else "asked us to wait"
        super().__init__(Blame.THROTTLED, f"{host} {why}: no request for another {wait:.0f} s", retry_after=wait)
        self.failing = failing


@dataclass(frozen=True, slots=True)
class HostStatistics:
    """known: hosts in memory. busy: requests under way. waiting: for their turn. resting: hosts that are left alone."""

    known: int
    busy: int
    waiting: int
    resting: int


@dataclass(slots=True)
class _Host:
    queue: Queue = field(default_factory=Queue)
    next_at: float = 0.0
    crawl_delays: dict[str, float] = field(default_factory=dict)
    """Seconds by origin: http and https, and twins, each have a robots.txt, and the strictest counts for the host."""
    breaker: Breaker = field(default=Breaker())
    failing: tuple[str, ...] = ()
    """Sources of the failures in a row, each once, at most as many as open the breaker."""
    called: int = 0
    """Waiters that have left the queue and wait for the pace; at most one, except briefly after a merge of twins."""
    busy: int = 0
    used_at: float = 0.0
    merged_into: _Host | None = None
    """The twin that has taken over."""

    def now(self) -> _Host:
        return self if self.merged_into is None else self.merged_into.now()

    @property
    def crawl_delay(self) -> float:
        return max(self.crawl_delays.values(), default=0.0)


class Hosts:
    """The queue, pace, hold and breaker of each host in use. All state is gone an hour after a host's last turn."""

    def __init__(self, world: World, settings: Settings) -> None:
        self._parallel = settings.host_parallel
        self._interval = 1.0 / settings.host_rate
        self._rule = BreakerRule(threshold=FAILURES_TO_OPEN, probe=settings.look_timeout + 5.0)
        self._chance = world.chance("hosts")
        self._known: OrderedDict[str, _Host] = OrderedDict()  # least recently used first
        self._aliases = HostAliases()
        self._internal: set[str] = set()
        """Names in opened networks. Bound: their number."""
        self._in_progress: dict[str, trio.Event | None] = {}
        """Sources whose actors have requests under way, and the event set at their end, if a task waits for it."""

    def statistics(self) -> HostStatistics:
        """Return current figures. Loops over all hosts in memory."""
        now = trio.current_time()
        states = self._known.values()
        return HostStatistics(
            known=len(states),
            busy=sum(state.busy for state in states),
            waiting=sum(len(state.queue) + state.called for state in states),
            resting=sum(1 for state in states if _remaining_rest(state.breaker, now) > 0),
        )

    @asynccontextmanager
    async def turn(self, host: str, request: TurnRequest = TurnRequest()) -> AsyncIterator[None]:  # frozen
        """Wait for a turn at a host; the block may make one request. Raises HostOpen when the host is resting. Call
        `succeeded` or `failed` inside the block: a probe that ends without either counts as failed. If cancelled while
        waiting, the place in the queue is given up and nothing is used up.
        """
        began = trio.current_time()
        state = self._host(host)
        self._known.move_to_end(self._aliases.canonical(host))
        now = trio.current_time()
        state.breaker, permit = breaker.ask(state.breaker, self._rule, now, self._chance.random())
        if isinstance(permit, Wait):
            raise HostOpen(host, permit.until - now, failing=_is_failing(state.breaker))
        probing = isinstance(permit, Probe)
        try:
            await self._wait_turn(host, state, INTERACTIVE if probing else request, probing)
            request.steps.waited("wait for the host", began, {"server.address": host})
            if request.own:
                self._in_progress[request.name] = None
            try:
                yield
            finally:
                if request.own and (idle := self._in_progress.pop(request.name, None)) is not None:
                    idle.set()
                state = state.now()
                state.busy -= 1
                self._call(state)
        finally:
            state = state.now()
            state.used_at = trio.current_time()
            if probing and state.breaker.phase is breaker.Phase.HALF_OPEN:
                # It ended without a verdict on the host (a local fault, a cancellation): let another one probe soon.
                self._fail(state)

    def prioritize(self, host: str, source: str) -> bool:
        """Move a waiting source ahead of all unrequested checks; return whether it waits."""
        state = self._known.get(self._aliases.canonical(host))
        return state is not None and state.queue.prioritize(source)

    async def wait_idle(self, source: str) -> None:
        """Wait until a source's actor has no request under way, so that the host's wishes are known."""
        if source in self._in_progress:
            idle = self._in_progress[source] or trio.Event()
            self._in_progress[source] = idle
            await idle.wait()

    def position(self, host: str, source: str) -> int:
        """Return how many wait for a host before a source; 0 if it does not wait. Loops over the queue."""
        state = self._known.get(self._aliases.canonical(host))
        return 0 if state is None else state.queue.position(source)

    def is_internal(self, host: str) -> bool:
        """Return whether a host was last seen in a network that the operator has opened."""
        return host in self._internal

    def record_addresses(self, host: str, addresses: Sequence[str]) -> None:
        """Record a name's addresses. If it shares one with its twin, merge the two."""
        if all(map(is_public, addresses)):
            self._internal.discard(host)
        else:
            self._internal.add(host)
        alias = self._aliases.record(host, addresses)
        if alias is not None and (other := self._known.pop(alias, None)) is not None:
            self._merge(other, self._host(alias))

    def crawl_delay(self, host: str, seconds: float | None, origin: str = "") -> None:
        """Set the Crawl-delay of an origin's robots.txt; it only ever slows its host down."""
        delays, delay = self._host(host).crawl_delays, min(max(seconds or 0.0, 0.0), MOST_CRAWL_DELAY)
        delays.pop(origin or host, None)
        if delay:
            delays[origin or host] = delay

    def hold(self, host: str, seconds: float) -> None:
        """Leave a host alone for this many seconds, on its request. Waiting tasks are refused at their turn."""
        state = self._host(host)
        state.breaker = breaker.hold(state.breaker, trio.current_time() + seconds)

    def failed(self, host: str, source: str) -> None:
        """Record that a source's check failed by the host's transient fault (remote-transient)."""
        state = self._host(host)
        if source not in state.failing and len(state.failing) < SOURCES_TO_OPEN:
            state.failing += (source,)
        count = state.breaker.failures + 1
        opens = state.breaker.phase is breaker.Phase.CLOSED and count >= FAILURES_TO_OPEN
        if opens and len(state.failing) < SOURCES_TO_OPEN:
            return  # a single source's fault is left to that source's breaker
        self._fail(state)

    def succeeded(self, host: str) -> None:
        state = self._known.get(self._aliases.canonical(host))
        if state is not None and (state.breaker.failures or state.breaker.phase is not breaker.Phase.CLOSED):
            state.breaker = Breaker(held=state.breaker.held)
        if state is not None:
            state.failing = ()

    def reset_failures(self) -> None:
        """Forget all failures, which turned out to be our own; requested holds remain."""
        for state in self._known.values():
            state.breaker, state.failing = Breaker(held=state.breaker.held), ()

    def resting(self, host: str) -> float:
        """Return the remaining seconds of a host's rest; 0 without one."""
        state = self._known.get(self._aliases.canonical(host))
        return 0.0 if state is None else _remaining_rest(state.breaker, trio.current_time())

    def _fail(self, state: _Host) -> None:
        state.breaker = breaker.failed(state.breaker, self._rule, trio.current_time(), self._chance.random())

    async def _wait_turn(self, host: str, state: _Host, request: TurnRequest, probing: bool) -> None:
        """Wait for a slot and for the pace; then the host is busy. Raises HostOpen."""
        turn = trio.Event()
        waiter = Waiter(request, turn.set)
        state.queue.join(waiter)
        self._call(state)
        try:
            await turn.wait()
            while True:
                state = state.now()
                remaining = _remaining_rest(state.breaker, trio.current_time())
                if remaining > 0 and not probing:
                    raise HostOpen(host, remaining, failing=_is_failing(state.breaker))
                if trio.current_time() >= state.next_at:
                    break
                await trio.sleep_until(state.next_at)
            state.next_at = trio.current_time() + max(self._interval, state.crawl_delay)
            state.busy += 1
        finally:
            state = state.now()
            state.queue.leave(waiter)
            state.called -= turn.is_set()
            self._call(state)

    def _call(self, state: _Host) -> None:
        if state.called == 0 and state.busy < self._parallel and (waiter := state.queue.next()) is not None:
            state.called += 1
            waiter.call()

    def _merge(self, other: _Host, into: _Host) -> None:
        other.merged_into = into
        into.queue.absorb(other.queue)
        into.next_at = max(into.next_at, other.next_at)
        for origin, seconds in other.crawl_delays.items():
            into.crawl_delays[origin] = max(seconds, into.crawl_delays.get(origin, 0.0))
        order = (breaker.Phase.CLOSED, breaker.Phase.HALF_OPEN, breaker.Phase.OPEN)
        worst = max(into.breaker, other.breaker, key=lambda b: (order.index(b.phase), b.until, b.failures))
        into.breaker = replace(worst, held=max(into.breaker.held, other.breaker.held))
        into.failing = tuple(dict.fromkeys(into.failing + other.failing))[:SOURCES_TO_OPEN]
        into.called += other.called
        into.busy += other.busy
        self._call(into)

    def _host(self, name: str) -> _Host:
        host = self._aliases.canonical(name)
        state = self._known.get(host)
        if state is None:
            self._forget()
            state = self._known[host] = _Host(used_at=trio.current_time())
        return state

    def _forget(self) -> None:
        """Forget a few unused hosts; more are forgotten than added, so memory follows use."""
        now = trio.current_time()
        for host in [host for host, _ in zip(self._known, range(_FORGET_AT_ONCE), strict=False)]:
            state = self._known[host]
            is_unused = not state.crawl_delay and not state.failing and not _is_failing(state.breaker)
            is_idle = not (len(state.queue) + state.called + state.busy)
            is_over = max(state.next_at, state.breaker.held) <= now
            if is_idle and is_over and (is_unused or now - state.used_at > MEMORY):
                del self._known[host]
            else:
                self._known.move_to_end(host)


def _remaining_rest(state: Breaker, now: float) -> float:
    until = max(state.held, state.until if state.phase is not breaker.Phase.CLOSED else state.held)
    return max(0.0, until - now)


def _is_failing(state: Breaker) -> bool:
    return state.phase is not breaker.Phase.CLOSED
