"""The one writer: a thread with its own queue and connection for life, and group commit.

Whatever waits when a transaction ends (at most 512 events or 500 other rows) is the next transaction. A job is a
function of the open transaction; it decides first and writes last, so that one which refuses (a cursor that moved, a
URL that is taken) has changed nothing and its neighbours go on. When a job fails after it has written, or the commit
fails, the transaction is rolled back and every job of it runs again in a transaction of its own.

Nobody supervises a thread. So whatever else is raised on it (the folder is away for a moment) is told and survived; and
if the thread ends all the same, every job that waits or comes later fails at once, and who waits for the end is told.
"""

from __future__ import annotations

import queue
import sqlite3
import threading
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any, Generic, Protocol, TypeVar

import trio

from storage.append import Lease
from storage.errors import Fenced, Unavailable
from storage.records.identity import START, Seq
from storage.sqlite.engine.connection import in_our_words
from storage.sqlite.engine.folder import HeadMark
from storage.sqlite.engine.wal import Wal
from storage.sqlite.secrets.vault import Vault

MOST_EVENTS, MOST_ROWS = 512, 500
SLICE = 200
"""Waiters woken at once, so that a thousand of them never hold the loop in one piece."""
CLOSE_WITHIN = 30.0
"""Seconds that the writes under way get at a close."""
MOST_STUMBLES = 20
"""Turns in a row that may fail outside of the commit: a thread that can do nothing else any more had better end."""

T = TypeVar("T")


class Transaction:
    """The open transaction, as a job sees it, with the key of what is sealed. A job that appends sets `newest`.

    `afterwards` is called on the loop, with whether it was committed: False when nobody knows.
    """

    def __init__(self, connection: sqlite3.Connection, vault: Vault) -> None:
        self.connection, self.vault = connection, vault
        self.execute = connection.execute
        self.executemany = connection.executemany
        self.newest = START
        self.afterwards: list[Callable[[bool], None]] = []
        self._epoch: int | None = None

    def fence(self, lease: Lease) -> None:
        """Refuse a writer of an earlier life. Raises Fenced."""
        if self._epoch is None:
            self._epoch = self.execute("SELECT value FROM fact WHERE name='epoch'").fetchone()[0]
        if self._epoch != lease.epoch:
            raise Fenced(f"start {self._epoch} owns the data now, not start {lease.epoch} ({lease.owner})")


Job = Callable[[Transaction], T]


class Writer(Protocol):
    """Where the stores hand in what they write: the thread below, or the loop itself (`in_loop.py`)."""

    async def submit(self, job: Job[T], *, events: int = 0, rows: int = 1) -> T:
        """Run a job in the next transaction and return its result once that is durable.

        `events` and `rows` say how much it writes. Raises what the job raises, DiskFull, Unavailable, Corrupt. If
        cancelled, the job may still happen.
        """


class _Ticket(Generic[T]):
    """One job and the task that waits for it, None once it has given up."""

    __slots__ = ("error", "events", "job", "result", "rows", "waiter")

    def __init__(self, job: Job[T], events: int, rows: int) -> None:
        self.job, self.events, self.rows = job, events, rows
        self.waiter: trio.lowlevel.Task | None = trio.lowlevel.current_task()
        self.error: Exception | None = None
        self.result: T | None = None

    def give_up(self, _: trio.lowlevel.RaiseCancelT) -> trio.lowlevel.Abort:
        """Forget the waiter, which is cancelled; a job that has not begun is skipped."""
        self.waiter = None
        return trio.lowlevel.Abort.SUCCEEDED


