"""A thread that names the actor that blocks the loop, and shows where.

Tasks share one thread: a step that computes or blocks stops everything, and nothing inside the loop can report it. An
instrument records which task is in a step and since when. The thread reads that record from outside and, if a step
takes too long, reads the Trio thread's stack. A step in C code that holds the interpreter lock is reported after it
releases the lock.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable
from dataclasses import dataclass
from types import FrameType

import trio

from supervision.child import Child
from supervision.status import StepFigures

MOST_FRAMES = 12
MOST_SLOW_TASKS = 1000


@dataclass(frozen=True, slots=True)
class Stall:
    """A task has been in one step for so many seconds, and still is. stack: innermost last, "file:line in function"."""

    path: str
    seconds: float
    stack: tuple[str, ...]

    def __str__(self) -> str:
        return f"{self.path} has held the loop for {self.seconds:.1f} s: {' > '.join(self.stack)}"


class Watchdog(trio.abc.Instrument):
    """Off until entered, in the Trio run to watch: `with watchdog: ...`, or `watchdog.run` as a child. clock: seconds
    of real time (Trio's own clock may be virtual). report: called once for every stall, **in the watchdog's thread**.
    limit: seconds in one step that are a stall. interval: seconds between two checks. slow: seconds of a step that are
    remembered. It costs two clock readings a step and 150 bytes a task.
    """

    def __init__(
        self,
        *,
        clock: Callable[[], float],
        report: Callable[[Stall], None],
        limit: float = 1.0,
        interval: float = 0.25,
        slow: float = 0.05,
    ) -> None:
        if not 0 < interval <= limit:
            raise ValueError(f"a watchdog checks more often than its limit: interval {interval:g} s, limit {limit:g} s")
        self._clock, self._report, self._limit, self._interval = clock, report, limit, interval
        self._slow_from = slow
        self._step: tuple[str, float] | None = None  # replaced as a whole: the other thread never sees half of it
        self._last: dict[str, float] = {}
        self._slowest: dict[str, float] = {}
        self._loop_thread = 0
        self._stop_event = threading.Event()
        self._thread: threading.Thread | None = None

    # --- on and off, in the loop's thread ------------------------------------------------------------------------

    def __enter__(self) -> Watchdog:
        if self._thread is not None:
            raise RuntimeError("the watchdog is on already")
        self._loop_thread = threading.get_ident()
        self._stop_event.clear()
        trio.lowlevel.add_instrument(self)
        self._thread = threading.Thread(target=self._watch, name="watchdog", daemon=True)
        self._thread.start()
        return self

    def __exit__(self, *exc: object) -> None:
        trio.lowlevel.remove_instrument(self)
        self._stop_event.set()
        if self._thread is not None:
            self._thread.join()
        self._thread = self._step = None

    async def run(self, child: Child) -> None:
        with self:
            child.ready()
            await trio.sleep_forever()

    # --- figures -------------------------------------------------------------------------------------------------

    def of(self, path: str) -> StepFigures | None:
        """Return the figures of the task with this name, None if it made no step since the watchdog was entered."""
        last = self._last.get(path)
        return None if last is None else StepFigures(self._clock() - last, self._slowest.get(path, 0.0))

    # --- instrument ----------------------------------------------------------------------------------------------

    def before_task_step(self, task: trio.lowlevel.Task) -> None:
        now = self._clock()
        self._last[task.name] = now
        self._step = (task.name, now)

    def after_task_step(self, task: trio.lowlevel.Task) -> None:
        step, self._step = self._step, None
        if step is not None:
            seconds = self._clock() - step[1]
            if seconds >= self._slow_from:
                self._record_slow(task.name, seconds)

    def task_exited(self, task: trio.lowlevel.Task) -> None:
        self._last.pop(task.name, None)
        self._slowest.pop(task.name, None)

    def _record_slow(self, name: str, seconds: float) -> None:
        slowest = self._slowest
        slowest[name] = max(seconds, slowest.get(name, 0.0))
        if len(slowest) > MOST_SLOW_TASKS:
            del slowest[min(slowest, key=slowest.__getitem__)]

    # --- the thread ----------------------------------------------------------------------------------------------

    def _watch(self) -> None:
        reported: tuple[str, float] | None = None
        while not self._stop_event.wait(self._interval):
            step = self._step
            if step is None or step is reported:
                continue
            seconds = self._clock() - step[1]
            if seconds < self._limit:
                continue
            stack = _stack(sys._current_frames().get(self._loop_thread))
            if self._step is step:  # otherwise the step ended during the read, and the stack belongs to another
                reported = step
                self._report(Stall(step[0], seconds, stack))


def _stack(frame: FrameType | None) -> tuple[str, ...]:
    places: list[str] = []
    while frame is not None and len(places) < MOST_FRAMES:
        if frame.f_globals.get("__name__") == "trio._core._run":
            break
        places.append(f"{frame.f_code.co_filename.rpartition('/')[2]}:{frame.f_lineno} in {frame.f_code.co_name}")
        frame = frame.f_back
    return tuple(reversed(places))
