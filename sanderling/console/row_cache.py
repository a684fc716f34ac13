"""The rows of one order that have been read, by position: what is on the screen, and some around it. Pure.

The order never changes under the reader: rows are brought up to date by their paths, where they are. What has changed
its state since the order was made is marked, and counted. A new order is asked for by `renew`; until its first rows
come, the old ones stay.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping, Sequence
from typing import Any

Row = Mapping[str, Any]
SIZE = 100
"""Rows in a page."""
MOST = 40
"""Pages kept; those that were longest not looked at are dropped."""
MOST_CHANGED = 10_000


class RowCache:
    """edition: counts the orders; an answer to a question of an earlier one is dropped."""

    def __init__(self) -> None:
        self.edition = 0
        self.total = 0
        self.changed: set[str] = set()
        self._shown = -1
        self._pages: OrderedDict[int, list[Row]] = OrderedDict()
        self._asked: set[int] = set()

    @property
    def stale(self) -> bool:
        """Return whether rows of an earlier order are still what is there."""
        return self._shown != self.edition

    def renew(self) -> None:
        """Want a new order."""
        self.edition += 1
        self._asked.clear()

    def row(self, position: int) -> Row | None:
        """Return the row at a position, None when it has not been read."""
        page = self._pages.get(position // SIZE)
        place = position % SIZE
        return page[place] if page is not None and place < len(page) else None

    def missing(self, first: int, last: int) -> list[int]:
        """Return the pages to be read for these positions, each once; they count as asked for from now on."""
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
        """Take back that a page was asked for: no answer came."""
        self._asked.discard(page)

    def put(self, edition: int, page: int, rows: Sequence[Row], total: int) -> bool:
        """Take a page; return whether it is the first of its order."""
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
        """Return the paths of the rows there are at these positions."""
        found = (self.row(position) for position in range(first, last + 1))
        return [str(row["path"]) for row in found if row is not None]

    def update(self, first: int, asked: Sequence[str], rows: Sequence[Row]) -> None:
        """Bring the rows from `first` on up to date; those of `asked` that did not come are gone."""
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
        """Remember that a part has changed its state since the order was made."""
        if len(self.changed) < MOST_CHANGED:
            self.changed.add(path)

    def find(self, path: str) -> int | None:
        """Return the position of a path among the rows that are there."""
        for page, rows in self._pages.items():
            for place, row in enumerate(rows):
                if row["path"] == path:
                    return page * SIZE + place
        return None
