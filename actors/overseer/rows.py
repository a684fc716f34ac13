"""The tree as rows: one part, source or destination in a few short fields; sorted and filtered.

Pure, except for the records passed in.

An order holds paths only. With 100,000 sources it takes some tenths of a second, in slices; rows are made when their
page is viewed, from the records at that time.
"""

from __future__ import annotations

from collections import OrderedDict, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Literal, NamedTuple, TypeAlias
from urllib.parse import urlsplit

import trio

from storage.records.identity import Millis
from storage.records.secrecy import without_secrets
from storage.records.source import PARTS, Flag, PartState
from storage.records.tiers import SourceType
from supervision import Mailbox

Kind = Literal["part", "destination"] | SourceType
Sort = Literal["worst", "path", "name", "health", "since", "mailbox", "rate", "restarts", "next", "error"]
ERROR_CAP = 200
_ROTTEN, _DEGRADED, _UNEASY, WELL = 4, 5, 6, 7
_WORST: tuple[PartState, ...] = ("quarantined", "backoff", "failing", "resting")
_RANK: dict[PartState, int] = {
    **{state: rank for rank, state in enumerate(_WORST)},
    **dict.fromkeys(("throttled", "unrendered", "overdue", "ended", "stopping", "starting"), _UNEASY),
    **dict.fromkeys(("held", "new", "ok"), WELL),
    "paused": WELL + 1,
}


class ChildSummary(NamedTuple):
    """The dynamic children of a part: their number, and the worst of their states."""

    total: int
    worst: PartState


@dataclass(frozen=True, slots=True)
class Row:
    """One line of the tree. path: below the root. name: the URL of a source or destination, else empty. title: of a
    source. error: the first line of the last error, truncated. next: time of its next own action. pace: the current
    interval between a source's checks in seconds. trail: its last checks in stored form.
    """

    path: str
    name: str
    kind: Kind
    state: PartState
    health: float | None
    flag: Flag | None
    restarts: int
    since: Millis
    error: str
    next: Millis | None
    tags: tuple[str, ...] = ()
    title: str = ""
    mailbox: Mailbox[Any] | None = None
    pace: float | None = None
    trail: bytes = b""
    below: ChildSummary | None = None

    @property
    def waiting(self) -> int | None:
        return None if self.mailbox is None else self.mailbox.statistics().depth

    @property
    def handled(self) -> int | None:
        return None if self.mailbox is None else self.mailbox.statistics().received

    @property
    def is_healthy(self) -> bool:
        return badness(self).rank >= WELL


class Badness(NamedTuple):
    """The sort key for the worst first."""

    rank: int
    health: float
    restarts: int


def badness(row: Row) -> Badness:
    rank = _RANK[row.state]
    if rank in (_UNEASY, WELL) and row.flag in ("rotten", "degraded"):
        rank = _ROTTEN if row.flag == "rotten" else _DEGRADED
    return Badness(rank, 1.0 if row.health is None else row.health, -row.restarts)


def worst_of(states: Sequence[PartState]) -> PartState:
    """Return the state that needs attention first; ok for none.

    >>> worst_of(["ok", "resting", "failing"]), worst_of([])
    ('failing', 'ok')
    """
    return min(states, key=lambda state: _RANK[state], default="ok")


Key: TypeAlias = Any
_LAST: Final = float("inf")
KEYS: Final[Mapping[Sort, Callable[[Row], Key]]] = {
    "worst": badness,
    "path": lambda row: row.path,
    "name": lambda row: (row.title or row.name.partition("//")[2] or row.path).casefold(),
    "health": lambda row: _LAST if row.health is None else row.health,
    "since": lambda row: -row.since,
    "mailbox": lambda row: -(row.waiting or 0),
    "rate": lambda row: (_LAST if row.pace is None else row.pace, -(row.handled or 0)),
    "restarts": lambda row: -row.restarts,
    "next": lambda row: _LAST if row.next is None else row.next,
    "error": lambda row: (not row.error, row.error),
}
"""Sort keys, lowest first: the interesting end of each column is at the top."""


def first_line(text: str | None) -> str:
    r"""Return the first line of an error as plain text without secrets: it may come from a hostile page.

    >>> first_line('ParseError: \x1b[31mbad\nand more')
    'ParseError: ?[31mbad'
    """
    line = (text or "").strip().partition("\n")[0].rstrip()
    line = without_secrets(line[: 4 * ERROR_CAP])
    plain = "".join(sign if sign.isprintable() else "?" for sign in line[: ERROR_CAP + 1])
    return plain if len(plain) <= ERROR_CAP else plain[: ERROR_CAP - 3] + "..."


