"""The tree, sorted and filtered: recomputed rarely enough to cost little, and shared by all readers of its pages.

It holds paths only. With 100,000 sources it takes some tenths of a second, in slices; rows are made when their page is
viewed, from the records at that time.
"""

from __future__ import annotations

from collections import OrderedDict, defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import trio

from actors.overseer.rows import KEYS, WELL, Key, Row, Sort, badness, wanted

REST = 20
"""An order is kept for this many times its computing time, and for at least a second."""
AT_LEAST = 1.0
MOST = 8
"""Orders kept; each has a pointer for each row."""


class Asked(NamedTuple):
    """A filter and an order of rows.

    tree: each part is followed by its children: all for a part in `open`, unhealthy ones for `troubled`, none for
    others; parts stay in start order if the worst come first. A filter opens all.
    """

    sort: Sort = "worst"
    filter: str = ""
    reverse: bool = False
    tree: bool = False
    open: frozenset[str] = frozenset()
    troubled: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Order:
    """Sorted paths. until: the end of their validity, by Trio's clock."""

    paths: Sequence[str]
    until: float


class Orders:
    """rows: makes the rows of the whole tree, slice by slice; drop each slice before the next."""

    def __init__(self, rows: Callable[[], Iterator[Sequence[Row]]]) -> None:
        self._rows = rows
        self._kept: OrderedDict[Asked, Order] = OrderedDict()
        self._making = trio.Lock()

    async def get(self, asked: Asked) -> Sequence[str]:
        """Return the paths of all rows that a filter admits, sorted."""
        async with self._making:
            kept = self._kept.get(asked)
            if kept is None or kept.until <= trio.current_time():
                began = trio.current_time()
                paths = await self._made(asked)
                now = trio.current_time()
                kept = self._kept[asked] = Order(paths, now + max(AT_LEAST, REST * (now - began)))
            self._kept.move_to_end(asked)
            while len(self._kept) > MOST:
                self._kept.popitem(last=False)
            return kept.paths

    def forget(self) -> None:
        """Recompute every order on its next use: an action's effect should show."""
        self._kept.clear()

    async def _made(self, asked: Asked) -> Sequence[str]:
        passes, ranks = wanted(asked.filter), _Ranks(asked)
        below: defaultdict[str, _Ranks] = defaultdict(lambda: _Ranks(asked))
        parts: dict[str, bool] = {}
        for some in self._rows():
            for row in some:
                admitted, owner = not passes or passes.admits(row), row.path.partition("/")[0]
                if asked.tree and owner == row.path:
                    parts[owner] = admitted
                    ranks.add(row)
                elif admitted and not asked.tree:
                    ranks.add(row)
                elif admitted and (passes or owner in asked.open or (owner in asked.troubled and not row.well)):
                    below[owner].add(row)
            await trio.lowlevel.checkpoint()
        if not asked.tree:
            return ranks.paths()
        order = list(parts) if asked.sort == "worst" else ranks.paths()
        shown = [name for name in order if parts[name] or name in below]
        return [path for name in shown for path in (name, *(below[name].paths() if name in below else ()))]


class _Ranks:
    """Paths of rows, to be sorted. With the worst first, only unhealthy ones are sorted: the others
    keep their places."""

    def __init__(self, asked: Asked) -> None:
        self._worst, self._reverse = asked.sort == "worst", asked.reverse
        self._key = KEYS[asked.sort]
        self._keyed: list[tuple[Key, str]] = []
        self._others: list[str] = []
        self._idle: list[str] = []

    def add(self, row: Row) -> None:
        if not self._worst:
            self._keyed.append((self._key(row), row.path))
        elif (how := badness(row)).rank < WELL:
            self._keyed.append((how, row.path))
        elif how.rank == WELL:
            self._others.append(row.path)
        else:
            self._idle.append(row.path)

    def paths(self) -> list[str]:
        """Return all, sorted."""
        found = [path for _, path in sorted(self._keyed, key=lambda each: each[0])]
        found += self._others + self._idle
        return found[::-1] if self._reverse else found
