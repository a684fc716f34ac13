"""The destinations on the simulated disk, and the notices that each durable change owes to people.

Users and the service may change a destination between two glances: only an observer of each commit can count how often
one was disabled.
"""

from __future__ import annotations

from collections import Counter

import msgspec

from storage.records.destination import Destination
from tests.support.in_loop import Disk

_decode = msgspec.json.Decoder(Destination).decode
_TRIGGERS = """
    CREATE TEMP TRIGGER ledger_put AFTER INSERT ON main.destination BEGIN SELECT ledger(NEW.id, NEW.body); END;
    CREATE TEMP TRIGGER ledger_change AFTER UPDATE OF body ON main.destination
        BEGIN SELECT ledger(NEW.id, NEW.body); END;
    CREATE TEMP TRIGGER ledger_gone AFTER DELETE ON main.destination BEGIN SELECT ledger(OLD.id, NULL); END;
"""
_NOTICE = "destination_disabled"


class Ledger:
    """A table of destinations that counts each write. falls: how often the service disabled each.

    spared: how often a notice lapsed before it was sent: after a recovery, or replaced by a newer one.
    """

    def __init__(self, disk: Disk) -> None:
        self._known: dict[str, Destination] = {}
        self.falls: Counter[str] = Counter()
        self.spared: Counter[str] = Counter()
        disk.connection.create_function("ledger", 2, self._write)
        disk.connection.executescript(_TRIGGERS)

    def _write(self, id: str, body: bytes | None) -> None:
        if body is None:
            self._known.pop(id, None)
            return
        new, old = _decode(body), self._known.get(id)
        if old is not None:
            fallen = new.state == "disabled" and old.state != "disabled"
            moved = (new.state, new.told) != (old.state, old.told)
            self.falls[id] += fallen
            # Paying a debt to the log changes nothing else.
            self.spared[id] += old.owes == _NOTICE and (fallen or (moved and new.owes != _NOTICE))
        self._known[id] = new

    def due(self, id: str) -> int:
        """Return how many "destination disabled" notices must exist by now."""
        known = self._known.get(id)
        waits = known is not None and known.owes == _NOTICE
        return self.falls[id] - self.spared[id] - waits