@dataclass(frozen=True, slots=True)
class RowFilter:
    """A filter: all parts must match, and any of several values of one qualifier."""

    words: tuple[str, ...] = ()
    qualified: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    def __bool__(self) -> bool:
        return bool(self.words or self.qualified)

    def matches(self, row: Row) -> bool:
        for name, values in self.qualified.items():
            if not any(_has(row, name, value) for value in values):
                return False
        if not self.words:
            return True
        text = f"{row.path} {row.name} {row.title} {row.error}".casefold()
        return all(word in text for word in self.words)


QUALIFIERS = ("state", "host", "tag", "kind")


def parse_filter(text: str) -> RowFilter:
    """Return a filter: words contained in path, name, title or error, and `state:` (a prefix, also of the health flag),
    `host:` (a part), `tag:` (a part), `kind:` (a prefix).

    >>> found = parse_filter("state:quar state:rest shop host:example.org")
    >>> found.words, dict(found.qualified)
    (('shop',), {'state': ('quar', 'rest'), 'host': ('example.org',)})
    """
    words: list[str] = []
    qualified: dict[str, tuple[str, ...]] = {}
    for part in text.casefold().split():
        name, colon, value = part.partition(":")
        if colon and value and name in QUALIFIERS:
            qualified[name] = (*qualified.get(name, ()), value)
        else:
            words.append(part)
    return RowFilter(tuple(words), qualified)


def _has(row: Row, name: str, value: str) -> bool:
    if name == "state":
        named = row.state.startswith(value) or PARTS[row.state].word.startswith(value)
        return named or (row.flag not in (None, "ok") and str(row.flag).startswith(value))
    if name == "kind":
        return row.kind.startswith(value)
    if name == "tag":
        return any(value in tag.casefold() for tag in row.tags)
    try:
        return value in (urlsplit(row.name).hostname or "")
    except ValueError:
        return False


REST = 20  # an order is kept for this many times its computing time, and for at least a second
AT_LEAST = 1.0
MOST = 8  # orders kept; each has a pointer for each row


class RowQuery(NamedTuple):
    """A filter and an order of rows. tree: each part is followed by its children: all for a part in `open`, unhealthy
    ones for `troubled`, none for others. If the worst come first, parts with children lead. A filter opens all.
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
        self._orders: OrderedDict[RowQuery, Order] = OrderedDict()
        self._making = trio.Lock()

    async def get(self, query: RowQuery) -> Sequence[str]:
        async with self._making:
            orders, began = self._orders, trio.current_time()  # what is made before `forget` is not kept after it
            order = orders.get(query)
            if order is None or order.until <= began:
                paths = await self._compute(query)
                now = trio.current_time()
                order = orders[query] = Order(paths, now + max(AT_LEAST, REST * (now - began)))
            orders.move_to_end(query)
            while len(orders) > MOST:
                orders.popitem(last=False)
            return order.paths

    def forget(self) -> None:
        """Recompute every order on its next use: an action's effect should show."""
        self._orders = OrderedDict()

    async def _compute(self, query: RowQuery) -> Sequence[str]:
        filter, ranks = parse_filter(query.filter), _Ranks(query)
        below: defaultdict[str, _Ranks] = defaultdict(lambda: _Ranks(query))
        parts, places = dict[str, bool](), dict[str, int]()
        for some in self._rows():
            for row in some:
                admitted, owner = not filter or filter.matches(row), row.path.partition("/")[0]
                if query.tree and owner == row.path:
                    parts[owner], places[owner] = admitted, 1 if row.below is None else -row.below.total
                    ranks.add(row)
                elif admitted and not query.tree:
                    ranks.add(row)
                elif admitted and (filter or owner in query.open or (owner in query.troubled and not row.is_healthy)):
                    below[owner].add(row)
            await trio.lowlevel.checkpoint()
        if not query.tree:
            return ranks.paths()
        order = ranks.paths() if query.sort != "worst" else sorted(parts, key=places.__getitem__)
        shown = [name for name in order if parts[name] or name in below]
        return [path for name in shown for path in (name, *(below[name].paths() if name in below else ()))]


class _Ranks:
    """Paths of rows, to be sorted; with the worst first, healthy ones keep their places."""

    def __init__(self, query: RowQuery) -> None:
        self._worst, self._reverse = query.sort == "worst", query.reverse
        self._key = KEYS[query.sort]
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
        paths = [path for _, path in sorted(self._keyed, key=lambda each: each[0])]
        paths += self._others + self._idle
        return paths[::-1] if self._reverse else paths
