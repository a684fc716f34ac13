"""The queue at one host. Pure.

There are two lanes. Requests that a person waits for (adding, detecting, checking now) are served first come, first
served; of all other checks, the one whose source was checked longest ago goes first. So a source that wants less than
its share of a crowded host gets all that it wants, and the others share the rest evenly: max-min fairness, for any
cadences (Bertsekas and Gallager, Data Networks, 6.5.2). While others wait, the first lane gets at most `IN_A_ROW`
turns before one of the second, so adding thousands of sources does not stop watching.

A source waits for one turn at a time, so a queue is at most as long as its host's sources and pending requests.
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
    """A request for a turn. name: of the source, "" for none. last: the time of its last check, by a clock shared by
    all tickets. asked: a person waits for it. steps: records the trace; None without one. own: the request of the
    source's actor, which is stopped when the source is edited.
    """

    name: str = ""
    last: float = 0.0
    asked: bool = False
    steps: LookSteps | None = field(default=None, compare=False)
    own: bool = False


ASKED: Final = Ticket(asked=True)
"""The ticket of a request about a URL that is no source yet."""


@dataclass(slots=True, eq=False)
class Waiter:
    """A place in a queue. call: called when its turn has come."""

    claim: Ticket
    call: Callable[[], None]
    number: int = _NOWHERE


_Lane = list[tuple[float, int, Waiter]]
"""A heap. An entry counts while its waiter has the same number; leaving and moving leave a stale one behind."""


class Queue:
    """The waiters at one host. Joining, leaving and calling cost the logarithm of its length; a place, all of it."""

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
        """Add a waiter after earlier ones of its lane."""
        self._waiting += 1
        self._numbers += 1
        waiter.number = self._numbers
        key = 0.0 if waiter.claim.asked else waiter.claim.last
        heapq.heappush(self._asked if waiter.claim.asked else self._others, (key, waiter.number, waiter))

    def leave(self, waiter: Waiter) -> None:
        """Remove a waiter; a no-op if it has been called."""
        if waiter.number == _NOWHERE:
            return
        self._waiting -= 1
        waiter.number = _NOWHERE
        if len(self._asked) + len(self._others) > 2 * self._waiting + _FEW:
            self._asked, self._others = sorted(_waiting(self._asked)), sorted(_waiting(self._others))

    def next(self) -> Waiter | None:
        """Remove and return the next waiter; None if there is none."""
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
        """Move a waiting source to the requested lane; return whether it waits."""
        found = next((waiter for _, _, waiter in self._entries() if waiter.claim.name == name), None)
        if found is not None and not found.claim.asked:
            self.leave(found)
            found.claim = replace(found.claim, asked=True)
            self.join(found)
        return found is not None

    def before(self, name: str) -> int:
        """Return how many wait before a source, counting the lanes in sequence; 0 if it does not wait."""
        place = 0
        for lane in (self._asked, self._others):
            for _, _, waiter in sorted(_waiting(lane)):
                if waiter.claim.name == name:
                    return place
                place += 1
        return 0

    def absorb(self, other: Queue) -> None:
        """Take over another queue's waiters, in their order."""
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
    """Drop stale entries from the head of a lane."""
    while lane and lane[0][-1].number != lane[0][1]:
        heapq.heappop(lane)
    return lane
