"""Rate limits over all nodes: each hears what the others have let pass, about a second late.

Each beat tells how much each of those who asked lately took here, counted since it was first noted. The others charge
the difference to their own buckets. A client may so exceed its rate by what it sends to other nodes within a beat.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping
from hashlib import blake2b

from storage.records.member import View

TOLD = 256
"""Most counts that a beat tells: those of who asked last."""
KEPT = 60.0
"""Seconds for which somebody who does not ask any more is told of."""


class Usage:
    """See above. Who asks is told to the other nodes as a hash."""

    def __init__(self, *, shared: bool = False) -> None:
        self._shared = shared
        self._taken: OrderedDict[str, tuple[int, float]] = OrderedDict()
        self._heard: dict[str, Mapping[str, int]] = {}
        self._owed: dict[str, int] = {}

    def __repr__(self) -> str:
        return f"<Usage told={len(self._taken)} owed={len(self._owed)}>"

    def owed(self, who: str) -> int:
        """Return what somebody took elsewhere since this was asked last."""
        return self._owed.pop(_name(who), 0) if self._owed else 0

    def took(self, who: str, now: float) -> None:
        """Note that somebody took one here."""
        if not self._shared:
            return
        name = _name(who)
        self._taken[name] = (self._taken.get(name, (0, 0.0))[0] + 1, now)
        self._taken.move_to_end(name)
        if len(self._taken) > TOLD:
            self._taken.popitem(last=False)

    def told(self, now: float) -> Mapping[str, int]:
        """Return what the other nodes are to hear."""
        while self._taken and next(iter(self._taken.values()))[1] < now - KEPT:
            self._taken.popitem(last=False)
        return {name: count for name, (count, _) in self._taken.items()}

    def hear(self, view: View, me: str) -> None:
        """Take in what the others have told. What one told before this node knew it is nobody's debt."""
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
                more = count - was if count >= was else count  # a count that was forgotten begins anew
                if more:
                    self._owed[name] = self._owed.get(name, 0) + more
        while len(self._owed) > len(view.members) * TOLD:
            del self._owed[next(iter(self._owed))]


def _name(who: str) -> str:
    return blake2b(who.encode(), digest_size=8).hexdigest()
