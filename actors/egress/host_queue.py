"""The queue at one host. Pure.

Two lanes. What a person waits for (adding, detecting, checking now) is called first come first served; of all other
looks, the one whose source was looked at longest ago. So a source that wants less than its share of a crowded host
gets all that it wants, and those that want more share the rest evenly: max-min fairness, whatever the cadences are
(Bertsekas and Gallager, Data Networks, 6.5.2). While others wait, the first lane gets at most `IN_A_ROW` turns before
one of the second, so whoever adds sources by the thousand stops no watching.

A source waits for one turn at a time, so a queue is no longer than its host's sources and the questions under way.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from actors.tracing.steps import LookSteps

IN_A_ROW: Final = 3
_FEW: Final = 32
_NOWHERE: Final = 0


@dataclass(frozen=True, slots=True)
class Ticket:
    """Who asks for a turn. name: of the source, "" for nobody's. last: when it was looked at last, by a clock that all
    claims share. asked: somebody waits for it. steps: notes what happens on its way; None: nobody wants to know. own:
    it is the source's actor that asks, which is stopped when the source is changed.
    """

    name: str = ""
    last: float = 0.0
    asked: bool = False
    steps: LookSteps | None = field(default=None, compare=False)
    own: bool = False


ASKED: Final = Ticket(asked=True)
"""The claim of a question about a URL that is no source yet."""


@dataclass(slots=True, eq=False)
class Waiter:
    """A place in a queue. call: what its owner wants to be done when its turn has come."""

    claim: Ticket
    call: Callable[[], None]
    number: int = _NOWHERE


_Lane = list[tuple[float, int, Waiter]]
"""A heap. An entry counts while its waiter has the number in it; leaving and moving leave one behind that does not."""


class Queue:
    """Who waits at one host. Joining, leaving and calling cost the logarithm of its length; a place, all of it."""

    def __init__(self) -> None:
        self._asked: _Lane = []
        self._others: _Lane = []
        self._numbers = _NOWHERE
        self._waiting = 0
        self._streak = 0

    def __len__(self) -> int:
        return self._waiting

    def __repr__(self) -> str:
        return f"<Queue of {self._waiting}, {sum(1 for _ in _waiting(self._asked))} of them asked for>"

    def join(self, waiter: Waiter) -> None:
        """Give a place, behind those of the same lane that come before."""
        self._waiting += 1
        self._numbers += 1
        waiter.number = self._numbers
        key = 0.0 if waiter.claim.asked else waiter.claim.last
        heapq.heappush(self._asked if waiter.claim.asked else self._others, (key, waiter.number, waiter))

    def leave(self, waiter: Waiter) -> None:
        """Give up a place; nothing when it has been called already."""
        if waiter.number == _NOWHERE:
            return
        self._waiting -= 1
        waiter.number = _NOWHERE
        if len(self._asked) + len(self._others) > 2 * self._waiting + _FEW:
            self._asked, self._others = sorted(_waiting(self._asked)), sorted(_waiting(self._others))

    def next(self) -> Waiter | None:
        """Take out whose turn it is; None when nobody waits."""
        asked, others = _headed(self._asked), _headed(self._others)
        lane = others if others and (not asked or self._streak >= IN_A_ROW) else asked
        self._streak = self._streak + 1 if others and lane is asked else 0
        if not lane:
            return None
        waiter = heapq.heappop(lane)[-1]
        self._waiting -= 1
        waiter.number = _NOWHERE
        return waiter

    def hurry(self, name: str) -> bool:
        """Move a source that waits to the lane of what is asked for; return whether it waits."""
        found = next((waiter for _, _, waiter in self._entries() if waiter.claim.name == name), None)
        if found is not None and not found.claim.asked:
            self.leave(found)
            found.claim = replace(found.claim, asked=True)
            self.join(found)
        return found is not None

    def before(self, name: str) -> int:
        """Return how many wait before a source, lanes taken one after the other; 0 when it does not wait."""
        place = 0
        for lane in (self._asked, self._others):
            for _, _, waiter in sorted(_waiting(lane)):
                if waiter.claim.name == name:
                    return place
                place += 1
        return 0

    def absorb(self, other: Queue) -> None:
        """Take over all who wait in another queue, in their order."""
        for _, _, waiter in sorted(other._asked) + sorted(other._others):
            if waiter.number != _NOWHERE:
                other.leave(waiter)
                self.join(waiter)

    def _entries(self) -> Iterator[tuple[float, int, Waiter]]:
        yield from _waiting(self._asked)
        yield from _waiting(self._others)


def _waiting(lane: _Lane) -> Iterator[tuple[float, int, Waiter]]:
    return (entry for entry in lane if entry[-1].number == entry[1])


def _headed(lane: _Lane) -> _Lane:
    """Drop what no longer counts from the head of a lane."""
    while lane and lane[0][-1].number != lane[0][1]:
        heapq.heappop(lane)
    return lane
