"""An opened engine: all stores on one writer and its readers. SQLite and PostgreSQL differ only in where these run.

`tests/storage/contract` runs one suite over all engines. Three guarantees matter most: `append` is one transaction
(events and source states, all or nothing) in the order of the ids; a read ends with its page; durable cursors move by
compare-and-set in one transaction with their effects. A cancelled write may still happen, and its caller must read to
find out. Every write names a `Lease`, whose epoch is the fencing token: where one start owns the data, writes of
earlier starts raise `Fenced`. On shared data (PostgreSQL) each write compares its starting point: a source's version, a
cursor, the alerts' revision, a row's claim.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple, TypeVar

import trio

from storage.append import Lease
from storage.errors import Corrupt
from storage.ownership import Members, Ownership
from storage.records.identity import Seq
from storage.records.member import ReplicaState
from storage.secrets import Connection, Vault
from storage.sql.stores.alerts import Alerts
from storage.sql.stores.bins import Bins
from storage.sql.stores.log import EventLog, Pictures
from storage.sql.stores.outbox import Outbox
from storage.sql.stores.people import Accounts, Calls, Keys, OAuth, People, ReadMarks, SavedViews
from storage.sql.stores.publications import Publications
from storage.sql.stores.sources import Coverage, Sources, TagsDefaults
from storage.sql.writing import Job, Lookups, Readers, Space, Writer, fenced
from storage.tail import Tail


class Damage:
    """The first damage found while the storage is open; only a backup repairs it. `says`: "" if there is none."""

    def __init__(self) -> None:
        self.says = ""
        self._known = trio.Event()

    def __repr__(self) -> str:
        return f"Damage({self.says!r})"

    @contextmanager
    def recorded(self) -> Iterator[None]:
        """Record Corrupt errors of the block and let them pass. On the loop only."""
        try:
            yield
        except Corrupt as error:
            if not self.says:
                self.says = str(error)
                self._known.set()
            raise

    async def wait(self) -> str:
        await self._known.wait()
        return self.says


T = TypeVar("T")


class GuardedWriter:
    """A Writer that records damage. lease: every job is refused once another start owns the data; None: jobs fence."""

    def __init__(self, writer: Writer, damage: Damage, lease: Lease | None = None) -> None:
        self._writer, self._damage, self._lease = writer, damage, lease

    async def submit(self, job: Job[T], **options: Any) -> T:
        with self._damage.recorded():
            return await self._writer.submit(job if self._lease is None else fenced(self._lease, job), **options)


class GuardedReaders:
    """Readers and look-ups that record damage."""

    def __init__(self, readers: Readers, lookups: Lookups, damage: Damage) -> None:
        self._readers, self._lookups, self._damage = readers, lookups, damage

    async def run(self, read: Callable[[Connection], T]) -> T:
        with self._damage.recorded():
            return await self._readers.run(read)

    async def one(self, query: str, parameters: Sequence[Any] = ()) -> Any:
        with self._damage.recorded():
            return await self._lookups.one(query, parameters)


class Places(NamedTuple):
    """Where an engine's stores run. The appender writes the log and the sources' states, the writer everything else."""

    appender: Writer
    writer: Writer
    readers: Readers
    lookups: Lookups


class Storage(ABC):
    """One opened engine. `known`: the newest position that any reader has seen. ownership: this process's share of the
    work. shipping: the changes for a replica, set by the extra that keeps one. replica: how far that is; None without
    one. members: the processes that work on the data. tail: the newest events, and the wake-up of waiting readers;
    filled by `follow`. damage: known damage to the data; callers that hit damage also got Corrupt. lease: of this
    start. writer, readers, vault: for the stores of extras.
    """

    shipping: object = None
    replica: ReplicaState | None = None

    def __init__(self, places: Places, space: Space, lease: Lease, known: Seq, vault: Vault) -> None:
        self.lease, self.damage = lease, Damage()
        appender, delivering = GuardedWriter(places.appender, self.damage), GuardedWriter(places.writer, self.damage)
        writer = GuardedWriter(places.writer, self.damage, lease)
        readers = GuardedReaders(places.readers, places.lookups, self.damage)
        self.writer, self.readers, self.vault = writer, readers, vault
        self.tail, self.ownership = Tail(known), Ownership()
        self.members = Members(f"{lease.owner}-{lease.epoch}")
        self.log = EventLog(appender, readers, vault, space, known, tail=self.tail)
        self.sources = Sources(appender, readers, vault)
        self.keys = Keys(writer, readers, vault)
        self.alerts = Alerts(writer, readers, vault)
        self.accounts = Accounts(writer, readers, vault)
        self.bins = Bins(writer, readers, vault)
        self.calls = Calls(writer, readers, vault)
        self.coverage = Coverage(writer, readers, vault)
        self.oauth = OAuth(writer, readers, vault)
        self.people = People(writer, readers, vault)
        self.outbox = Outbox(delivering, readers, vault)
        self.pictures = Pictures(writer, readers, vault)
        self.read_marks = ReadMarks(writer, readers, vault)
        self.saved_views = SavedViews(writer, readers, vault)
        self.tag_defaults = TagsDefaults(writer, readers, vault)
        self.publications = Publications(writer, readers, vault)

    async def follow(self) -> None:
        """Publish commits to readers, in order, until cancelled; one task. Retries while the log is unreadable."""
        await self.log.follower.run()

    @abstractmethod
    def writer_moved_at(self) -> float:
        """Return when the writer last finished a job or was idle, on trio's clock (for /healthz)."""

    @abstractmethod
    async def wait_ended(self) -> str:
        """Wait until this opened storage can never be written again; return why, "" after a close."""

    def stands(self) -> bool:
        """Return False if the data folder was deleted or replaced. Always True in memory, or on a server."""
        return True

    def sizes(self) -> Mapping[str, int]:
        """Return the bytes on disk of each file by its content; empty if it has no files."""
        return {}

    @abstractmethod
    async def aclose(self) -> None:
        """Finish pending writes, fsync, close. Safe to call twice."""
