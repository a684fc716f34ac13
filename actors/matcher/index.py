"""The index of standing queries: finds those that a text satisfies, at a cost that hardly grows with their number.

A query is filed under its anchors, in a table for its language and for the source or tag it is bound to,
so that an alert costs nothing on other events. A text's keys are intersected with the tables' keys: this decides
queries that are an OR of plain words; the others are evaluated. Queries without anchors (only exclusions, or empty) are
evaluated for every text. The index learns from texts how common a word is, and refiles queries under common words, a
few at a time; a wrong guess costs time, never a match.

The anchor of a word is itself, of AND its rarest part, of OR all of its parts, of a phrase its rarest word; an
exclusion has none. An index over anchors only evaluates queries that could match, because rare words are rare in texts
(the percolator technique).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice
from operator import attrgetter
from typing import NamedTuple, assert_never

from actors.query import AnalysedText, EventSide, Query, matches
from actors.query.conditions import Condition
from actors.query.nodes import All, Any, Node, Not, Phrase, Prefix, Unit, Word
from actors.query.parts import holds

Cost = Callable[[str], float]
"""How often a key occurs; only the order of costs matters."""

_PREFIX_FACTOR = 8.0
"""A prefix occurs more often than a word of its length, and costs more to look up."""

_cost = attrgetter("cost")


class Anchors(NamedTuple):
    """`exact`: a text with an anchor surely matches."""

    cost: float
    keys: tuple[str, ...]
    prefixes: tuple[str, ...]
    exact: bool


def anchors(node: Node, cost: Cost) -> Anchors | None:
    """Return a query's cheapest anchors; None if texts without any of its words can match."""
    match node:
        case Word() | Prefix():
            return _of_unit(node, cost)
        case Phrase(steps):
            # A text may use any reading of a step.
            of_steps = (
                _union([min((_of_unit(unit, cost) for unit in path), key=_cost) for path in step]) for step in steps
            )
            return min(of_steps, key=_cost)._replace(exact=False)
        case Condition():
            return Anchors(sum(map(cost, node.keys)), node.keys, (), False)
        case Not():
            return None
        case Any(parts):
            required = [found for part in parts if (found := anchors(part, cost)) is not None]
            return _union(required) if len(required) == len(parts) else None
        case All(parts):
            required = [found for part in parts if (found := anchors(part, cost)) is not None]
            if not required:
                return None
            cheapest = min(required, key=_cost)
            return cheapest if len(parts) == 1 else cheapest._replace(exact=False)
        case _:
            assert_never(node)


def needs(node: Node) -> tuple[tuple[str, ...], ...]:
    """Return the keys of each required word: a text that lacks all keys of one word cannot match."""
    match node:
        case Word(_, keys):
            return (keys,)
        case Condition():
            return (node.keys,)
        case All(parts):
            return tuple(keys for part in parts for keys in needs(part))
        case Phrase(steps):
            exact_paths = (path for step in steps if len(step) == 1 for path in step)
            return tuple(unit.keys for path in exact_paths for unit in path if isinstance(unit, Word))
        case _:
            return ()


def is_words(node: Node) -> bool:
    """Whether a text with all keys from `needs` surely matches."""
    return isinstance(node, Word) or (isinstance(node, All) and all(is_words(part) for part in node.parts))


def _of_unit(unit: Unit, cost: Cost) -> Anchors:
    if isinstance(unit, Prefix):
        return Anchors(_PREFIX_FACTOR * cost(unit.text), (), (unit.text,), True)
    return Anchors(sum(cost(key) for key in unit.keys), unit.keys, (), True)


def _union(parts: list[Anchors]) -> Anchors:
    return Anchors(
        sum(part.cost for part in parts),
        tuple(dict.fromkeys(key for part in parts for key in part.keys)),
        tuple(dict.fromkeys(prefix for part in parts for prefix in part.prefixes)),
        all(part.exact for part in parts),
    )


NARROW = 32
"""A query with at most this many sources and tags is in a table for each; others are in the common table with a set."""
_SAMPLE = 8
"""One text in this many is learned from."""
_MOST_COUNTED = 50_000
_CROWD = 16
"""Minimum queries under one word for a search for rarer ones."""
_REFILED = 100
"""Maximum queries refiled for one text, at about 10 us each."""


@dataclass(slots=True, eq=False)
class _Entry:
    """A query; only its anchors ever change, and only between `drop` and `put`."""

    order: int
    id: str
    query: Query
    scopes: tuple[str | None, ...]
    wide: frozenset[str] | None
    needs: tuple[tuple[str, ...], ...]
    is_words: bool
    anchors: Anchors | None


