"""The writing thread: an unbounded queue, and group commit; the transaction as the stores see it. The engine commits.

All jobs that wait when a transaction ends (at most 512 events or 500 other rows) form the next one. If all of them may
wait, the thread waits up to `lingers` for one that may not, and takes them along. A job is a function of the open
transaction that decides first and writes last. So a job that refuses (a moved cursor, a duplicate URL) has changed
nothing, and the others continue.

No supervisor watches a thread, so it reports and survives any other error. If it ends all the same, all waiting and
later jobs fail at once, and `wait_ended` returns.
"""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable, Coroutine, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import wraps
from typing import Any, ClassVar, Concatenate, Final, Generic, Literal, NamedTuple, ParamSpec, Protocol, TypeVar

import trio

from storage.append import Lease
from storage.errors import Fenced, Unavailable
from storage.records.identity import START
from storage.records.source import Source
from storage.retention import FreeSpace
from storage.secrets import Connection, Vault

MOST_EVENTS, MOST_ROWS = 512, 500  # limits of one transaction; its first job may exceed them
_PUT_MARK = """INSERT INTO story_mark VALUES(?,?)
    ON CONFLICT(mark) DO UPDATE SET seq=excluded.seq WHERE excluded.seq>story_mark.seq"""
READS_CLOSE_WITHIN = 5.0  # seconds that running reads get at a close
C = TypeVar("C")
P = ParamSpec("P")
S = TypeVar("S", bound="Store")
T = TypeVar("T")


class Transaction:
    """The view of a job. An append sets `newest`. `afterwards`: called on the loop with the outcome, or False."""

    EPOCH = "SELECT value FROM fact WHERE name='epoch'"
    SHARED = False
    """Whether other nodes write, too."""

    def __init__(self, connection: Connection, vault: Vault) -> None:
        self.connection, self.vault = connection, vault
        self.execute = connection.execute
        self.executemany = connection.executemany
        self.newest = START
        self.afterwards: list[Callable[[bool], None]] = []
        self._epoch: int | None = None

    def fence(self, lease: Lease) -> None:
        """Refuse a writer of an earlier start. Raises Fenced."""
        if self._epoch is None:
            self._epoch = self.execute(self.EPOCH).fetchone()[0]
        if self._epoch != lease.epoch:
            raise Fenced(f"start {self._epoch} owns the data now, not start {lease.epoch} ({lease.owner})")

    def ended(self, committed: bool) -> None:
        """Call `afterwards`. On the loop."""
        for callback in self.afterwards:
            callback(committed)

    def place(self, source: Source) -> None:
        """Record the shard of a source that was just written."""

    def put_events(self, rows: Sequence[tuple[int, int, int, bytes]]) -> None:
        """Write log rows: position, source number, kind, body."""
        self.executemany("INSERT INTO log(seq, source, kind, codec, body) VALUES(?,?,?,0,?)", rows)

    def put_marks(self, rows: Sequence[tuple[int, int]]) -> None:
        """Write story marks: mark, position."""
        self.executemany(_PUT_MARK, rows)

    def put_hot(self, rows: Sequence[tuple[bytes, int, int]]) -> None:
        """Write hot states: body, version, source number."""
        self.executemany("UPDATE source_hot SET body=?, version=? WHERE key=?", rows)

    def last(self, known: int) -> int:
        """Return the newest position ever assigned by any process; `known` is the newest of this one."""
        return known


Job = Callable[[Transaction], T]


def fenced(lease: Lease, job: Job[T]) -> Job[T]:
    @wraps(job, assigned=(), updated=())  # each copied attribute would take as long as the check
    def run(transaction: Transaction) -> T:
        transaction.fence(lease)
        return job(transaction)

    return run


Row = tuple[Literal["alert", "cursor", "destination", "drops", "fact", "publication", "refers", "source"], str]
"""A row that several nodes may change at the same time: its table and id. `refers`: to a destination, by new rows.
`drops`: the job deletes rows, and with this alert its destinations: they are locked against rows that refer to them."""
REVISES: Final[Row] = ("fact", "alerts")


class Writer(Protocol):
    """Runs the stores' writes: on an engine's thread, or on the loop itself."""

    async def submit(
        self, job: Job[T], *, events: int = 0, rows: int = 1, holds: Sequence[Row] = (), may_wait: bool = False
    ) -> T:
        """Run a job in the next transaction and return its result once that is durable.

        `events` and `rows` say how much it writes. `holds`: the rows that it reads and changes, or counts up. A shared
        database locks those of all jobs of a transaction in one order before the first job, so no two nodes deadlock.
        may_wait: a thread may wait a moment for other jobs, so that they share a transaction. If cancelled, the job may
        still happen. Raises the job's error, DiskFull, Unavailable, Corrupt.
        """


class Readers(Protocol):
    """Runs the stores' reads: on connections in threads, or on the loop's own."""

    async def run(self, read: Callable[[Connection], T]) -> T:
        """Return the result of `read` with a connection. Raises Corrupt, Unavailable."""


