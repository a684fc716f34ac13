"""All workers: a call takes a free one, first come first served; one that hangs or dies is replaced before it is
missed.

One process more is kept than calls may run at once, so that the call after a kill does not wait for a start (a few
hundred milliseconds of importing parsers). Each process has one task (`_keep`) that starts it, offers it, and
replaces it when it is over. Nothing here reads the bytes that go through.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass

import trio

from actors.jail.framing import Task
from actors.jail.process import WorkerProcess, start
from actors.settings import wall_limit
from actors.world import WorkerDied, WorkerTooSlow
from supervision import Backoff, Child
from supervision.backoff import next_streak, wait_before

START_WITHIN = 20.0
"""Importing the parsers on a busy machine takes seconds; a worker that needs longer will not come."""

HOPELESS = 3
"""So many starts in a row that failed, and calls are refused instead of waiting for the next."""


@dataclass(frozen=True, slots=True)
class JailStatistics:
    """alive: workers that are up. free: of these, without a task. waiting: calls. lacks: what the jail of the newest
    worker has not. trouble: why none starts. The rest are counts since the start.
    """

    alive: int
    free: int
    waiting: int
    calls: int
    killed: int
    started: int
    trouble: str
    lacks: str


class ProcessJail:
    """The Jail port over processes.

    command: starts a worker (`[sys.executable, "-m", "sanderling", "worker"]`). environment: all that it sees of it; a
    frozen build may need some. workers: calls at once. memory: bytes of address space of each. deadline: seconds of
    processor time, for calls that name none. demanded: a worker that the kernel does not hold is not used. calls_each,
    resident_kib: a worker that reached one of them is replaced, against slow leaks. draw: uniform in [0, 1), for the
    waits between failed starts.
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
        log: Callable[..., None] = lambda *_, **__: None,
        ended: Callable[[str], None] = lambda _: None,
    ) -> None:
        self._command = tuple(command)
        self._environment = dict(environment or {})
        self._kept = workers + 1
        self._memory = memory
        self._deadline = deadline
        self._demanded = demanded
        self._calls_each = calls_each
        self._resident_kib = resident_kib
        self._draw = draw
        self._log = log
        self._ended = ended
        self._backoff = Backoff(first=0.2, ceiling=30.0, reset_after=30.0)
        self._limiter = trio.CapacityLimiter(workers)
        # Bound: one place for each process, so offering never waits. A refusal goes the same way, to who already waits.
        self._offer, self._free = trio.open_memory_channel[WorkerProcess | WorkerDied](self._kept)
        self._alive = self._calls = self._killed = self._started = 0
        self._failed_starts = 0
        self._trouble = self._lacks = ""

    def __repr__(self) -> str:
        return f"<ProcessJail {self.statistics()}>"

    def statistics(self) -> JailStatistics:
        """Return a picture of now."""
        return JailStatistics(
            alive=self._alive,
            free=self._free.statistics().current_buffer_used,
            waiting=self._limiter.statistics().tasks_waiting + self._free.statistics().tasks_waiting_receive,
            calls=self._calls,
            killed=self._killed,
            started=self._started,
            trouble=self._trouble,
            lacks=self._lacks,
        )

    def lacks(self) -> str:
        """Return what the kernel does not do for the jail, in a few words; "" when it is whole."""
        return self._lacks

    async def run(self, child: Child) -> None:
        """Keep the workers alive until stopped. Ready when one is up. When this ends, so have all workers."""
        try:
            async with trio.open_nursery() as nursery:
                for _ in range(self._kept):
                    nursery.start_soon(self._keep, nursery, child.ready)
                await child.stopping.wait()
                nursery.cancel_scope.cancel()
        finally:
            self._take_all_nowait()  # they are dead, and the next `run` begins anew

    async def call(self, task: str, request: bytes, *, deadline: float | None = None) -> bytes:
        """Run a task. The deadline is processor time of its worker; beside it stands a wide one by the clock.

        Both count from when a worker is free for it. Waits while there is no `run`.

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
        while True:
            if self._failed_starts >= HOPELESS and not self._alive:
                raise WorkerDied(self._trouble)
            found = await self._free.receive()
            if isinstance(found, WorkerDied):
                raise found
            if found.alive:
                return found
            found.kill()  # it ended while it had nothing to do; its own task replaces it

    def _give_back(self, worker: WorkerProcess) -> None:
        """Offer a worker again if it answered and is not worn; else end it. No await, so nothing cuts it short."""
        if worker.in_step and worker.alive and not self._worn(worker):
            self._put(worker)
            return
        self._killed += not worker.in_step
        worker.kill()

    def _put(self, worker: WorkerProcess) -> None:
        """Offer a worker; those offered before that ended meanwhile give up their places."""
        for other in (*self._take_all_nowait(), worker):
            if isinstance(other, WorkerProcess) and other.alive:
                self._offer.send_nowait(other)

    def _worn(self, worker: WorkerProcess) -> bool:
        return worker.calls >= self._calls_each or worker.memory_kib >= self._resident_kib

    async def _keep(self, nursery: trio.Nursery, ready: Callable[[], None]) -> None:
        """Keep one process alive: start it, offer it, wait until it is over, rest if it failed to start, again."""
        streak = 0
        while True:
            begun = trio.current_time()
            try:
                await self._live(nursery, ready)
                continue
            except (OSError, WorkerDied) as error:
                streak = next_streak(self._backoff, streak, trio.current_time() - begun)
                self._start_failed(str(error))
            await trio.sleep(wait_before(self._backoff, streak, self._draw()))

    async def _live(self, nursery: trio.Nursery, ready: Callable[[], None]) -> None:
        """One process's life. Raises OSError or WorkerDied when it does not come up."""
        worker = await start(self._command, self._environment)
        self._started += 1
        nursery.start_soon(worker.drain)
        try:
            await self._greet(worker)
            self._alive += 1
            try:
                self._failed_starts, self._trouble = 0, ""
                ready()
                self._put(worker)
                await worker.over.wait()
            finally:
                self._alive -= 1
        finally:
            await worker.reap()

    async def _greet(self, worker: WorkerProcess) -> None:
        """Wait until a worker is up. Raises WorkerDied."""
        try:
            with trio.fail_after(START_WITHIN):
                await worker.greet(self._memory)
        except trio.TooSlowError:
            raise WorkerDied(f"the worker is not up after {START_WITHIN:g} s") from None
        if worker.lacks and worker.lacks != self._lacks:
            self._log("jail.weaker", level="warning", lacks=worker.lacks)
        self._lacks = worker.lacks
        if worker.lacks and self._demanded:
            raise WorkerDied(f"the kernel does not hold it: {worker.lacks} (jail = demanded)")

    def _start_failed(self, reason: str) -> None:
        self._failed_starts += 1
        self._trouble = f"no worker can be started: {reason}"
        self._log("jail_start_failed", reason=reason, failures=self._failed_starts)
        if self._failed_starts >= HOPELESS and not self._alive:
            for _ in range(self._free.statistics().tasks_waiting_receive):
                self._offer.send_nowait(WorkerDied(self._trouble))

    def _take_all_nowait(self) -> list[WorkerProcess | WorkerDied]:
        taken: list[WorkerProcess | WorkerDied] = []
        with suppress(trio.WouldBlock):
            while True:
                taken.append(self._free.receive_nowait())
        return taken
