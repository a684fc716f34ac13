"""The write-ahead log: keeping it small while readers overlap, and read by the shipper before it is emptied.

SQLite's own checkpoint, after each 1,000 pages, copies only pages that no reader needs, and restarts the WAL only when
no reader is using it. With a few readers that replay without pause, one always is, so the WAL would grow until they
stop. Above a size the writer therefore waits for the present readers, for about one page's time, and cuts the WAL.

During shipping SQLite makes no checkpoints. The writer makes one when the log is large and the shipper has read nearly
all of it: the writer reads the rest, keeps that for the shipper, and empties the log, with no commit in between. A
shipper that is too far behind loses its chain, so that the disk does not fill up: see `MOST`.
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
"""The writer tries to empty a log of this many bytes, like SQLite's own checkpoint."""
REST = 512 << 10
"""Most bytes that the writer reads itself, while the log is below LARGE."""
LARGE = 16 * TURN_AT
MOST = 256 << 20
"""A log of more bytes ends the chain."""
_AUTO = "PRAGMA wal_autocheckpoint={}"
_PAGES = 1000
_NOTHING = Committed({}, 0, Position(b"", 0))


class ShippedLog:
    """See above. `empty` tries to empty the log on the writer's connection, and returns whether it did."""

    def __init__(self, log: Path, empty: Callable[[sqlite3.Connection], bool]) -> None:
        self._log, self._empty = log, empty
        self._lock = Lock()
        self._on = self._wanted = self._copying = self._ours = False
        self._position: Position | None = None  # None: the log was empty, the next frame is its first
        self._turned: Position | None = None
        self._rest: deque[Committed | None] = deque()
        self._index: int | None = None
        self.broken = ""

    def __repr__(self) -> str:
        state = self.broken or ("copying" if self._copying else "on" if self._on else "off")
        return f"<ShippedLog {self._log}: {state}>"

    # --- the shipper's side, on its own thread -----------------------------------------------------------------------

    def want(self) -> None:
        """Ask for a new chain, to begin after the next commit; do nothing if one is beginning."""
        with self._lock:
            if self.broken:
                self.broken = ""
            self._wanted = None not in self._rest

    def read(self) -> Committed | None:
        """Return the next transactions; size 0 if all is read, None where a new chain begins.

        Raises ChainBroken.
        """
        with self._lock:
            if self.broken:
                raise ChainBroken(self.broken)
            if self._rest:
                return self._rest.popleft()
            return self._read() if self._on else _NOTHING

    def copied(self) -> None:
        """Let the log be emptied into the database again. Raises ChainBroken if that happened during the copy."""
        with self._lock:
            if not self._copying:
                raise ChainBroken(self.broken or "the chain ended before its copy was whole")
            self._copying = False

    def end(self) -> None:
        """Leave the log to SQLite, from the next commit on."""
        with self._lock:
            self._off()

    def close(self) -> None:
        """Close the index, after SQLite's connections are closed."""
        if self._index is not None:
            os.close(self._index)
            self._index = None

    def unread(self) -> int:
        """Return approximately how many bytes of the log are unread."""
        kept = sum(sum(map(len, found.pages.values())) for found in tuple(self._rest) if found is not None)
        if not self._on:
            return kept
        position = self._position
        return kept + max(0, self._size() - (0 if position is None else position.offset))

    # --- the writer's side -------------------------------------------------------------------------------------------

    def after_commit(self, connection: sqlite3.Connection, size: int) -> bool:
        """Empty a log of this size if necessary; return False if it is left to SQLite. Raises sqlite3.Error."""
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
        if not self._lock.acquire(blocking=False):  # the shipper is reading: the next commit tries again
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
        """Return the committed index. Its file stays open: closing it would release SQLite's locks on it (POSIX)."""
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


CUT_AT = 16 << 20
"""Size of the WAL in bytes above which it is cut. An ordinary WAL stays at about 4 MB."""
PATIENCE = 0.1
"""Seconds that the writer waits for readers."""
AGAIN = 1.0
"""Seconds until the next attempt after a reader (a backup) held a snapshot for longer than that."""


class Wal:
    """The WAL of a database, as its writer sees it."""

    def __init__(self, database: Path, clock: Callable[[], float]) -> None:
        self._path = database.with_name(database.name + "-wal")
        self._clock = clock
        self._tried_at = 0.0
        self.shipped = ShippedLog(self._path, _emptied)

    def after_commit(self, connection: sqlite3.Connection) -> None:
        """Cut the WAL if it is too large. Raises sqlite3.Error; the commit is not affected."""
        try:
            size = self._path.stat().st_size
        except FileNotFoundError:
            return
        if self.shipped.after_commit(connection, size):
            return
        if size <= CUT_AT or abs(self._clock() - self._tried_at) < AGAIN:
            return
        # If a reader holds a snapshot for long, waiting at each commit would be worse than a larger WAL.
        self._tried_at = 0.0 if _emptied(connection) else self._clock()


def _emptied(connection: sqlite3.Connection) -> bool:
    """Copy the whole WAL into the database and cut it to nothing; return whether readers allowed it."""
    (patience,) = connection.execute("PRAGMA busy_timeout").fetchone()
    connection.execute(f"PRAGMA busy_timeout={int(PATIENCE * 1000)}").fetchone()
    try:
        (busy, _, _) = connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
    finally:
        connection.execute(f"PRAGMA busy_timeout={patience}").fetchone()
    return not busy
