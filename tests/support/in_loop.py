"""The engine without threads or files: the same stores and SQL on a database in memory, in the loop.

Simulations and tests of actors run on it, so they prove the SQL that users run, and one seed gives one trace. The
contract suite also covers the form with thread, group commit, files and locks; other tests kill real processes.

One connection serves the writer and the readers: no transaction is open across an await, so readers see only durable
data. The fsync is awaited first, with the writer's lock held, and the job then runs in one piece. So the job decides on
the same state, and a crash during the sync keeps or loses the whole commit.
"""

from __future__ import annotations

import random
import sqlite3
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from functools import cache, partial
from hashlib import blake2b
from typing import Any, Literal, TypeVar

import trio

from storage.append import Lease
from storage.errors import DiskFull, Fenced, Unavailable
from storage.records.event import EVERYTHING, Stored
from storage.records.identity import START, Seq, SourceId
from storage.records.source import WatchedSource
from storage.secrets import NONCE, SIZE, Vault, mark
from storage.sql.storage import Places, Storage
from storage.sql.stores import log
from storage.sql.stores import sources as stored
from storage.sql.writing import Job, Row, Transaction
from storage.sqlite.engine import SPACE, in_our_words, migrate, translated

T = TypeVar("T")

_BUMP = "UPDATE fact SET value=value+1 WHERE name='epoch' RETURNING value"


class _DrawnVault(Vault):
    """Uses a hash of the secret as nonce, because simulations forbid random numbers."""

    def seal(self, kind: str, name: str, secret: bytes) -> bytes:
        return self.seal_with(kind, name, secret, blake2b(name.encode() + secret, digest_size=NONCE).digest())


@cache
def vault() -> Vault:
    """Return the master key of every database in memory."""
    return _DrawnVault(bytes(range(SIZE)))


@cache
def _empty() -> sqlite3.Connection:
    """Return an empty database to copy; making the schema takes a hundred times as long."""
    connection = sqlite3.connect(":memory:", isolation_level=None)
    connection.execute("PRAGMA auto_vacuum=2")
    migrate(connection, vault=vault())
    mark(connection, vault())
    return connection


class Disk:
    """The data that survive a start. full: refuse every write. silent: end a write as Unavailable, before or after it
    happened. pending: a commit whose sync is under way.
    """

    def __init__(self) -> None:
        self.connection = sqlite3.connect(":memory:", isolation_level=None, cached_statements=512)
        _empty().backup(self.connection)
        self.connection.execute("PRAGMA foreign_keys=1")
        self.full = False
        self.silent: Literal["no", "before", "after"] = "no"
        self.epoch = 0
        self.pending: Callable[[], object] | None = None

    def __repr__(self) -> str:
        return f"Disk(epoch={self.epoch}, pending={self.pending is not None}, full={self.full})"

    def start(self, owner: str) -> Lease:
        """Begin a start and return its lease; earlier starts are fenced off."""
        (self.epoch,) = self.connection.execute(_BUMP).fetchone()
        return Lease(0, owner, self.epoch)

    def crash(self, chance: random.Random | None = None) -> None:
        """End every start at once, like `kill -9` or a power cut; their later writes raise Fenced.

        The commit that was not synced is lost; with `chance`, it may survive as a whole.
        """
        pending, self.pending = self.pending, None
        if pending is not None and chance is not None and chance.random() < 0.5:
            _survived(pending)
        self.start("nobody")

    def check(self, epoch: int) -> None:
        """Refuse an impossible write. Raises Fenced, DiskFull, Unavailable."""
        if epoch != self.epoch:
            raise Fenced(f"life {self.epoch} owns the data now, not life {epoch}")
        if self.full:
            raise DiskFull("the disk is full")
        if self.silent == "before":
            raise Unavailable("the disk does not answer")

    def transaction(self) -> Transaction:
        return Transaction(self.connection, vault())

    def run(self, job: Job[T]) -> T:
        """Run a job in one transaction; if it raises, nothing changes."""
        self.connection.execute("BEGIN IMMEDIATE")
        try:
            transaction = self.transaction()
            result = job(transaction)
            self.connection.execute("COMMIT")
        except BaseException as error:
            self.connection.execute("ROLLBACK")
            if isinstance(error, Exception) and (told := in_our_words(error)) is not error:
                raise told from error
            raise
        for hear in transaction.afterwards:
            hear(self.silent != "after")
        return result

    # --- durable data, independent of any start -----------------------------------------------------------------------

    def head(self) -> Seq:
        """Return the newest position that any reader may have seen."""
        return log.bounds(self.connection, START).newest

    def floor(self) -> Seq:
        """Return the floor of the log."""
        return log.bounds(self.connection, START).floor

    def events(self, after: Seq = START) -> Sequence[Stored]:
        found: list[Stored] = []
        pages, at = log.Pages(START), after
        while page := pages.read(self.connection, at, log.ScanRequest(log.MOST, EVERYTHING, log.MOST)).events:
            found += page
            at = page[-1].seq
        return found

    def sources(self) -> Mapping[SourceId, WatchedSource]:
        """Return all sources in id order."""
        rows = self.connection.execute(stored._WATCHED + f"WHERE {stored._THERE} ORDER BY k.id").fetchall()
        found = [stored.watched_of(row, vault()) for row in rows]
        return {watched.source.id: watched for watched in found}


