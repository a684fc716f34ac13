"""The write-ahead log: keeping it small while readers overlap.

SQLite's own checkpoint, after each 1,000 pages, copies only pages that no reader needs, and restarts the WAL only when
no reader is using it. With a few readers that replay without pause, one always is, so the WAL would grow until they
stop. Above a size the writer therefore waits for the present readers, for about one page's time, and cuts the WAL.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from pathlib import Path

CUT_AT = 16 << 20
"""Size of the WAL in bytes above which it is cut. An ordinary WAL stays at about 4 MB."""
PATIENCE = 0.1
"""Seconds that the writer waits for readers."""
AGAIN = 1.0
"""Seconds until the next attempt after a reader (a backup) held a snapshot for longer than that."""


class Wal:
    """The WAL of a database, as its writer sees it. An extra that reads the log sets `keeps`."""

    keeps: Callable[[sqlite3.Connection, int], bool] | None = None
    """Gets the log's size after each commit, and returns whether it has decided about the log. Raises sqlite3.Error."""

    def __init__(self, database: Path, clock: Callable[[], float]) -> None:
        self.path = database.with_name(database.name + "-wal")
        self._clock = clock
        self._tried_at = 0.0

    def after_commit(self, connection: sqlite3.Connection) -> None:
        """Cut the WAL if it is too large. Raises sqlite3.Error; the commit is not affected."""
        try:
            size = self.path.stat().st_size
        except FileNotFoundError:
            return
        if self.keeps is not None and self.keeps(connection, size):
            return
        if size <= CUT_AT or abs(self._clock() - self._tried_at) < AGAIN:
            return
        # If a reader holds a snapshot for long, waiting at each commit would be worse than a larger WAL.
        self._tried_at = 0.0 if emptied(connection) else self._clock()


def emptied(connection: sqlite3.Connection) -> bool:
    """Copy the whole WAL into the database and cut it to nothing; return whether readers allowed it."""
    (patience,) = connection.execute("PRAGMA busy_timeout").fetchone()
    connection.execute(f"PRAGMA busy_timeout={int(PATIENCE * 1000)}").fetchone()
    try:
        (busy, _, _) = connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
    finally:
        connection.execute(f"PRAGMA busy_timeout={patience}").fetchone()
    return not busy
