"""A row of the tree: one part, source or destination in a few short fields, with its rank for sorting, and filters.

Pure, except for the records passed in.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Literal, NamedTuple, TypeAlias
from urllib.parse import urlsplit

from storage.records.health import Flag
from storage.records.identity import Millis
from storage.records.secrecy import without_secrets
from storage.records.states import PARTS, PartState
from storage.records.tiers import SourceType
from supervision import Mailbox

Kind = Literal["part", "destination"] | SourceType
Sort = Literal["worst", "path", "name", "health", "since", "mailbox", "rate", "restarts", "next", "error"]
ERROR_CAP = 200
_RANK: dict[PartState, int] = {
    "quarantined": 0,
    "backoff": 1,
    "failing": 2,
    "resting": 3,
    "throttled": 6,
    "overdue": 6,
    "ended": 6,
    "stopping": 6,
    "starting": 6,
    "held": 7,
    "new": 7,
    "ok": 7,
    "paused": 8,
}
_ROTTEN, _DEGRADED, _UNEASY, WELL = 4, 5, 6, 7


class Below(NamedTuple):
    """The dynamic children of a part: their number, and the worst of their states."""

    total: int
    worst: PartState


@dataclass(frozen=True, slots=True)
class Row:
    """One line of the tree. path: below the root. name: the URL of a source or destination, else empty. title: the
    name of a source, if any.

    error: the first line of the last error, truncated. next: time of its next own action. pace: the current interval
    between a source's checks in seconds. trail: its last checks in stored form.
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
    box: Mailbox[Any] | None = None
    pace: float | None = None
    trail: bytes = b""
    below: Below | None = None

    @property
    def waiting(self) -> int | None:
        """The number of waiting messages; None without a mailbox."""
        return None if self.box is None else self.box.statistics().depth

    @property
    def handled(self) -> int | None:
        """The number of messages received since the mailbox was made; None without one."""
        return None if self.box is None else self.box.statistics().received

    @property
    def well(self) -> bool:
        """Whether the row needs no attention first."""
        return badness(self).rank >= WELL


class Badness(NamedTuple):
    """The sort key for the worst first."""

    rank: int
    health: float
    restarts: int


def badness(row: Row) -> Badness:
    """Return the badness of a row, from its state and then its health."""
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

    def admits(self, row: Row) -> bool:
        for name, values in self.qualified.items():
            if not any(_holds(row, name, value) for value in values):
                return False
        if not self.words:
            return True
        text = f"{row.path} {row.name} {row.title} {row.error}".casefold()
        return all(word in text for word in self.words)


QUALIFIERS = ("state", "host", "tag", "kind")


def wanted(text: str) -> RowFilter:
    """Return a filter: words contained in path, name, title or error, and `state:` (a prefix, also of the health flag),
    `host:` (a part), `tag:` (a part), `kind:` (a prefix).

    >>> found = wanted("state:quar state:rest shop host:example.org")
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


def _holds(row: Row, name: str, value: str) -> bool:
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
