"""The open transaction as the stores see it, and the ports for their writes and reads."""

from __future__ import annotations

import queue
from collections.abc import Callable, Coroutine, Sequence
from dataclasses import dataclass
from functools import wraps
from typing import Any, Concatenate, Final, Generic, Literal, NamedTuple, ParamSpec, Protocol, TypeVar

import trio

from storage.append import Lease
from storage.errors import Fenced
from storage.records.identity import START
from storage.records.source import Source
from storage.retention import FreeSpace
from storage.secrets.sealing import Connection
from storage.secrets.vault import Vault

MOST_EVENTS, MOST_ROWS = 512, 500
"""Limits of one transaction; its first job may exceed them."""
_PUT_MARK = """INSERT INTO story_mark VALUES(?,?)
    ON CONFLICT(mark) DO UPDATE SET seq=excluded.seq WHERE excluded.seq>story_mark.seq"""
CLOSE_WITHIN = 5.0
"""Seconds that running reads get at a close."""
C = TypeVar("C")
P = ParamSpec("P")
S = TypeVar("S", bound="Store")
T = TypeVar("T")


class Transaction:
    """What a job sees. An append sets `newest`. `afterwards`: called on the loop with the outcome (False: unknown)."""

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
    @wraps(job)
    def run(transaction: Transaction) -> T:
        transaction.fence(lease)
        return job(transaction)

    return run


Row = tuple[Literal["alert", "cursor", "destination", "drops", "fact", "publication", "refers", "source"], str]
"""A row that several nodes may change at the same time: its table and id. `refers`: to a destination, by new rows.

`drops`: the job deletes rows, and with this alert its destinations: they are locked against rows that refer to them.
"""
REVISES: Final[Row] = ("fact", "alerts")


class Writer(Protocol):
    """Runs the stores' writes: on an engine's thread, or on the loop itself."""

    async def submit(
        self, job: Job[T], *, events: int = 0, rows: int = 1, holds: Sequence[Row] = (), may_wait: bool = False
    ) -> T:
        """Run a job in the next transaction and return its result once that is durable.

        `events` and `rows` say how much it writes. `holds`: the rows that it reads and changes, or counts up. A shared
        database locks those of all jobs of a transaction in one order before the first job, so no two nodes deadlock.
        may_wait: a thread may wait a moment for other jobs, so that they share a transaction.
        Raises what the job raises, DiskFull, Unavailable, Corrupt. If
        cancelled, the job may still happen.
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
        with trio.move_on_after(CLOSE_WITHIN, shield=True):
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
    """A store on the writer and the readers of an engine. vault: the key of sealed values."""

    def __init__(self, writer: Writer, readers: Reading, vault: Vault) -> None:
        self._writer, self._readers, self._vault = writer, readers, vault


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
