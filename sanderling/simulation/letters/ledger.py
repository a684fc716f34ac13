"""The destinations on the simulated disk, and what each of their durable changes owes to people.

Users and the service itself may change a destination between two glances of anyone: only who sees each commit can say
how often one was disabled.
"""

from __future__ import annotations

from collections import Counter

from storage.records.destination import Destination

_NOTICE = "destination_disabled"


class Ledger(dict[str, Destination]):
    """A table of destinations that counts. falls: how often each was disabled by the service.

    spared: how often that was no longer owed before it was told: all was well again, or newer news took its place.
    """

    def __init__(self) -> None:
        super().__init__()
        self.falls: Counter[str] = Counter()
        self.spared: Counter[str] = Counter()

    def __setitem__(self, id: str, new: Destination) -> None:
        old = self.get(id)
        if old is not None:
            fallen = new.state == "disabled" and old.state != "disabled"
            moved = (new.state, new.told) != (old.state, old.told)
            self.falls[id] += fallen
            # What the log pays of a debt changes nothing else.
            self.spared[id] += old.owes == _NOTICE and (fallen or (moved and new.owes != _NOTICE))
        super().__setitem__(id, new)

    def due(self, id: str) -> int:
        """Return how often it must have been told by now that a destination was disabled."""
        known = self.get(id)
        waits = known is not None and known.owes == _NOTICE
        return self.falls[id] - self.spared[id] - waits
