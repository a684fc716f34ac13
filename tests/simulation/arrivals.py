"""The order of events on the simulated disk. SQL does not show it: a log is sorted by its positions."""

from __future__ import annotations

from collections.abc import Sequence

from tests.support.in_loop import Disk

_WATCH = """
    CREATE TEMP TABLE arrival(number INTEGER PRIMARY KEY, seq INTEGER NOT NULL, body BLOB NOT NULL);
    CREATE TEMP TRIGGER arrives AFTER INSERT ON main.log
        BEGIN INSERT INTO arrival(seq, body) VALUES(NEW.seq, NEW.body); END;
"""


class Arrivals:
    """Records each event in the transaction that commits it; a rollback removes it."""

    def __init__(self, disk: Disk) -> None:
        self._connection = disk.connection
        self._connection.executescript(_WATCH)

    def take(self) -> Sequence[tuple[int, bytes]]:
        """Return position and body of all events since the last call, in order, and forget them."""
        rows = self._connection.execute("SELECT seq, body FROM arrival ORDER BY number").fetchall()
        self._connection.execute("DELETE FROM arrival")
        return rows
