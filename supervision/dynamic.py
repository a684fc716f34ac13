"""A supervisor of many children of one kind that come and go and do not depend on each other.

A child that keeps crashing is quarantined alone; the supervisor never gives up because of it. If many are in trouble at
once, it raises an alarm and continues. All children stop together within one budget, in slices, so that neither the
stop nor the crash of thousands blocks the loop.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import assert_never

import trio

from supervision.child import Child, ChildSpec, Tree, run_child
from supervision.errors import AlreadyStarted, InvalidSpec, NoSuchChild
from supervision.policy import Alarm, Exit, GiveUp, Limit, Quarantine, Restart, decide, is_alarming
from supervision.status import ChangeListener, State, StateChange, StepClock

SLICE = 10_000
STOP_SLICE = 500  # children asked to stop between two checkpoints: at about 10 us each, other tasks wait 5 ms at most


@dataclass(frozen=True, slots=True)
class DynamicStatistics:
    """Living children by state, restarts since the start, whether the alarm is up, and exceptions of listeners."""

    starting: int
    running: int
    backoff: int
    quarantined: int
    stopping: int
    restarts: int
    alarm: bool
    listener_failures: int

    @property
    def total(self) -> int:
        return self.starting + self.running + self.backoff + self.quarantined + self.stopping


class DynamicSupervisor(Tree):
    """Runs children that are started and stopped one by one. budget: (most restarts, within seconds) of each child; one
    more quarantines it for `quarantine` seconds +-10 %, again and again until it stays alive. stop_budget: seconds for
    all children together. alarm: called once when 30 % of at least 20 children are in backoff or quarantine, and again
    only after it was over. The rest is as in `Supervisor`.
    """

    def __init__(
        self,
        name: str,
        *,
        chance: random.Random,
        budget: tuple[int, float] = (5, 600.0),
        quarantine: float = 1800.0,
        stop_budget: float = 3.0,
        alarm: Callable[[Alarm], None] | None = None,
        on_change: Callable[[StateChange], None] | None = None,
        steps: StepClock | None = None,
    ) -> None:
        if not 0 <= stop_budget < math.inf:
            raise InvalidSpec(f"{name}: stop_budget must be finite and not negative, not {stop_budget!r} s")
        super().__init__(name, chance, on_change, steps)
        self._limit = Limit(*budget, quarantine=quarantine)
        self._stop_budget = stop_budget
        self._alarm = ChangeListener(alarm)
        self._started: trio.Event | None = None
        self._reset()

    def _reset(self) -> None:
        self._children: dict[str, Child] = {}
        self._counts = dict.fromkeys(State, 0)
        self._restarts = 0
        self._alarming = self._stop_requested = self._stop_now = False
        self._empty: trio.Event | None = None
        self._run_scope = trio.CancelScope()
        self._grace_scope = trio.CancelScope()

    # --- life ----------------------------------------------------------------------------------------------------

    async def run(self, child: Child | None = None) -> None:
        """Run the children from `start_child` until `stop()` or cancellation; both stop them within the budget. Fits
        `ChildSpec.run`. A second run begins without any.
        """
        self._join(child)
        self._reset()
        try:
            async with trio.open_nursery() as self._nursery:
                if self._started is not None:
                    self._started.set()
                    self._started = None
                if child is not None:
                    child.ready()
                try:
                    with self._run_scope:
                        await trio.sleep_forever()
                finally:
                    self._stop_requested = True
                    await self._stop_children()
        finally:
            self._nursery = None

    def stop(self, *, now: bool = False) -> None:
        """Ask for a stop; `now` cancels at once, also during a stop. Does nothing if not running."""
        if self._nursery is None:
            return
        self._stop_requested = True
        if now:
            self._stop_now = True
            self._grace_scope.cancel()
        self._run_scope.cancel()

    # --- children ------------------------------------------------------------------------------------------------

    def start_child(self, spec: ChildSpec) -> None:
        """Start a child from the loop's next turn on. Raises AlreadyStarted for a living id, Stopping."""
        nursery = self._running()
        if spec.id in self._children:
            raise AlreadyStarted(f"{self.path}/{spec.id} is alive")
        child = Child(spec, f"{self.path}/{spec.id}", self)
        self._children[spec.id] = child
        self._counts[child.state] += 1
        child.begin()
        nursery.start_soon(run_child, child, name=child.path)

    async def stop_child(self, id: str) -> None:
        """Ask a child to end, cancel it after its `shutdown` seconds, and wait for the end of its task. If cancelled,
        the child still ends. Raises NoSuchChild.
        """
        if (child := self._children.get(id)) is None:
            raise NoSuchChild(id)
        await child.wait_ended(child.spec.shutdown)

    async def wait_running(self) -> None:
        """Wait until children can be started, after `run` was spawned."""
        while self._nursery is None:
            if self._started is None:
                self._started = trio.Event()
            await self._started.wait()

    def has(self, id: str) -> bool:
        return id in self._children

    def child(self, id: str) -> Child | None:
        return self._children.get(id)

    def __len__(self) -> int:
        return len(self._children)

    # --- inspection ----------------------------------------------------------------------------------------------

    def statistics(self) -> DynamicStatistics:
        """Return the present figures. They are counted continuously, so the cost does not depend on their number."""
        living = {state.value: count for state, count in self._counts.items() if state is not State.ENDED}
        failures = self.listener.failures + self._alarm.failures
        return DynamicStatistics(**living, restarts=self._restarts, alarm=self._alarming, listener_failures=failures)

    def slices(self) -> Iterator[Sequence[Child]]:
        """Yield all children, in slices that take a few milliseconds to read."""
        children = list(self._children.values())
        for start in range(0, len(children), SLICE):
            yield children[start : start + SLICE]

    def find(self, path: str) -> Child | None:
        if not path.startswith(f"{self.path}/"):
            return None
        id, _, rest = path[len(self.path) + 1 :].partition("/")
        child = self._children.get(id)
        if not rest or child is None:
            return child
        return child.subtree.find(path) if child.subtree is not None else None

    def _count(self) -> str:
        return f"{len(self._children)} children"

    # --- calls from the children's tasks -------------------------------------------------------------------------

    def changed(self, child: Child, old: State) -> None:
        counts = self._counts
        counts[old] -= 1
        counts[child.state] += 1
        troubled = counts[State.BACKOFF] + counts[State.QUARANTINED]
        if troubled or self._alarming:
            was_alarming, total = self._alarming, len(self._children)
            self._alarming = is_alarming(was_alarming, troubled, total)
            if self._alarming and not was_alarming:
                self._alarm.notify(Alarm(self.path, child.since, troubled, total))
        super().changed(child, old)

    def after(self, child: Child, exit: Exit) -> float | None:
        if self._stop_requested:
            return None
        decision = decide(
            exit,
            backoff=child.spec.backoff,
            limit=self._limit,
            streak=child.streak,
            recent=child.recent,
            draw=self._chance.random(),
            probation=child.probation,
        )
        match decision:
            case Restart(wait, streak, recent):
                child.streak, child.recent, child.probation = streak, recent, False
                state = State.BACKOFF
            case Quarantine(wait, streak):
                child.streak, child.recent, child.probation = streak, (), True
                state = State.QUARANTINED
            case GiveUp():
                raise AssertionError("a limit with quarantine does not lead there")
            case _:
                assert_never(decision)
        child.restarts += 1
        self._restarts += 1
        child.become(state, exit.at)
        return wait

    def ended(self, child: Child) -> None:
        child.become(State.ENDED)
        self._counts[State.ENDED] = 0
        del self._children[child.spec.id]
        if self._empty is not None and not self._children:
            self._empty.set()

    # --- the task of run -----------------------------------------------------------------------------------------

    async def _stop_children(self) -> None:
        """Ask all children and wait, within the budget; then cancel the rest, however long that takes."""
        children = list(self._children.values())
        with trio.move_on_after(0 if self._stop_now else self._stop_budget, shield=True) as self._grace_scope:
            await _in_slices(children, lambda child: child.request_stop(math.inf))
            if self._children:
                self._empty = trio.Event()
                await self._empty.wait()
        await _in_slices(children, Child.cancel)


async def _in_slices(children: list[Child], act: Callable[[Child], None]) -> None:
    """Call `act` on each living child, and let other tasks run in between; a cancellation does not skip any."""
    for start in range(0, len(children), STOP_SLICE):
        for child in children[start : start + STOP_SLICE]:
            if child.alive:
                act(child)
        await trio.lowlevel.cancel_shielded_checkpoint()
