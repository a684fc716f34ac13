"""A supervisor of few children that depend on each other.

It starts them in order, each when the one before is ready, and stops them in reverse.

    run:  bring up, one by one  ->  wait  ->  stop, the last started first  ->  return, or raise Escalate
                   ^                 |
                   +-----------------+  rest_for_one: a child crashed; end those after it, bring up from there

The task of `run` brings up and stops; a child's own task restarts it (one_for_one).
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Sequence
from typing import assert_never

import trio

from supervision.child import CLEANUP_GRACE, Child, ChildSpec, Strategy, Tree, run_child
from supervision.errors import Escalate, InvalidSpec, NoSuchChild
from supervision.policy import Exit, GiveUp, Limit, Quarantine, Restart, decide
from supervision.status import State, StateChange, StepClock


class Supervisor(Tree):
    """Runs a fixed list of children. More than `intensity` restarts in `period` seconds stop them all and escalate.
    name: the path's first step, unless it runs as a child. chance: draws the jitter. on_change: called synchronously at
    every change of state; without it, the listener of the supervisor above is called. on_stuck: called if it gives up
    and a child ignores its cancellation, so that `run` cannot return: only ending the process helps then. Raises
    InvalidSpec.
    """

    def __init__(
        self,
        name: str,
        children: Sequence[ChildSpec],
        *,
        strategy: Strategy = Strategy.ONE_FOR_ONE,
        intensity: int = 3,
        period: float = 30.0,
        chance: random.Random,
        on_change: Callable[[StateChange], None] | None = None,
        steps: StepClock | None = None,
        on_stuck: Callable[[Escalate], None] | None = None,
    ) -> None:
        ids = [spec.id for spec in children]
        if duplicates := sorted({id for id in ids if ids.count(id) > 1}):
            raise InvalidSpec(f"{name}: several children are called {', '.join(duplicates)}")
        super().__init__(name, chance, on_change, steps)
        self._on_stuck = on_stuck
        self._specs = tuple(children)
        self._strategy = strategy
        self._limit = Limit(intensity, period)
        self._children: list[Child] = []
        self._reset()

    def _reset(self) -> None:
        self._stop_requested = self._stop_now = False
        self._fault: Escalate | None = None
        self._recent: tuple[float, ...] = ()
        self._next_index = 0
        self._restarting: Child | None = None
        self._not_before = -math.inf
        self._run_scope = trio.CancelScope()

    async def run(self, child: Child | None = None) -> None:
        """Run the children until `stop()`, or raise Escalate after too many restarts. If cancelled, it stops the
        children in the same order and within the same budgets. Fits `ChildSpec.run`, and may be run again.
        """
        self._join(child)
        self._reset()
        self._children = [Child(spec, f"{self.path}/{spec.id}", self) for spec in self._specs]
        try:
            async with trio.open_nursery() as self._nursery:
                try:
                    await self._supervise(child)
                finally:
                    self._stop_requested = True
                    # A bound for the whole stop, so that its shield has a deadline; the budgets are the real bounds.
                    longest = 1.0 + sum(spec.shutdown + CLEANUP_GRACE for spec in self._specs)
                    with trio.move_on_after(longest, shield=True):
                        await self._stop_children()
                    for each in self._children:
                        each.cancel()
                    if self._fault is not None and self._on_stuck is not None and any(c.alive for c in self._children):
                        self._on_stuck(self._fault)  # giving up cannot finish: a running task cannot be removed
        finally:
            self._nursery = None
        fault, self._fault = self._fault, None
        if fault is not None:
            raise fault

    def stop(self, *, now: bool = False) -> None:
        """Ask for an ordered stop, in Trio's thread; `now` cancels at once, also during a stop, but in order."""
        if self._nursery is None:
            return
        self._stop_requested = True
        if now:
            self._stop_now = True
            for child in self._children:
                if child.stop_requested:
                    child.cancel()
        self._run_scope.cancel()

    def restart_child(self, id: str) -> None:
        """Begin another life of a child; under rest_for_one also of all that were started after it. Returns at once.
        Uses up no budget. Raises NoSuchChild; Stopping if not running.
        """
        if (child := next((each for each in self._children if each.spec.id == id), None)) is None:
            raise NoSuchChild(id)
        self._running()
        if self._strategy is Strategy.ONE_FOR_ONE:
            child.restart()
        elif self._next_index > self._children.index(child):  # otherwise it is about to start anyway
            child.restarts += 1
            self._restarting = child
            self._restart_from(self._children.index(child), trio.current_time())

    @property
    def children(self) -> Sequence[Child]:
        """Its own children, in order of start; empty before it runs."""
        return tuple(self._children)

    def find(self, path: str) -> Child | None:
        for child in self._children:
            if child.path == path:
                return child
            if child.subtree is not None and path.startswith(f"{child.path}/"):
                return child.subtree.find(path)
        return None

    def _count(self) -> str:
        return f"{sum(child.alive for child in self._children)}/{len(self._specs)} alive"

    # --- calls from the children's tasks -------------------------------------------------------------------------

    def after(self, child: Child, exit: Exit) -> float | None:
        if self._stop_requested:
            return None
        spec, draw = child.spec, self._chance.random()
        decision = decide(
            exit, backoff=spec.backoff, limit=self._limit, streak=child.streak, recent=self._recent, draw=draw
        )
        match decision:
            case GiveUp(reason):
                why = f"{reason}; last: {child.crash}" if exit.crashed else f"{reason}; it returned"
                self._fault = Escalate(self.path, spec.id, why)
                self._stop_requested = True
                self._run_scope.cancel()
                return None
            case Restart(wait, streak, recent):
                child.streak, self._recent = streak, recent
                child.restarts += 1
                child.become(State.BACKOFF, exit.at)
                if self._strategy is Strategy.ONE_FOR_ONE:
                    return wait
                self._restart_from(self._children.index(child), exit.at + wait)
                return None
            case Quarantine():
                raise AssertionError("a limit without quarantine does not lead there")
            case _:
                assert_never(decision)

    def ended(self, child: Child) -> None:
        """Handle the end of a task; a child in backoff gets another one from the task of `run`."""
        if child.state is not State.BACKOFF:
            child.become(State.ENDED)

    # --- the task of run -----------------------------------------------------------------------------------------

    async def _supervise(self, parent: Child | None) -> None:
        while not self._stop_requested:
            with trio.CancelScope() as self._run_scope:
                await self._bring_up()
                if parent is not None:
                    parent.ready()
                await trio.sleep_forever()

    async def _bring_up(self) -> None:
        """Start the children that are not up yet, in order. After a stop or a crash, another call continues."""
        for child in reversed(self._children[self._next_index + 1 :]):
            if not await self._has_ended(child):
                return
        if (restarting := self._restarting) is not None:
            if not await self._has_ended(restarting):
                return
            if self._restarting is restarting:  # else another one was asked for at the moment of its end
                self._restarting = None
        await trio.sleep_until(max(self._not_before, trio.current_time()))
        while self._next_index < len(self._children):
            # A wait that had ended when the job was cancelled returns normally, so check for the cancellation.
            await trio.lowlevel.checkpoint_if_cancelled()
            child = self._children[self._next_index]
            if not child.alive:
                assert self._nursery is not None
                child.begin()
                self._nursery.start_soon(run_child, child, name=child.path)
            await child.wait_settled()
            await trio.lowlevel.checkpoint_if_cancelled()
            self._next_index += 1

    async def _has_ended(self, child: Child) -> bool:
        """End a child before a restart; return whether it ended in time. If it did not, give up."""
        with trio.move_on_after(child.spec.shutdown + CLEANUP_GRACE):
            await child.wait_ended(child.spec.shutdown)
        if child.alive and not self._stop_requested:
            why = f"it does not end, {CLEANUP_GRACE:g} s after it was cancelled"
            self._fault, self._stop_requested = Escalate(self.path, child.spec.id, why), True
            self._run_scope.cancel()
        return not child.alive

    def _restart_from(self, index: int, not_before: float) -> None:
        self._next_index = min(self._next_index, index)
        self._not_before = max(self._not_before, not_before)
        self._run_scope.cancel()

    async def _stop_children(self) -> None:
        for child in reversed(self._children):
            within = 0.0 if self._stop_now else child.spec.shutdown
            with trio.move_on_after(within + CLEANUP_GRACE):
                await child.wait_ended(within)
