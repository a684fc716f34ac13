"""The writing thread: an unbounded queue, and group commit. The engine defines the commit.

All jobs that wait when a transaction ends (at most 512 events or 500 other rows) form the next one. If all of them may
wait, the thread waits up to `lingers` for one that may not, and takes them along. A job is a function of the open
transaction that decides first and writes last. So a job that refuses (a moved cursor, a duplicate URL) has
changed nothing, and the others continue.

No supervisor watches a thread. So it reports and survives any other error (for example, a folder that is missing for a
moment). If the thread ends all the same, all waiting and later jobs fail at once, and `wait_ended` returns.
"""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any, ClassVar, Generic, TypeVar

import trio

from storage.errors import Unavailable
from storage.sql.transaction import MOST_EVENTS, MOST_ROWS, Job, Row

SLICE = 200
"""Waiters woken at once, so that a thousand of them never block the loop for long."""
CLOSE_WITHIN = 30.0
"""Seconds that pending writes get at a close."""
MOST_FAILURES = 20
"""Most consecutive turns that may fail outside a commit; then the thread ends, as it can do nothing useful."""

T = TypeVar("T")


class Ticket(Generic[T]):
    """One job and its waiting task, None after the task was cancelled."""

    __slots__ = ("error", "events", "holds", "job", "may_wait", "result", "rows", "waiter")

    def __init__(self, job: Job[T], events: int, rows: int, holds: Sequence[Row], *, may_wait: bool = False) -> None:
        self.job, self.events, self.rows, self.holds, self.may_wait = job, events, rows, holds, may_wait
        self.waiter: trio.lowlevel.Task | None = trio.lowlevel.current_task()
        self.error: Exception | None = None
        self.result: T | None = None

    def give_up(self, _: trio.lowlevel.RaiseCancelT) -> trio.lowlevel.Abort:
        """Drop the cancelled waiter; a job that has not begun is skipped."""
        self.waiter = None
        return trio.lowlevel.Abort.SUCCEEDED


