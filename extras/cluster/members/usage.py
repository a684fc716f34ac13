"""Rate limits over all nodes: each learns the others' admitted requests, about a second late.

Each beat has the counts of recent clients at this node, from when they were first recorded. The others charge the
difference to their own buckets. So a client may exceed its rate by its requests to other nodes within a beat.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping
from hashlib import blake2b

from storage.records.member import View

TOLD = 256
"""Most counts in a beat, of the most recent clients."""
KEPT = 60.0
"""Seconds until an inactive client is dropped."""


class Usage:
    """The usage of all nodes. Clients are sent as hashes."""

    def __init__(self) -> None:
        self._taken: OrderedDict[str, tuple[int, float]] = OrderedDict()
        self._heard: dict[str, Mapping[str, int]] = {}
        self._owed: dict[str, int] = {}

    def __repr__(self) -> str:
        return f"<Usage told={len(self._taken)} owed={len(self._owed)}>"

    def owed(self, who: str) -> int:
        """Return a client's usage at other nodes since the last call."""
        return self._owed.pop(_name(who), 0) if self._owed else 0

    def took(self, who: str, now: float) -> None:
        """Count a client's request here."""
        name = _name(who)
        self._taken[name] = (self._taken.get(name, (0, 0.0))[0] + 1, now)
        self._taken.move_to_end(name)
        if len(self._taken) > TOLD:
            self._taken.popitem(last=False)

    def told(self, now: float) -> Mapping[str, int]:
        """Return the counts for the other nodes."""
        while self._taken and next(iter(self._taken.values()))[1] < now - KEPT:
            self._taken.popitem(last=False)
        return {name: count for name, (count, _) in self._taken.items()}

    def hear(self, view: View, me: str) -> None:
        """Take the other nodes' counts. Counts from before this node knew a member are not charged."""
        before, self._heard = self._heard, {}
        for member in view.members:
            if member.id == me or not member.inside:
                continue
            taken = self._heard[member.id] = member.says.taken
            known = before.get(member.id)
            if known is None:
                continue
            for name, count in taken.items():
                was = known.get(name, 0)
                more = count - was if count >= was else count  # a dropped count restarts
                if more:
                    self._owed[name] = self._owed.get(name, 0) + more
        while len(self._owed) > len(view.members) * TOLD:
            del self._owed[next(iter(self._owed))]


def _name(who: str) -> str:
    return blake2b(who.encode(), digest_size=8).hexdigest()