class Pool(Generic[C]):
    """Connections, each used by one thread at a time. A call that waits for its turn can be cancelled."""

    def __init__(self, connections: Sequence[C], close: Callable[[C], None]) -> None:
        self._limiter = trio.CapacityLimiter(len(connections))
        self._idle: queue.LifoQueue[C] = queue.LifoQueue()
        self._close, self._closed = close, False
        for connection in connections:
            self._idle.put(connection)

    def __repr__(self) -> str:
        return f"{type(self).__name__}(busy={self._limiter.borrowed_tokens} of {self._limiter.total_tokens})"

    async def aclose(self) -> None:
        """Wait for running reads, within CLOSE_WITHIN even if cancelled, and close the connections."""
        if self._closed:
            return
        self._closed = True
        with trio.move_on_after(READS_CLOSE_WITHIN, shield=True):
            for _ in range(int(self._limiter.total_tokens)):
                await self._limiter.acquire_on_behalf_of(object())
        while not self._idle.empty():
            self._close(self._idle.get_nowait())


@dataclass(frozen=True, slots=True)
class Query:
    """A read of one statement, which a server answers in one round trip."""

    statement: str
    parameters: Sequence[Any] = ()

    def __call__(self, connection: Connection) -> list[Any]:
        return list(connection.execute(self.statement, self.parameters).fetchall())


async def every_row(readers: Readers, query: str, *args: object) -> Sequence[Any]:
    return await readers.run(Query(query, args))


async def first_row(readers: Readers, query: str, *args: object) -> Any:
    """Return the row of a query that has at most one, None if there is none. Raises as Readers does."""
    return next(iter(await readers.run(Query(query, args))), None)


async def write_one(writer: Writer, statement: str, *args: object, rows: int = 1, holds: Sequence[Row] = ()) -> int:
    """Run one statement in the next transaction; return how many rows it changed. Raises as Writer does."""
    return await writer.submit(lambda it: it.execute(statement, args).rowcount, rows=rows, holds=holds)


async def write_each(writer: Writer, statement: str, rows: Sequence[Sequence[Any]]) -> None:
    await writer.submit(lambda it: it.executemany(statement, rows), rows=len(rows))


class Lookups(Protocol):
    """Finds the single rows that every request needs, by key and without a queue."""

    async def one(self, query: str, parameters: Sequence[Any] = ()) -> Any:
        """Return the first row, None if there is none. Raises Corrupt, Unavailable."""


class Reading(Readers, Lookups, Protocol):
    """Both ways to read."""


class Store:
    """A store on an engine's writer and readers. vault: for sealed values. Lists are oldest first unless said."""

    def __init__(self, writer: Writer, readers: Reading, vault: Vault) -> None:
        self._writer, self._readers, self._vault = writer, readers, vault

    async def _all(self, made: Callable[..., T], query: str, *args: object) -> list[T]:
        """Return what is made of each row's columns."""
        return [made(*row) for row in await every_row(self._readers, query, *args)]

    async def _first(self, made: Callable[..., T], query: str, *args: object) -> T | None:
        return next(iter(await self._all(made, query, *args)), None)

    async def _look_up(self, made: Callable[..., T], query: str, *args: object) -> T | None:
        """Return what is made of the one row found by key, None if there is none. Microseconds."""
        row = await self._readers.one(query, args)
        return None if row is None else made(*row)


def found(among: Connection | Transaction, made: Callable[..., T], query: str, *args: object) -> T | None:
    row = among.execute(query, args).fetchone()
    return None if row is None else made(*row)


def in_transaction(
    *, holds: Callable[..., Sequence[Row]] = lambda *_, **__: (), rows: Callable[..., int] = lambda *_, **__: 1
) -> Callable[[Callable[Concatenate[S, Transaction, P], T]], Callable[Concatenate[S, P], Coroutine[Any, Any, T]]]:
    """Make a store's method a job, run in the next transaction. holds, rows: from its arguments, as of `submit`."""

    def job_of(run: Callable[Concatenate[S, Transaction, P], T]) -> Callable[Concatenate[S, P], Coroutine[Any, Any, T]]:
        @wraps(run)
        async def submit(store: S, /, *args: P.args, **kwargs: P.kwargs) -> T:
            job: Job[T] = lambda transaction: run(store, transaction, *args, **kwargs)  # noqa: E731
            return await store._writer.submit(job, rows=rows(*args, **kwargs), holds=holds(*args, **kwargs))

        return submit

    return job_of


def read_only(run: Callable[Concatenate[S, Connection, P], T]) -> Callable[Concatenate[S, P], Coroutine[Any, Any, T]]:
    """Make a store's method run on a read-only connection. Raises as Readers does."""

    @wraps(run)
    async def read(store: S, /, *args: P.args, **kwargs: P.kwargs) -> T:
        return await store._readers.run(lambda connection: run(store, connection, *args, **kwargs))

    return read


def next_turn(every: float) -> float:
    """Return the next multiple of `every` seconds: look-ups of all that wait for it share a round trip."""
    return (trio.current_time() // every + 1) * every


class Space(NamedTuple):
    """How an engine measures and shrinks itself: see `room` and `give_back` of EventLog."""

    room: Callable[[Connection], FreeSpace]
    give_back: Callable[[Connection, int], int]


SLICE = 200  # waiters woken at once, so that a thousand of them never block the loop for long
CLOSE_WITHIN = 30.0  # seconds that pending writes get at a close
MOST_FAILURES = 20
"""Most consecutive turns that may fail outside a commit; then the thread ends, as it can do nothing useful."""


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
        self._call_soon(self._wake, batch, 0)  # not by `_answer`, which may be what failed

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
