"""Fetched rows of one order, by position: the screen and its surroundings. Pure.

The order never changes on its own: rows are updated in place by path, and parts that changed state since are marked and
counted. `renew` requests a new order; the old rows stay until its first rows arrive.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping, Sequence
from typing import Any

Row = Mapping[str, Any]
SIZE = 100
"""Rows per page."""
MOST = 40
"""Maximum pages; the least recently used are dropped."""
MOST_CHANGED = 10_000


class RowCache:
    """edition: counts orders, so that responses for older ones are dropped."""

    def __init__(self) -> None:
        self.edition = 0
        self.total = 0
        self.changed: set[str] = set()
        self._shown = -1
        self._pages: OrderedDict[int, list[Row]] = OrderedDict()
        self._asked: set[int] = set()

    @property
    def stale(self) -> bool:
        """Return whether the rows still belong to an earlier order."""
        return self._shown != self.edition

    def renew(self) -> None:
        """Request a new order."""
        self.edition += 1
        self._asked.clear()

    def row(self, position: int) -> Row | None:
        """Return the row at a position, None if not fetched."""
        page = self._pages.get(position // SIZE)
        place = position % SIZE
        return page[place] if page is not None and place < len(page) else None

    def missing(self, first: int, last: int) -> list[int]:
        """Return the pages to fetch for these positions, and mark them as requested."""
        wanted = range(first // SIZE, max(first, last) // SIZE + 1)
        if self.stale:
            found = [page for page in wanted if page not in self._asked]
        else:
            found = [page for page in wanted if page not in self._pages and page not in self._asked]
            for page in wanted:
                if page in self._pages:
                    self._pages.move_to_end(page)
        self._asked.update(found)
        return found

    def unasked(self, page: int) -> None:
        """Unmark a page whose request failed."""
        self._asked.discard(page)

    def put(self, edition: int, page: int, rows: Sequence[Row], total: int) -> bool:
        """Store a page; return whether it is the first of its order."""
        if edition != self.edition:
            return False
        first = self.stale
        if first:
            self._pages.clear()
            self.changed.clear()
            self._shown = edition
        self._asked.discard(page)
        self._pages[page] = list(rows)
        self._pages.move_to_end(page)
        self.total = total
        while len(self._pages) > MOST:
            self._pages.popitem(last=False)
        return first

    def paths(self, first: int, last: int) -> list[str]:
        """Return the paths of the fetched rows at these positions."""
        found = (self.row(position) for position in range(first, last + 1))
        return [str(row["path"]) for row in found if row is not None]

    def update(self, first: int, asked: Sequence[str], rows: Sequence[Row]) -> None:
        """Update rows from position `first` on; paths in `asked` without a row are gone."""
        fresh = {row["path"]: row for row in rows}
        wanted = set(asked)
        for position in range(first, first + 2 * len(asked) + 1):
            row = self.row(position)
            if row is None or row["path"] not in wanted:
                continue
            now = fresh.get(row["path"]) or {**row, "state": "gone"}
            if (now["state"], now["flag"]) != (row["state"], row["flag"]):
                self.mark(str(row["path"]))
            self._pages[position // SIZE][position % SIZE] = now

    def mark(self, path: str) -> None:
        """Remember that a part changed state since the order was made."""
        if len(self.changed) < MOST_CHANGED:
            self.changed.add(path)

    def find(self, path: str) -> int | None:
        """Return the position of a path among the fetched rows."""
        for page, rows in self._pages.items():
            for place, row in enumerate(rows):
                if row["path"] == path:
                    return page * SIZE + place
        return None
