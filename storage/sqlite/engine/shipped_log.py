"""The write-ahead log between the writer, who starts it over, and the shipper, who must have read it before.

While somebody ships, SQLite makes no checkpoint of its own. The writer makes one when the log is large and the shipper
has read nearly all of it: it reads the rest itself, keeps that for the shipper, and empties the log, with no commit
between. A shipper that is too far behind loses its chain, not the service its disk: see `MOST`.
"""

from __future__ import annotations

import os
import sqlite3
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Lock
from typing import IO

from storage.errors import ChainBroken
from storage.sqlite.engine.frames import (
    INDEX,
    Committed,
    Index,
    Position,
    Restarted,
    beginning,
    committed,
    read_index,
)

TURN_AT = 4 << 20
"""Bytes of the log from which the writer would like to empty it, as SQLite's own checkpoint does."""
REST = 512 << 10
"""Bytes that the writer reads itself at most, while the log is not much too large."""
LARGE = 16 * TURN_AT
MOST = 256 << 20
"""Bytes of the log at which the chain is given up."""
_AUTO = "PRAGMA wal_autocheckpoint={}"
_PAGES = 1000
_NOTHING = Committed({}, 0, Position(b"", 0))


class ShippedLog:
    """See above. `empty` tries to empty the log on the writer's connection, and returns whether it is empty."""

    def __init__(self, log: Path, empty: Callable[[sqlite3.Connection], bool]) -> None:
        self._log, self._empty = log, empty
        self._lock = Lock()
        self._on = self._wanted = self._copying = self._ours = False
        self._position: Position | None = None  # None: the log was empty, what comes is at its beginning
        self._turned: Position | None = None
        self._rest: deque[Committed | None] = deque()
        self._index: int | None = None
        self.broken = ""

    def __repr__(self) -> str:
        state = self.broken or ("copying" if self._copying else "on" if self._on else "off")
        return f"<ShippedLog {self._log}: {state}>"

    # --- the shipper's side, on a thread of its own -------------------------------------------------------------------

    def want(self) -> None:
        """Ask for a new chain, after the next commit; nothing happens when one begins already."""
        with self._lock:
            if self.broken:
                self.broken = ""
            self._wanted = None not in self._rest

    def read(self) -> Committed | None:
        """Return what follows; nothing committed (a size of 0) when all is read, None where a new chain begins.

        Raises ChainBroken.
        """
        with self._lock:
            if self.broken:
                raise ChainBroken(self.broken)
            if self._rest:
                return self._rest.popleft()
            return self._read() if self._on else _NOTHING

    def copied(self) -> None:
        """Let the log be emptied into the database again. Raises ChainBroken: it was, before the copy was whole."""
        with self._lock:
            if not self._copying:
                raise ChainBroken(self.broken or "the chain ended before its copy was whole")
            self._copying = False

    def end(self) -> None:
        """Leave the log to SQLite, from the next commit on."""
        with self._lock:
            self._off()

    def close(self) -> None:
        """Put the index away, once SQLite's connections are closed."""
        if self._index is not None:
            os.close(self._index)
            self._index = None

    def unread(self) -> int:
        """Return about how many bytes of the log are not read."""
        kept = sum(sum(map(len, found.pages.values())) for found in tuple(self._rest) if found is not None)
        if not self._on:
            return kept
        position = self._position
        return kept + max(0, self._size() - (0 if position is None else position.offset))

    # --- the writer's side -------------------------------------------------------------------------------------------

    def after_commit(self, connection: sqlite3.Connection, size: int) -> bool:
        """Empty a log of this size if need be; return False when it is left to SQLite. Raises sqlite3.Error."""
        if not (self._on or self._wanted):
            if self._ours:
                connection.execute(_AUTO.format(_PAGES)).fetchone()
                self._ours = False
            return False
        if not self._ours:
            connection.execute(_AUTO.format(0)).fetchone()
            self._ours = True
        if self._on and size > MOST and self._lock.acquire(timeout=1):
            with _releasing(self._lock):
                self._give_up(f"the log grew past {MOST >> 20} MB before it could be shipped")
            return self.after_commit(connection, 0)
        if self._wanted or (size >= TURN_AT and not self._copying):
            self._turn(connection, size)
        return True

    def _turn(self, connection: sqlite3.Connection, size: int) -> None:
        if not self._lock.acquire(blocking=False):  # the shipper reads: the next commit tries again
            return
        with _releasing(self._lock):
            if self._on:
                behind = size - (0 if self._position is None else self._position.offset)
                if self._rest or behind > (REST if size < LARGE else LARGE):
                    return
                while (found := self._read()).size:
                    self._rest.append(found)
                self._turned = self._position
            if not self._empty(connection):
                return
            self._position = self._turned = None
            if self._wanted:
                self._on, self._copying, self._wanted = True, True, False
                self._rest.append(None)

    # --- with the lock held ------------------------------------------------------------------------------------------

    def _read(self) -> Committed:
        index = self._committed()
        if index is None:
            return _NOTHING
        try:
            with self._log.open("rb") as log:
                return self._found(log, index)
        except FileNotFoundError:
            return _NOTHING

    def _committed(self) -> Index | None:
        """Return what is committed. The index is kept open: closing it would end SQLite's locks on it (POSIX)."""
        if self._index is None:
            try:
                self._index = os.open(self._log.with_name(self._log.name[:-3] + "shm"), os.O_RDONLY | os.O_CLOEXEC)
            except FileNotFoundError:
                return None
        return read_index(os.pread(self._index, 2 * INDEX, 0))

    def _found(self, log: IO[bytes], index: Index) -> Committed:
        position = self._position or beginning(index)
        if position is None:
            return _NOTHING
        try:
            found = committed(log, position, index)
        except Restarted:
            if self._position is None or self._position != self._turned:
                self._give_up("another program emptied the log")
                raise ChainBroken(self.broken) from None
            self._position = self._turned = None
            return self._found(log, index)
        self._position = found.position
        return found

    def _give_up(self, why: str) -> None:
        self._off()
        self.broken = why

    def _off(self) -> None:
        self._on = self._wanted = self._copying = False
        self._position = self._turned = None
        self._rest.clear()
        self.broken = ""

    def _size(self) -> int:
        try:
            return self._log.stat().st_size
        except OSError:
            return 0


@contextmanager
def _releasing(lock: Lock) -> Iterator[None]:
    try:
        yield
    finally:
        lock.release()
