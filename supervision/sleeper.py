"""Sleep until a time or a wake-up. One task and a heap serve all sleepers: a cancel scope for each takes 1 KB."""

from __future__ import annotations

import math
from heapq import heapify, heappop, heappush

import trio
from trio.lowlevel import Abort, RunVar, Task, current_task, reschedule, spawn_system_task, wait_task_rescheduled

LEAST = 1000  # entries before the heap is first searched for sleepers that woke early


class Sleeper:
    """One sleep of the current task."""

    __slots__ = ("task",)

    def __init__(self) -> None:
        self.task: Task | None = current_task()

    def wake(self) -> None:
        """End the sleep. Idempotent."""
        if self.task is not None:
            reschedule(self.task)
            self.task = None

    async def sleep_until(self, deadline: float) -> None:
        """Sleep until `wake()`, or until a time of Trio's clock."""
        (_TIMERS.get() or _Timers()).add(deadline, self)
        await wait_task_rescheduled(self._abort)

    def _abort(self, _raise_cancel: object) -> Abort:
        self.task = None
        return Abort.SUCCEEDED


class _Timers:
    def __init__(self) -> None:
        self._heap: list[tuple[float, int, Sleeper]] = []
        self._count, self._most, self._scope = 0, LEAST, trio.CancelScope()
        _TIMERS.set(self)
        spawn_system_task(self._run, name="timers")

    def add(self, deadline: float, sleeper: Sleeper) -> None:
        if len(self._heap) >= self._most:
            self._heap = [entry for entry in self._heap if entry[2].task is not None]
            heapify(self._heap)
            self._most = max(LEAST, 2 * len(self._heap))
        self._count += 1
        heappush(self._heap, (deadline, self._count, sleeper))
        if self._heap[0][2] is sleeper:
            self._scope.deadline = deadline

    async def _run(self) -> None:
        while True:
            with trio.CancelScope(deadline=self._heap[0][0] if self._heap else math.inf) as self._scope:
                await trio.sleep_forever()
            while self._heap and self._heap[0][0] <= trio.current_time():
                heappop(self._heap)[2].wake()


_TIMERS: RunVar[_Timers | None] = RunVar("timers", None)