class WriterThread:
    """The writer thread's two ends: `submit` on the loop, `_run` on the thread.

    The queue has no bound of its own: each waiting job has a task that waits for it, or was given up by one and is
    skipped when its turn comes.
    """

    def __init__(
        self, mark: HeadMark, wal: Wal, clock: Callable[[], float], warn: Callable[[str], None], vault: Vault
    ) -> None:
        self._mark, self._wal, self._clock, self._warn, self._vault = mark, wal, clock, warn, vault
        self._queue: queue.SimpleQueue[_Ticket[Any] | None] = queue.SimpleQueue()
        self._next: _Ticket[Any] | None = None
        self._token = trio.lowlevel.current_trio_token()
        self._stopped = trio.Event()
        self._closing = False
        self._waiting = 0
        self._moved_at = trio.current_time()
        self._head = START
        self._marked_at = 0.0
        self._batch: list[_Ticket[Any]] = []
        self._stumbles = 0
        self._told: set[str] = set()
        self._through = False
        self._ended = ""

    def __repr__(self) -> str:
        return f"WriterThread(waiting={self._waiting}, closing={self._closing})"

    # --- on the loop -------------------------------------------------------------------------------------------------

    def start(self, connection: sqlite3.Connection, head: Seq) -> None:
        """Start the thread, which owns the connection from now on. `head` is the newest position in the log."""
        self._head = head
        threading.Thread(target=self._run, args=(connection,), name="sqlite-writer", daemon=True).start()

    async def submit(self, job: Job[T], *, events: int = 0, rows: int = 1) -> T:
        """Run a job in the next transaction; see Writer."""
        if self._closing or self._stopped.is_set():
            raise Unavailable(self._ended or "the storage is closed")
        ticket = _Ticket(job, events, rows)
        if not self._waiting:
            self._moved_at = trio.current_time()
        self._waiting += 1
        self._queue.put(ticket)
        await trio.lowlevel.wait_task_rescheduled(ticket.give_up)
        if ticket.error is not None:
            raise ticket.error
        return ticket.result  # type: ignore[return-value]  # without an error there is a result, which may be None

    def moved_at(self) -> float:
        """Return when the writer last finished something; now, when nothing waits for it."""
        return self._moved_at if self._waiting else trio.current_time()

    async def aclose(self) -> bool:
        """Finish what waits and stop, within a deadline also when cancelled; return whether the thread has ended."""
        if not self._closing:
            self._closing = True
            self._queue.put(None)
        with trio.move_on_after(CLOSE_WITHIN, shield=True):
            await self._stopped.wait()
        return self._stopped.is_set()

    async def wait_ended(self) -> str:
        """Wait until the thread is gone, and return why; nothing when it was closed."""
        await self._stopped.wait()
        return self._ended

    def _over(self, why: str) -> None:
        """Let nobody wait for a thread that is gone."""
        self._ended = why
        self._stopped.set()
        left = self._batch if self._next is None else [*self._batch, self._next]
        while not self._queue.empty():
            ticket = self._queue.get_nowait()
            left += [] if ticket is None else [ticket]
        for ticket in left:
            ticket.error = Unavailable(why or "the storage is closed")
        self._wake(left, 0)

    def _wake(self, tickets: Sequence[_Ticket[Any]], start: int) -> None:
        end = min(start + SLICE, len(tickets))
        for ticket in tickets[start:end]:
            if ticket.waiter is not None:
                trio.lowlevel.reschedule(ticket.waiter)
        self._waiting -= end - start
        self._moved_at = trio.current_time()
        if end < len(tickets):
            self._token.run_sync_soon(self._wake, tickets, end)

    # --- on the thread -----------------------------------------------------------------------------------------------

    def _run(self, connection: sqlite3.Connection) -> None:
        why = ""
        try:
            while not self._through and self._stumbles < MOST_STUMBLES:
                self._turn(connection)
            if not self._through:
                why = f"the writer of the storage has ended: {'; '.join(sorted(self._told))}"
        except BaseException as error:  # it is not the thread's to raise: nobody is there to catch it
            why = f"the writer of the storage has ended: {error!r}"
        finally:
            for last in (self._write_mark, self._mark.close, connection.close):
                with suppress(Exception):
                    last()
            self._tell(self._over, why)

    def _turn(self, connection: sqlite3.Connection) -> None:
        """Commit what waits; survive whatever is raised, and tell of it."""
        self._batch = []
        try:
            if not self._take():
                self._through = True
                return
            self._commit(connection, [ticket for ticket in self._batch if ticket.waiter is not None])
            self._answer()
            self._stumbles = 0
        except Exception as error:
            self._stumbles += 1
            self._say(error)
            self._fail(f"the writer of the storage stumbled: {error!r}")
            return
        # The commits stand; what ails the disk, the next one will say.
        self._survived(lambda: self._wal.after_commit(connection))
        self._survived(self._mark_now_and_then)

    def _answer(self) -> None:
        batch, self._batch = self._batch, []
        self._tell(self._wake, batch, 0)

    def _fail(self, why: str) -> None:
        """Tell those whose jobs were taken that nothing is known of them."""
        for ticket in self._batch:
            ticket.error = Unavailable(why)
        batch, self._batch = self._batch, []
        self._tell(self._wake, batch, 0)

    def _survived(self, what: Callable[[], object]) -> None:
        try:
            what()
        except Exception as error:
            if not isinstance(error, sqlite3.Error):
                self._say(error)

    def _say(self, error: Exception) -> None:
        """Tell of a failure, of each kind once: it may come at every commit."""
        words = f"{type(error).__name__}: {error}"
        if words not in self._told and len(self._told) < MOST_STUMBLES:
            self._told.add(words)
            self._tell(self._warn, f"beside a commit, the writer met {words}; it goes on")

    def _mark_now_and_then(self) -> None:
        if abs(self._clock() - self._marked_at) >= 1:
            self._write_mark()

    def _take(self) -> list[_Ticket[Any]]:
        """Wait for work and return as much as one transaction takes, `_batch`; nothing at the end."""
        batch = self._batch
        events = rows = 0
        ticket, self._next = self._next or self._wait(), None
        while ticket is not None:
            events, rows = events + ticket.events, rows + ticket.rows
            if batch and (events > MOST_EVENTS or rows > MOST_ROWS):
                break
            batch.append(ticket)
            try:
                ticket = self._queue.get_nowait()
            except queue.Empty:
                return batch
        self._next = ticket
        if ticket is None and batch:
            self._queue.put(None)  # the end comes after this batch
        return batch

    def _wait(self) -> _Ticket[Any] | None:
        if self._head > self._mark.written:
            try:
                return self._queue.get(timeout=1.0)
            except queue.Empty:
                self._write_mark()
        return self._queue.get()

    def _commit(self, connection: sqlite3.Connection, tickets: Sequence[_Ticket[Any]]) -> None:
        if not tickets:
            return
        try:
            head = self._attempt(connection, tickets)
        except Exception as error:
            _roll_back(connection)
            # After an I/O error it is not known what has reached the disk: nobody tries again on his own.
            if len(tickets) > 1 and not isinstance(in_our_words(error), Unavailable):
                for ticket in tickets:
                    ticket.error = None
                    self._commit(connection, [ticket])
                return
            for ticket in tickets:
                ticket.error = in_our_words(error)  # an exception each, as each gets a traceback of its own
                if ticket.error is not error:
                    ticket.error.__cause__ = error
        else:
            self._head = max(self._head, head)

    def _attempt(self, connection: sqlite3.Connection, tickets: Sequence[_Ticket[Any]]) -> Seq:
        """Run jobs in one transaction and commit; return its newest event's position, 0 for none.

        Raises whatever makes the transaction unusable. A job that fails before it has written anything does not.
        """
        connection.execute("BEGIN IMMEDIATE")
        transaction = Transaction(connection, self._vault)
        for ticket in tickets:
            before = connection.total_changes
            try:
                ticket.result = ticket.job(transaction)
            except sqlite3.Error:
                raise
            except Exception as error:
                if connection.total_changes != before:
                    raise
                ticket.error = error
        known = False
        try:
            connection.execute("COMMIT")
            known = True
        finally:
            for hear in transaction.afterwards:
                self._tell(hear, known)
        return transaction.newest

    def _write_mark(self) -> None:
        if self._head <= self._mark.written:
            return
        self._marked_at = self._clock()
        try:
            self._mark.write(self._head)
        except OSError as error:
            self._tell(self._warn, f"the head mark could not be written: {error}")

    def _tell(self, what: Callable[..., object], *args: object) -> None:
        with suppress(trio.RunFinishedError):
            self._token.run_sync_soon(what, *args)


def _roll_back(connection: sqlite3.Connection) -> None:
    """Leave no transaction open; SQLite itself has rolled back after some errors (a full disk, for one)."""
    if connection.in_transaction:
        with suppress(sqlite3.Error):
            connection.execute("ROLLBACK")