class _Table(NamedTuple):
    """The queries of one scope and language: an anchor decides `sure` ones, `maybe` ones are evaluated."""

    sure: dict[str, dict[_Entry, None]]
    maybe: dict[str, dict[_Entry, None]]
    sure_prefix: dict[str, dict[_Entry, None]]
    maybe_prefix: dict[str, dict[_Entry, None]]
    always: dict[_Entry, None]
    lengths: Counter[int]

    def put(self, entry: _Entry) -> None:
        if entry.anchors is None:
            self.always[entry] = None
            return
        for table, anchor in self._places(entry.anchors):
            table.setdefault(anchor, {})[entry] = None
        self.lengths.update(map(len, entry.anchors.prefixes))

    def drop(self, entry: _Entry) -> None:
        if entry.anchors is None:
            del self.always[entry]
            return
        for table, anchor in self._places(entry.anchors):
            del table[anchor][entry]
            if not table[anchor]:
                del table[anchor]
        self.lengths.subtract(map(len, entry.anchors.prefixes))

    def _places(self, found: Anchors) -> Iterator[tuple[dict[str, dict[_Entry, None]], str]]:
        for key in found.keys:
            yield (self.sure if found.exact else self.maybe), key
        for prefix in found.prefixes:
            yield (self.sure_prefix if found.exact else self.maybe_prefix), prefix

    def match(self, text: AnalysedText | EventSide, code: str) -> dict[_Entry, None]:
        """Return the queries that a text satisfies, in no particular order."""
        keys = text.keys(code)
        found: dict[_Entry, None] = {}
        candidates = dict(self.always)
        for key in _shared_keys(keys, self.sure):
            found.update(self.sure[key])
        for key in _shared_keys(keys, self.maybe):
            candidates.update(self.maybe[key])
        for prefix in self._prefixes(text):
            found.update(self.sure_prefix.get(prefix, ()))
            candidates.update(self.maybe_prefix.get(prefix, ()))
        if isinstance(text, EventSide):  # its keys only show possible matches: words may be on both sides
            possible = (entry for entry in found | candidates if not any(map(keys.isdisjoint, entry.needs)))
            return {entry: None for entry in possible if matches(entry.query, text)}
        for entry in candidates:
            for required in entry.needs:
                if keys.isdisjoint(required):
                    break
            else:
                if entry.is_words or holds(entry.query.root, text, keys, code):
                    found[entry] = None
        return found

    def _prefixes(self, text: AnalysedText | EventSide) -> list[str]:
        if not self.sure_prefix and not self.maybe_prefix:
            return []
        lengths = [length for length, uses in self.lengths.items() if uses]
        beginnings = dict.fromkeys(word[:length] for word in text.folded for length in lengths)
        return [start for start in beginnings if start in self.sure_prefix or start in self.maybe_prefix]


@dataclass(slots=True)
class _KeyFrequency:
    """How often keys occur, learned from a bounded sample of texts; old counts fade."""

    counts: Counter[str] = field(default_factory=Counter)

    def count(self, keys: Iterable[str]) -> None:
        self.counts.update(keys)
        if len(self.counts) > _MOST_COUNTED:
            self.counts = Counter({key: count // 2 for key, count in self.counts.items() if count > 1})

    def cost(self, key: str) -> float:
        """Return the cost of a key as an anchor: of unknown keys, longer ones count as rarer."""
        return self.counts.get(key, 0) + 1 / (1 + len(key))


class StandingQueries:
    """The index. Queries come and go one by one, without rebuilding anything."""

    def __init__(self) -> None:
        self._entries: dict[str, _Entry] = {}
        self._tables: dict[str | None, dict[str, _Table]] = {}
        self._frequency = _KeyFrequency()
        self._added = self._texts_seen = 0

    def add(self, id: str, query: Query, scopes: Iterable[str] = ()) -> None:
        """Add or replace a query. scopes: the sources and tags (with a colon) that bind it; none means all."""
        self.remove(id)
        bound = list(dict.fromkeys(scopes))
        narrow = 0 < len(bound) <= NARROW
        self._added += 1
        entry = _Entry(
            order=self._added,
            id=id,
            query=query,
            scopes=tuple(bound) if narrow else (None,),
            wide=frozenset(bound) if bound and not narrow else None,
            needs=needs(query.root),
            is_words=is_words(query.root),
            anchors=anchors(query.root, self._frequency.cost),
        )
        self._entries[id] = entry
        for scope in entry.scopes:
            tables = self._tables.setdefault(scope, {})
            tables.setdefault(query.language, _Table({}, {}, {}, {}, {}, Counter())).put(entry)

    def remove(self, id: str) -> None:
        entry = self._entries.pop(id, None)
        if entry is None:
            return
        for scope in entry.scopes:
            self._tables[scope][entry.query.language].drop(entry)
            if not any(any(table[:5]) for table in self._tables[scope].values()):
                del self._tables[scope]

    def match(self, text: AnalysedText | EventSide, source: str, tags: Sequence[str] = ()) -> list[str]:
        scopes = (source, *tags)
        found: dict[_Entry, None] = {}
        for scope in (None, *scopes):
            for code, table in self._tables.get(scope, {}).items():
                found.update(table.match(text, code))
        self._texts_seen += 1
        if self._texts_seen % _SAMPLE == 1:
            self._learn(text, scopes)
        in_scope = [entry for entry in found if entry.wide is None or not entry.wide.isdisjoint(scopes)]
        return [entry.id for entry in sorted(in_scope, key=lambda entry: entry.order)]

    def _learn(self, text: AnalysedText | EventSide, scopes: Sequence[str]) -> None:
        for code in dict.fromkeys(code for scope in (None, *scopes) for code in self._tables.get(scope, {})):
            self._frequency.count(text.keys(code))
        for code, table in self._tables.get(None, {}).items():
            crowded = [
                key for key in sorted(_shared_keys(text.keys(code), table.maybe)) if len(table.maybe[key]) >= _CROWD
            ]
            for entry in [entry for key in crowded for entry in islice(table.maybe[key], _REFILED)][:_REFILED]:
                # Under rarer anchors if it has some, else at the end of its row, so that others get a turn.
                table.drop(entry)
                entry.anchors = anchors(entry.query.root, self._frequency.cost)
                table.put(entry)

    def __contains__(self, id: object) -> bool:
        return id in self._entries

    def __len__(self) -> int:
        return len(self._entries)


def _shared_keys(keys: frozenset[str], table: dict[str, dict[_Entry, None]]) -> list[str]:
    """Return the keys in both, iterating over the shorter side."""
    if len(keys) < len(table):
        return [key for key in keys if key in table]
    return [key for key in table if key in keys]