class WritingThread:
    """The two ends of a thread: `submit` on the loop, `_run` on the thread. An engine's subclass adds `_commit`. The
    queue needs no bound: each job in it has a waiting task, or was cancelled and is skipped at its turn. lingers:
    seconds; only if a transaction costs more than the work that a crash in that time repeats.
    """

    lingers: ClassVar[float] = 0.0

    def __init__(self, warn: Callable[[str], None]) -> None:
        self._warn = warn
        self._queue: queue.SimpleQueue[Ticket[Any] | None] = queue.SimpleQueue()
        self._next: Ticket[Any] | None = None
        self._token = trio.lowlevel.current_trio_token()
        self._stopped = trio.Event()
        self._closing = False
        self._waiting = 0
        self._moved_at = trio.current_time()
        self._batch: list[Ticket[Any]] = []
        self._failures = 0
        self._reported: set[str] = set()
        self._is_done = False
        self._ended = ""

    def __repr__(self) -> str:
        return f"{type(self).__name__}(waiting={self._waiting}, closing={self._closing})"

    # --- on the loop -------------------------------------------------------------------------------------------------

    def begin(self, name: str) -> None:
        threading.Thread(target=self._run, name=name, daemon=True).start()

    async def submit(
        self, job: Job[T], *, events: int = 0, rows: int = 1, holds: Sequence[Row] = (), may_wait: bool = False
    ) -> T:
        if self._closing or self._stopped.is_set():
            raise Unavailable(self._ended or "the storage is closed")
        ticket = Ticket(job, events, rows, holds, may_wait=may_wait)
        if not self._waiting:
            self._moved_at = trio.current_time()
        self._waiting += 1
        self._queue.put(ticket)
        await trio.lowlevel.wait_task_rescheduled(ticket.give_up)
        if ticket.error is not None:
            raise ticket.error
        return ticket.result  # type: ignore[return-value]  # without an error there is a result, which may be None

    def moved_at(self) -> float:
        """Return when the writer last finished a job; now if none waits."""
        return self._moved_at if self._waiting else trio.current_time()

    async def aclose(self) -> bool:
        """Finish waiting jobs and stop, within CLOSE_WITHIN even if cancelled; return whether the thread has ended."""
        if not self._closing:
            self._closing = True
            self._queue.put(None)
        with trio.move_on_after(CLOSE_WITHIN, shield=True):
            await self._stopped.wait()
        return self._stopped.is_set()

    async def wait_ended(self) -> str:
        await self._stopped.wait()
        return self._ended

    def _on_end(self, why: str) -> None:
        self._ended = why
        self._stopped.set()
        left = self._batch if self._next is None else [*self._batch, self._next]
        while not self._queue.empty():
            ticket = self._queue.get_nowait()
            left += [] if ticket is None else [ticket]
        for ticket in left:
            ticket.error = Unavailable(why or "the storage is closed")
        self._wake(left, 0)

    def _wake(self, tickets: Sequence[Ticket[Any]], start: int) -> None:
        end = min(start + SLICE, len(tickets))
        for ticket in tickets[start:end]:
            if ticket.waiter is not None:
                trio.lowlevel.reschedule(ticket.waiter)
        self._waiting -= end - start
        self._moved_at = trio.current_time()
        if end < len(tickets):
            self._token.run_sync_soon(self._wake, tickets, end)

    # --- on the thread -----------------------------------------------------------------------------------------------

    def _run(self) -> None:
        why = ""
        try:
            while not self._is_done and self._failures < MOST_FAILURES:
                self._turn()
            if not self._is_done:
                why = f"the writer of the storage has ended: {'; '.join(sorted(self._reported))}"
        except BaseException as error:  # not to be raised: nothing on this thread could catch it
            why = f"the writer of the storage has ended: {error!r}"
        finally:
            self._finish()
            self._call_soon(self._on_end, why)

    def _turn(self) -> None:
        self._batch = []
        try:
            if not self._take():
                self._is_done = True
                return
            self._commit([ticket for ticket in self._batch if ticket.waiter is not None])
            self._answer()
            self._failures = 0
        except Exception as error:
            self._failures += 1
            self._report(error)
            self._fail(f"the writer of the storage stumbled: {error!r}")
            return
        self._settle()

    def _commit(self, tickets: Sequence[Ticket[Any]]) -> None:
        """Run jobs, all in one transaction if possible, and store the result of each."""
        raise NotImplementedError

    def _settle(self) -> None:
        """Run work after a commit. Its failure does not undo the commit."""

    def _finish(self) -> None:
        """Release the thread's resources. Raises nothing."""

    def _answer(self) -> None:
        batch, self._batch = self._batch, []
        self._call_soon(self._wake, batch, 0)

    def _fail(self, why: str) -> None:
        for ticket in self._batch:
            ticket.error = Unavailable(why)
        batch, self._batch = self._batch, []
        self._call_soon(self._wake, batch, 0)

    def _guarded(self, what: Callable[[], object]) -> None:
        try:
            what()
        except Exception as error:
            if not self._expected(error):
                self._report(error)

    def _expected(self, error: Exception) -> bool:
        """Return whether the next commit will report this failure outside a commit."""
        del error
        return False

    def _report(self, error: Exception) -> None:
        words = f"{type(error).__name__}: {error}"
        if words not in self._reported and len(self._reported) < MOST_FAILURES:
            self._reported.add(words)
            self._call_soon(self._warn, f"beside a commit, the writer met {words}; it goes on")

    def _take(self) -> list[Ticket[Any]]:
        """Wait for work and take as much as fits one transaction into `_batch`; empty at the end."""
        batch, linger = self._batch, self.lingers
        events = rows = 0
        ticket, self._next = self._next or self._wait(), None
        while ticket is not None:
            events, rows = events + ticket.events, rows + ticket.rows
            if batch and (events > MOST_EVENTS or rows > MOST_ROWS):
                break
            batch.append(ticket)
            linger = linger / 2 if ticket.may_wait else 0.0  # halved, so that many in a row wait no longer in all
            try:
                ticket = self._queue.get(linger > 0, linger)
            except queue.Empty:
                return batch
        self._next = ticket
        if ticket is None and batch:
            self._queue.put(None)  # the end comes after this batch
        return batch

    def _wait(self) -> Ticket[Any] | None:
        return self._queue.get()

    def _call_soon(self, what: Callable[..., object], *args: object) -> None:
        with suppress(trio.RunFinishedError):
            self._token.run_sync_soon(what, *args)
