"""The order in which events reached the simulated disk, which SQL does not say: a log is sorted by its positions."""

from __future__ import annotations

from collections.abc import Sequence

from storage.sqlite.in_loop import Disk

_WATCH = """
    CREATE TEMP TABLE arrival(number INTEGER PRIMARY KEY, seq INTEGER NOT NULL, body BLOB NOT NULL);
    CREATE TEMP TRIGGER arrives AFTER INSERT ON main.log
        BEGIN INSERT INTO arrival(seq, body) VALUES(NEW.seq, NEW.body); END;
"""


class Arrivals:
    """Notes each event in the transaction that commits it; what is rolled back never came."""

    def __init__(self, disk: Disk) -> None:
        self._connection = disk.connection
        self._connection.executescript(_WATCH)

    def take(self) -> Sequence[tuple[int, bytes]]:
        """Return position and body of what came since the last call, in order, and forget it."""
        rows = self._connection.execute("SELECT seq, body FROM arrival ORDER BY number").fetchall()
        self._connection.execute("DELETE FROM arrival")
        return rows
