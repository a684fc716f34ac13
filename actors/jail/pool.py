"""All workers: forked from one parent on demand, first come, first served, and ended when idle.

The parent (`nursery.py`) has the parsers loaded; its forks are up in milliseconds and share its memory, so a worker
that hangs, dies or is worn is easily replaced. After a time without calls the parent and all workers end; the next
call waits for a start (a second of importing parsers, more on a small board). This module never parses the bytes that
it passes on.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import trio

from actors.jail.framing import Task
from actors.jail.nursery import Nursery, start
from actors.jail.process import WorkerProcess
from actors.settings import wall_limit
from actors.world import WorkerDied, WorkerTooSlow
from supervision import Backoff, Child
from supervision.policy import next_streak, wait_before

START_WITHIN = 20.0
"""Importing the parsers on a busy machine takes seconds; a parent that needs longer will not come up."""

HOPELESS = 3
"""After this many failed starts in a row, calls are refused instead of waiting for the next."""


@dataclass(frozen=True, slots=True)
class JailStatistics:
    """alive: running workers. free: of these, idle ones. waiting: calls. started: workers. parents: starts of the
    parent. lacks: the newest worker's missing confinement. trouble: why none starts.
    """

    alive: int
    free: int
    waiting: int
    calls: int
    killed: int
    started: int
    parents: int
    trouble: str
    lacks: str


class ProcessJail:
    """The Jail port over processes.

    command: starts the parent (`[sys.executable, "-m", "sanderling", "worker"]`). environment: its whole environment;
    a frozen build may need some. workers: concurrent calls. memory: bytes of address space of each. deadline: default
    seconds of processor time. idle: seconds without a call before all processes end. demanded: an unconfined worker is
    not used. calls_each, resident_kib: a worker at either limit is replaced, because of slow leaks. draw: uniform in
    [0, 1), for the waits between failed starts.
    """

    def __init__(
        self,
        command: Sequence[str],
        *,
        workers: int,
        memory: int,
        deadline: float,
        environment: Mapping[str, str] | None = None,
        demanded: bool = False,
        calls_each: int = 2000,
        resident_kib: int = 384 << 10,
        draw: Callable[[], float] = lambda: 0.5,
        idle: float = 120.0,
        log: Callable[..., None] = lambda *_, **__: None,
        ended: Callable[[str], None] = lambda _: None,
    ) -> None:
        self._command = tuple(command)
        self._environment = dict(environment or {})
        self._memory = memory
        self._deadline = deadline
        self._demanded = demanded
        self._calls_each = calls_each
        self._resident_kib = resident_kib
        self._draw = draw
        self._idle = idle
        self._log = log
        self._ended = ended
        self._backoff = Backoff(first=0.2, ceiling=30.0, reset_after=30.0)
        self._limiter = trio.CapacityLimiter(workers)
        self._parent: Nursery | None = None
        self._free: list[WorkerProcess] = []
        """Bound: the number of concurrent calls, plus the first worker."""
        self._wanted, self._changed = trio.Event(), trio.Event()
        self._called_at = -math.inf
        self._alive = self._calls = self._killed = self._started = self._parents = self._failed_starts = 0
        self._trouble = self._lacks = ""

    def statistics(self) -> JailStatistics:
        return JailStatistics(
            alive=self._alive,
            free=sum(worker.alive for worker in self._free),
            waiting=self._limiter.statistics().tasks_waiting,
            calls=self._calls,
            killed=self._killed,
            started=self._started,
            parents=self._parents,
            trouble=self._trouble,
            lacks=self._lacks,
        )

    def lacks(self) -> str:
        """Return the missing confinement, in a few words; "" if complete."""
        return self._lacks

    async def run(self, child: Child) -> None:
        """Keep the parent alive while it is needed, until stopped. Ready once a first worker was up.

        At the end no worker runs.
        """
        self._wanted.set()  # once without a call, to report early whether workers start, and their confinement
        async with trio.open_nursery() as nursery:
            nursery.start_soon(self._keep, child.ready)
            await child.stopping.wait()
            nursery.cancel_scope.cancel()

    async def call(self, task: str, request: bytes, *, deadline: float | None = None) -> bytes:
        """Run a task. The deadline is its worker's processor time; a generous wall-clock limit applies as well.

        Both count from when a worker is free. Waits while `run` is not active.

        Raises WorkerDied, WorkerTooSlow, TaskRefused. If cancelled, the worker is killed and replaced.
        """
        seconds = self._deadline if deadline is None else deadline
        async with self._limiter:
            worker = await self._take()
            self._calls += 1
            try:
                with trio.fail_after(wall_limit(seconds)):
                    return await worker.ask(Task(task, math.ceil(seconds * 1000), request))
            except (trio.TooSlowError, WorkerTooSlow) as error:
                self._ended("deadline")
                spent = f"{seconds:g} s of processor time"
                if isinstance(error, trio.TooSlowError):
                    spent = f"{wall_limit(seconds):g} s by the clock"
                raise WorkerTooSlow(f"{task}: not done after {spent}") from None
            except WorkerDied:
                self._ended("died")
                raise
            except trio.Cancelled:
                self._ended("cancelled")
                raise
            finally:
                self._give_back(worker)

    async def _take(self) -> WorkerProcess:
        """Return a free worker, or a new one. Raises WorkerDied."""
        while True:
            while self._free:
                worker = self._free.pop()  # the most recent one: its memory is warm, and idle ones show
                if worker.alive:
                    return worker
            if self._parent is not None and not self._parent.over.is_set():
                return await self._new(self._parent)
            if self._failed_starts >= HOPELESS:
                raise WorkerDied(self._trouble)
            self._wanted.set()
            await self._changed.wait()

    def _give_back(self, worker: WorkerProcess) -> None:
        """Keep a worker if it answered and is not worn; else end it. Without await, so that it can't be interrupted."""
        self._called_at = trio.current_time()
        worn = worker.calls >= self._calls_each or worker.memory_kib >= self._resident_kib
        if worker.in_step and worker.alive and not worn:
            self._free.append(worker)
            return
        self._killed += not worker.in_step
        worker.kill()

    async def _new(self, parent: Nursery) -> WorkerProcess:
        """Return a new worker, ready for tasks. Raises WorkerDied."""
        try:
            worker = await parent.fork()
        except OSError as error:
            raise WorkerDied(f"no worker can be made: {error}") from None
        self._started += 1
        parent.look_after(self._see_out, worker)
        try:
            try:
                with trio.fail_after(START_WITHIN):
                    await worker.greet(self._memory)
            except trio.TooSlowError:
                raise WorkerDied(f"the worker is not up after {START_WITHIN:g} s") from None
            if worker.lacks and worker.lacks != self._lacks:
                self._log("jail.weaker", level="warning", lacks=worker.lacks)
            self._lacks = worker.lacks
            if worker.lacks and self._demanded:
                raise WorkerDied(f"the kernel cannot confine it: {worker.lacks} (jail = demanded)")
        except BaseException:
            worker.kill()
            raise
        return worker

    async def _see_out(self, worker: WorkerProcess) -> None:
        self._alive += 1
        try:
            async with trio.open_nursery() as nursery:
                nursery.start_soon(worker.drain)
                await worker.over.wait()
                nursery.cancel_scope.cancel()
        finally:
            self._alive -= 1
            await worker.bury()

    async def _keep(self, ready: Callable[[], None]) -> None:
        """Keep the parent: start it on demand, back off after a failed start, and repeat."""
        streak = 0
        while True:
            await self._wanted.wait()
            begun = trio.current_time()
            trouble = await self._live(ready)
            if trouble:
                streak = next_streak(self._backoff, streak, trio.current_time() - begun)
                self._failed_starts += 1
                self._trouble = f"no worker can be started: {trouble}"
                self._log("jail_start_failed", reason=trouble, failures=self._failed_starts)
                self._wake_waiting()
                await trio.sleep(wait_before(self._backoff, streak, self._draw()))

    async def _live(self, ready: Callable[[], None]) -> str:
        """Run one parent. Returns "" when it was idle, else why it ended."""
        try:
            parent = await start(self._command, self._environment)
        except OSError as error:
            return str(error)
        self._parents += 1
        trouble = ""
        async with trio.open_nursery() as nursery:
            parent.tend(nursery)
            try:
                await self._bring_up(parent)
                self._failed_starts, self._trouble = 0, ""
                ready()
                await self._until_idle(parent)
            except WorkerDied as error:  # raised out of the nursery it would come in a group
                trouble = str(error)
            finally:
                self._parent, self._free = None, []
                await parent.bury()
                nursery.cancel_scope.cancel()
        return trouble

    async def _bring_up(self, parent: Nursery) -> None:
        """Wait until a parent has made a first worker. Raises WorkerDied."""
        try:
            with trio.fail_after(START_WITHIN):
                await parent.up()
        except trio.TooSlowError:
            raise WorkerDied(f"the parent of the workers is not up after {START_WITHIN:g} s") from None
        self._free.append(await self._new(parent))
        self._parent = parent
        self._called_at = trio.current_time()
        self._wake_waiting()

    async def _until_idle(self, parent: Nursery) -> None:
        """Return after an idle period. Raises WorkerDied if the parent ends by itself."""
        while not parent.over.is_set():
            busy = self._limiter.borrowed_tokens > 0
            left = self._idle if busy else self._called_at + self._idle - trio.current_time()
            if left <= 0:
                self._wanted = trio.Event()
                return
            with trio.move_on_after(left):
                await parent.over.wait()
        raise WorkerDied(await parent.cause())

    def _wake_waiting(self) -> None:
        self._changed.set()
        self._changed = trio.Event()
