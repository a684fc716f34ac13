"""Opening the data folder: the engine for the server, and the keys for commands.

The order matters: the folder's lock, the master key, the schema, a test that every sealed secret opens, this start's
epoch (which fences off every earlier start), the log's newest position with the head mark, and only then the readers.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, suppress
from pathlib import Path
from typing import NamedTuple, TypeVar

import trio

from storage.append import Lease
from storage.errors import Locked
from storage.records.access import SigningKey
from storage.records.identity import START, Seq, millis_of, rfc3339
from storage.secrets import Connection, Vault, examine_boxes
from storage.secrets import mark as note_key
from storage.sql.storage import Places, Storage
from storage.sql.stores import log
from storage.sql.stores.people import CommandKeys, all_signing, insert_signing
from storage.sqlite import engine
from storage.sqlite.engine import connect
from storage.sqlite.master_key import OTHER, mark_of, settle, unlock
from storage.sqlite.upkeep import rebuild, scrub, upgrade

T = TypeVar("T")
_ABOVE = "SELECT coalesce(max(value), 0) FROM fact WHERE name='above'"
"""Another start may have assigned positions up to it that are missing here (a standby that took over)."""
REBUILT = 1 << 30
"""Largest database, in bytes, that a start copies (in seconds) so that it can shrink; `migrate` copies larger ones."""


async def open_sqlite(
    folder: Path,
    *,
    clock: Callable[[], float],
    owner: str,
    warn: Callable[[str], None],
    named: Vault | None = None,
    doing: Callable[[str], None] = lambda _says: None,
) -> Storage:
    """Open the engine over a folder, which is created if missing. clock: the wall clock, in seconds. owner: names the
    process in the lease. warn: gets sentences for the operator. doing: gets the name of each slow step, from another
    thread. named: the master key that the owner named, if any, see `master_key.py`. Raises Locked, NoKey, NewerSchema,
    Corrupt, DiskFull, Unavailable, and OSError if the folder cannot be created.
    """
    database = engine.prepare(folder)
    lock = engine.FolderLock(folder)
    with ExitStack() as undo:
        undo.callback(lock.release)
        opened = await trio.to_thread.run_sync(_open, database, lock, engine.HeadMark(folder), named, doing)
        undo.callback(opened.close)
        for sentence in opened.warnings:
            warn(sentence)
        own = connect(database, engine.READER, read_only=True)
        undo.callback(own.close)
        wal = engine.Wal(database, clock)
        writer = engine.WriterThread(opened.mark, wal, clock, warn, opened.vault)
        parts = _Parts(lock, own, engine.ReaderPool(database), writer, wal, database)
        storage = SqliteStorage(parts, Lease(0, owner, opened.epoch), opened.known, opened.vault)
        writer.start(opened.connection, opened.newest)
        undo.pop_all()
    return storage


class _Parts(NamedTuple):
    lock: engine.FolderLock
    own: sqlite3.Connection
    readers: engine.ReaderPool
    writer: engine.WriterThread
    wal: engine.Wal
    database: Path


class SqliteStorage(Storage):
    """`known`: the newest position readers may have seen. closing: closes an extra's descriptors after SQLite's."""

    def __init__(self, parts: _Parts, lease: Lease, known: Seq, vault: Vault) -> None:
        self._parts = parts
        self.thread, self.wal, self.database = parts.writer, parts.wal, parts.database
        self.closing: list[Callable[[], None]] = []
        self._is = engine.identity(parts.database)
        own = engine.OwnConnection(parts.own)
        super().__init__(Places(parts.writer, parts.writer, parts.readers, own), engine.SPACE, lease, known, vault)

    def __repr__(self) -> str:
        return f"SqliteStorage({self.lease}, {self.thread}, {self._parts.readers})"

    def writer_moved_at(self) -> float:
        return self.thread.moved_at()

    async def wait_ended(self) -> str:
        return await self.thread.wait_ended()

    def stands(self) -> bool:
        """Return whether the database is still the file at its path; SQLite itself keeps using a deleted file."""
        return engine.identity(self.database) == self._is

    def sizes(self) -> Mapping[str, int]:
        files = {"database": self.database, "wal": self.wal.path}
        found = {}
        for name, path in files.items():
            with suppress(OSError):  # the file is missing, or its folder is for a moment
                found[name] = path.stat().st_size
        return found

    async def aclose(self) -> None:
        """Finish pending writes, fsync, close; see Storage. Keeps the lock if the writer does not finish in time."""
        # The writer's connection closes last: only a writable connection that closes last removes the WAL.
        await self._parts.readers.aclose()
        self._parts.own.close()
        if await self.thread.aclose():
            for close in self.closing:
                close()
            self._parts.lock.release()


class _Opened(NamedTuple):
    """A writer's connection and data from its database. `known`: the newest position that any reader may have seen."""

    connection: sqlite3.Connection
    mark: engine.HeadMark
    epoch: int
    newest: Seq
    known: Seq
    warnings: Sequence[str]
    vault: Vault

    def close(self) -> None:
        self.mark.close()
        self.connection.close()


