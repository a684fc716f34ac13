"""The tree in an order, and through a filter: made so seldom that it stays a small part of the time, and shared by all
who page through it.

It holds paths only. With 100,000 sources it takes some tenths of a second, a slice at a time; a row is made when its
page is looked at, from the records as they are then.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import trio

from actors.overseer.rows import WELL, Badness, Row, Sort, badness, wanted

REST = 20
"""An order is kept for so many times as long as it took to make, and for a second at least."""
AT_LEAST = 1.0
MOST = 8
"""Orders kept; each is as many pointers as it has rows."""
NEVER = float("inf")


@dataclass(frozen=True, slots=True)
class Order:
    """Paths in an order. until: the moment of Trio's clock up to which it is good enough."""

    paths: Sequence[str]
    until: float


class Orders:
    """rows: makes the rows of the whole tree, a slice at a time, each slice to be dropped before the next."""

    def __init__(self, rows: Callable[[], Iterator[Sequence[Row]]]) -> None:
        self._rows = rows
        self._kept: OrderedDict[tuple[Sort, str], Order] = OrderedDict()
        self._making = trio.Lock()

    async def get(self, sort: Sort, filter: str) -> Sequence[str]:
        """Return the paths of all rows that a filter admits, in an order."""
        name = (sort, filter)
        async with self._making:
            kept = self._kept.get(name)
            if kept is None or kept.until <= trio.current_time():
                began = trio.current_time()
                paths = await self._made(sort, filter)
                now = trio.current_time()
                kept = self._kept[name] = Order(paths, now + max(AT_LEAST, REST * (now - began)))
            self._kept.move_to_end(name)
            while len(self._kept) > MOST:
                self._kept.popitem(last=False)
            return kept.paths

    def forget(self) -> None:
        """Make every order anew when it is next asked for: something was done that people expect to see."""
        self._kept.clear()

    async def _made(self, sort: Sort, filter: str) -> Sequence[str]:
        passes = wanted(filter)
        bad: list[tuple[Badness, str]] = []
        others: list[str] = []
        idle: list[str] = []
        due: list[float] = []
        for part in self._rows():
            for row in part:
                if passes and not passes.admits(row):
                    continue
                if sort == "worst" and (how := badness(row)).rank != WELL:
                    if how.rank < WELL:
                        bad.append((how, row.path))
                    else:
                        idle.append(row.path)
                    continue
                others.append(row.path)
                if sort == "next":
                    due.append(NEVER if row.next is None else float(row.next))
            await trio.lowlevel.checkpoint()
        if sort == "path":
            return sorted(others)
        if sort == "next":
            return [others[n] for n in sorted(range(len(others)), key=due.__getitem__)]
        return [*(path for _, path in sorted(bad)), *others, *idle]
