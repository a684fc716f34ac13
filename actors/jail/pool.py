"""All workers: forked from one parent on demand, first come, first served, and ended when idle.

The parent (`parent_process.py`) has the parsers loaded; its forks are up in milliseconds and share its memory, so a
worker that hangs, dies or is worn is easily replaced. After a time without calls the parent and all workers end; the
next call waits for a start (a second of importing parsers, more on a small board). This module never parses the bytes
that it passes on.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import trio

from actors.jail.framing import Task
from actors.jail.parent_process import ParentProcess, WorkerProcess, start
from actors.settings import wall_limit
from actors.world import WorkerDied, WorkerNotStarted, WorkerTooSlow
from supervision import Backoff, Child
from supervision.policy import next_streak, wait_before

START_WITHIN = 20.0
"""Importing the parsers on a busy machine takes seconds; a parent that needs longer will not come up."""

MOST_FAILED_STARTS = 3  # after this many failed starts in a row, calls are refused instead of waiting for the next


@dataclass(frozen=True, slots=True)
class JailStatistics:
    """parents: starts of the parent. missing: the newest worker's missing confinement. start_error: why none starts."""

    alive: int
    free: int
    waiting: int
    calls: int
    killed: int
    started: int
    parents: int
    start_error: str
    missing: str


class ProcessJail:
    """The Jail port over processes. command: starts the parent (`[sys.executable, "-m", "sanderling", "worker"]`).
    environment: its whole environment; a frozen build may need some. workers: concurrent calls. memory: bytes of
    address space of each. deadline: default seconds of processor time. idle: seconds without a call before all
    processes end. demanded: an unconfined worker is not used. calls_each, resident_kib: a worker at either limit is
    replaced, because of slow leaks. draw: uniform in [0, 1), for the waits between failed starts.
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
        self._memory, self._deadline, self._demanded = memory, deadline, demanded
        self._calls_each, self._resident_kib, self._draw = calls_each, resident_kib, draw
        self._idle, self._log, self._ended = idle, log, ended
        self._backoff = Backoff(first=0.2, ceiling=30.0, reset_after=30.0)
        self._limiter = trio.CapacityLimiter(workers)
        self._parent: ParentProcess | None = None
        self._free: list[WorkerProcess] = []
        """Bound: the number of concurrent calls, plus the first worker."""
        self._needed, self._changed = trio.Event(), trio.Event()
        self._called_at = -math.inf
        self._alive = self._calls = self._killed = self._started = self._parents = self._failed_starts = 0
        self._start_error = self._missing = ""

    def statistics(self) -> JailStatistics:
        return JailStatistics(
            alive=self._alive,
            free=sum(worker.alive for worker in self._free),
            waiting=self._limiter.statistics().tasks_waiting,
            calls=self._calls,
            killed=self._killed,
            started=self._started,
            parents=self._parents,
            start_error=self._start_error,
            missing=self._missing,
        )

    def lacks(self) -> str:
        """Return the missing confinement, in a few words; "" if complete."""
        return self._missing

    async def run(self, child: Child) -> None:
        """Keep the parent alive while it is needed, until stopped. Ready once a first worker was up."""
        self._needed.set()  # once without a call, to report early whether workers start, and their confinement
        async with trio.open_nursery() as nursery:
            nursery.start_soon(self._keep_parent, child.ready)
            await child.stopping.wait()
            nursery.cancel_scope.cancel()

    async def call(self, task: str, request: bytes, *, deadline: float | None = None) -> bytes:
        """Run a task. deadline: seconds of processor time; a generous wall-clock limit applies as well. Both count from
        when a worker is free. Waits while `run` is not active. Raises WorkerDied, WorkerTooSlow, TaskRefused. If
        cancelled, the worker is killed and replaced.
        """
        seconds = self._deadline if deadline is None else deadline
        async with self._limiter:
            try:
                worker = await self._acquire()
            except WorkerDied as error:
                raise WorkerNotStarted(str(error)) from None
            self._calls += 1
            try:
                with trio.fail_after(wall_limit(seconds)):
                    return await worker.ask(Task(task, math.ceil(seconds * 1000), request))
            except (trio.TooSlowError, WorkerTooSlow) as error:
                self._ended("deadline")
                is_clock = isinstance(error, trio.TooSlowError)
                limit = f"{wall_limit(seconds):g} s by the clock" if is_clock else f"{seconds:g} s of processor time"
                raise WorkerTooSlow(f"{task}: not done after {limit}") from None
            except (WorkerDied, trio.Cancelled) as error:
                self._ended("died" if isinstance(error, WorkerDied) else "cancelled")
                raise
            finally:
                self._release(worker)

    async def _acquire(self) -> WorkerProcess:
        """Return a free worker, or a new one. Raises WorkerDied."""
        while True:
            while self._free:
                worker = self._free.pop()  # the most recent one: its memory is warm, and idle ones show
                if worker.alive:
                    return worker
            if self._parent is not None and not self._parent.ended.is_set():
                return await self._fork(self._parent)
            if self._failed_starts >= MOST_FAILED_STARTS:
                raise WorkerDied(self._start_error)
            self._needed.set()
            await self._changed.wait()

    def _release(self, worker: WorkerProcess) -> None:
        """Keep a worker if it answered and is not worn; else end it. Without await, so that it can't be interrupted."""
        self._called_at = trio.current_time()
        is_exhausted = worker.calls >= self._calls_each or worker.memory_kib >= self._resident_kib
        if worker.is_idle and worker.alive and not is_exhausted:
            self._free.append(worker)
            return
        self._killed += not worker.is_idle
        worker.kill()

    async def _fork(self, parent: ParentProcess) -> WorkerProcess:
        """Return a new worker, ready for tasks. Raises WorkerDied."""
        try:
            worker = await parent.fork()
        except OSError as error:
            raise WorkerDied(f"no worker can be made: {error}") from None
        self._started += 1
        parent.start_task(self._supervise_worker, worker)
        try:
            try:
                with trio.fail_after(START_WITHIN):
                    await worker.handshake(self._memory)
            except trio.TooSlowError:
                raise WorkerDied(f"the worker is not up after {START_WITHIN:g} s") from None
            if worker.missing and worker.missing != self._missing:
                self._log("jail.weaker", level="warning", lacks=worker.missing)
            self._missing = worker.missing
            if worker.missing and self._demanded:
                raise WorkerDied(f"the kernel cannot confine it: {worker.missing} (jail = demanded)")
        except BaseException:
            worker.kill()
            raise
        return worker

    async def _supervise_worker(self, worker: WorkerProcess) -> None:
        self._alive += 1
        try:
            async with trio.open_nursery() as nursery:
                nursery.start_soon(worker.drain)
                await worker.ended.wait()
                nursery.cancel_scope.cancel()
        finally:
            self._alive -= 1
            await worker.terminate()

    async def _keep_parent(self, ready: Callable[[], None]) -> None:
        """Keep the parent: start it on demand, back off after a failed start, and repeat."""
        streak = 0
        while True:
            await self._needed.wait()
            started_at = trio.current_time()
            error = await self._run_parent(ready)
            if error:
                streak = next_streak(self._backoff, streak, trio.current_time() - started_at)
                self._failed_starts += 1
                self._start_error = f"no worker can be started: {error}"
                self._log("jail_start_failed", reason=error, failures=self._failed_starts)
                self._wake_waiting()
                await trio.sleep(wait_before(self._backoff, streak, self._draw()))

    async def _run_parent(self, ready: Callable[[], None]) -> str:
        """Run one parent. Returns "" when it was idle, else why it ended."""
        try:
            parent = await start(self._command, self._environment)
        except OSError as error:
            return str(error)
        self._parents += 1
        failure = ""
        async with trio.open_nursery() as nursery:
            parent.start_tasks(nursery)
            try:
                await self._start_first_worker(parent)
                self._failed_starts, self._start_error = 0, ""
                ready()
                await self._wait_idle(parent)
            except WorkerDied as error:  # raised out of the nursery it would come in a group
                failure = str(error)
            finally:
                self._parent, self._free = None, []
                await parent.terminate()
                nursery.cancel_scope.cancel()
        return failure

    async def _start_first_worker(self, parent: ParentProcess) -> None:
        """Wait until a parent has made a first worker. Raises WorkerDied."""
        try:
            with trio.fail_after(START_WITHIN):
                await parent.wait_ready()
        except trio.TooSlowError:
            raise WorkerDied(f"the parent of the workers is not up after {START_WITHIN:g} s") from None
        self._free.append(await self._fork(parent))
        self._parent = parent
        self._called_at = trio.current_time()
        self._wake_waiting()

    async def _wait_idle(self, parent: ParentProcess) -> None:
        """Return after an idle period. Raises WorkerDied if the parent ends by itself."""
        while not parent.ended.is_set():
            busy = self._limiter.borrowed_tokens > 0
            remaining = self._idle if busy else self._called_at + self._idle - trio.current_time()
            if remaining <= 0:
                self._needed = trio.Event()
                return
            with trio.move_on_after(remaining):
                await parent.ended.wait()
        raise WorkerDied(await parent.exit_reason())

    def _wake_waiting(self) -> None:
        self._changed.set()
        self._changed = trio.Event()