def _open(
    database: Path, lock: engine.FolderLock, mark: engine.HeadMark, named: Vault | None, doing: Callable[[str], None]
) -> _Opened:
    with engine.opening(database.parent), ExitStack() as undo, engine.translated():
        lock.acquire()
        rebuild(database, at_most=REBUILT)
        connection = connect(database, engine.WRITER)
        undo.callback(connection.close)
        undo.callback(mark.close)
        if 0 < engine.version_of(connection) < len(engine.STEPS):
            doing("upgrading the database")
        vault, warnings = _unlocked(connection, database, named)
        doing("reading the database")
        (epoch,) = connection.execute("UPDATE fact SET value=value+1 WHERE name='epoch' RETURNING value").fetchone()
        newest = log.bounds(connection, START).newest
        try:
            marked = mark.read()
        except ValueError as error:
            marked = START
            warnings.append(f"the head mark is damaged and is recreated: {error}")
        (above,) = connection.execute(_ABOVE).fetchone()
        if marked > newest:
            ends = f"at {rfc3339(millis_of(newest))}" if newest else "before its first event"
            warnings.append(
                f"EVENTS ARE MISSING: the log ends {ends}, but events up to {rfc3339(millis_of(marked))} had been "
                "committed. The write-ahead log was probably deleted or damaged. New ids go on above the lost ones."
            )
        undo.pop_all()
    return _Opened(connection, mark, epoch, newest, Seq(max(newest, marked, above)), warnings, vault)


def _unlocked(connection: sqlite3.Connection, database: Path, named: Vault | None) -> tuple[Vault, list[str]]:
    folder = database.parent
    engine.version_of(connection)
    vault, own = unlock(connection, folder, named)
    warnings = [OTHER] if own else []
    if (copy := upgrade(connection, database, vault)) is not None:
        warnings.append(f"the database was upgraded; as it was, it is in {copy} (docs/upgrade.md)")
    if mark_of(connection) is None:
        note_key(connection, vault)
    settle(folder, vault)
    examine_boxes(connection, vault)
    if not scrub(connection):
        warnings.append("there was no room to rewrite the database: its free pages may still hold older secrets")
    return vault, warnings


class SqliteKeys(CommandKeys, AbstractContextManager["SqliteKeys"]):
    """The keys of a folder, with or without a running server."""

    def __init__(self, connection: sqlite3.Connection, folder: Path, named: Vault | None = None) -> None:
        self._connection, self._folder, self._named = connection, folder, named

    def __exit__(self, *exc: object) -> None:
        self.close()

    def signing(self) -> Sequence[SigningKey]:
        with engine.translated():
            if mark_of(self._connection) is None:
                return []
            return all_signing(self._connection, unlock(self._connection, self._folder, self._named).vault)

    def add_signing(self, key: SigningKey) -> None:
        with engine.translated(), self._connection:
            self._connection.execute("BEGIN IMMEDIATE")  # first: no other process can change the master key after it
            vault = unlock(self._connection, self._folder, self._named).vault
            if mark_of(self._connection) is None:
                note_key(self._connection, vault)
            insert_signing(self._connection, key, vault)

    def close(self) -> None:
        self._connection.close()

    def _run(self, act: Callable[[Connection], T]) -> T:
        with engine.translated():  # each act is one statement, and one transaction
            return act(self._connection)


def open_keys(folder: Path, named: Vault | None = None) -> SqliteKeys:
    """Create folder and database if missing. Raises as `open_sqlite`; Locked if a server holds an older schema."""
    database = engine.prepare(folder)
    with engine.opening(folder), ExitStack() as undo, engine.translated():
        connection = connect(database, engine.COMMAND)
        undo.callback(connection.close)
        version = engine.version_of(connection)
        if version < len(engine.STEPS):
            lock = engine.FolderLock(folder)
            try:
                lock.acquire()
            except Locked:
                if version:
                    raise Locked("the running service is older than this program: restart it, then retry") from None
                raise
            undo.callback(lock.release)
            upgrade(connection, database, unlock(connection, folder, named).vault if version else None)
            scrub(connection)
            lock.release()
        undo.pop_all()
    return SqliteKeys(connection, folder, named)