def _survived(commit: Callable[[], object]) -> None:
    with suppress(Exception):  # no caller is left to get the job's error
        commit()


class InLoopStorage(Storage):
    """One start's engine over a disk; see Storage.

    lease: from `disk.start(owner)`. sync: awaited once per commit, in place of the fsync. seek: awaited once per read.
    Their errors reach the caller, and the commit has not happened. reach: gets the points around a commit, named after
    the writing method: `append/before sync`, `append/after sync`, `claim/before sync` ...
    """

    def __init__(
        self,
        disk: Disk,
        lease: Lease,
        sync: Callable[[], Awaitable[None]] = trio.lowlevel.checkpoint,
        reach: Callable[[str], None] = lambda name: None,
        seek: Callable[[], Awaitable[None]] = trio.lowlevel.checkpoint,
    ) -> None:
        self.disk = disk
        self._writer, self._readers = LoopWriter(disk, lease.epoch, sync, reach), LoopReaders(disk, seek)
        places = Places(self._writer, self._writer, self._readers, self._readers)
        super().__init__(places, SPACE, lease, disk.head(), vault())

    def __repr__(self) -> str:
        return f"InLoopStorage({self.lease}, {self.disk})"

    def writer_moved_at(self) -> float:
        return self._writer.moved_at()

    async def wait_ended(self) -> str:
        """Wait forever: there is no thread."""
        await trio.sleep_forever()
        raise AssertionError

    async def aclose(self) -> None:
        """Finish pending commits and refuse new ones. Safe to call twice."""
        await self._writer.aclose()
        self._readers.close()


class LoopWriter:
    """A Writer with one commit at a time, in order of arrival."""

    def __init__(
        self, disk: Disk, epoch: int, sync: Callable[[], Awaitable[None]], reach: Callable[[str], None]
    ) -> None:
        self._disk, self._epoch, self._sync, self._reach = disk, epoch, sync, reach
        self._turn = trio.Lock()
        self._closed = False
        self._moved_at: float | None = None

    async def submit(
        self, job: Job[T], *, events: int = 0, rows: int = 1, holds: Sequence[Row] = (), may_wait: bool = False
    ) -> T:
        """Run a job when its turn comes; see Writer.

        Cancelled before its turn, it does not happen. Cancelled during the sync, it still happens, as on a thread that
        cannot be stopped.
        """
        if self._closed:
            raise Unavailable("the storage is closed")
        if not self._turn.locked():
            self._moved_at = trio.current_time()
        async with self._turn:
            self._disk.check(self._epoch)
            name, commit = _writes(job), partial(self._disk.run, job)
            self._disk.pending = commit
            try:
                self._reach(f"{name}/before sync")
                await self._sync()
                self._disk.check(self._epoch)
            except trio.Cancelled:
                if self._drop(commit):
                    _survived(commit)
                raise
            except BaseException:
                self._drop(commit)
                raise
            self._drop(commit)
            result = commit()
            self._reach(f"{name}/after sync")
            self._moved_at = trio.current_time()
            if self._disk.silent == "after":
                raise Unavailable("the disk does not answer")
            return result

    def _drop(self, commit: Callable[[], object]) -> bool:
        """Remove a pending commit from the disk; return False if a crash already has."""
        mine = self._disk.pending is commit
        if mine:
            self._disk.pending = None
        return mine

    def moved_at(self) -> float:
        """Return when a commit last ended; now if none waits."""
        if self._moved_at is None or not self._turn.locked():
            return trio.current_time()
        return self._moved_at

    async def aclose(self) -> None:
        """Let waiting commits finish; refuse new ones."""
        self._closed = True
        with trio.move_on_after(30, shield=True):
            async with self._turn:
                pass


class LoopReaders:
    """Readers and look-ups on the loop's own connection."""

    def __init__(self, disk: Disk, seek: Callable[[], Awaitable[None]]) -> None:
        self._connection, self._seek = disk.connection, seek
        self._closed = False

    async def run(self, look: Callable[[sqlite3.Connection], T]) -> T:
        if self._closed:
            raise Unavailable("the storage is closed")
        await self._seek()
        with translated():
            return look(self._connection)

    async def one(self, query: str, given: Sequence[Any] = ()) -> Any:
        return await self.run(lambda connection: connection.execute(query, given).fetchone())

    def close(self) -> None:
        self._closed = True


def _writes(job: Job[Any]) -> str:
    """Return the name of the submitting method; a job is its partial, or a function inside it."""
    job = getattr(job, "__wrapped__", job)
    function = job.func if isinstance(job, partial) else job
    names = function.__qualname__.split(".<locals>")[0]
    return names.rpartition(".")[2].lstrip("_")
