"""Follows the log with a durable cursor and writes the deliveries due for every event.

A nudge informs deliveries of new rows; without one they find them in the outbox. The matcher wakes when the tail
grows, and reads until it is level: from the tail if that goes back far enough, else from the log, a page at a time.
The durable cursor moves in one transaction with the rows it caused, so a crash at any point repeats whole events, and
the outbox takes a pair of destination and event once: nothing is lost or duplicated. A change of alerts takes effect
between the two events around its commit: the old alerts settle the earlier events, durably, before the new ones are
read and the change is acknowledged. A change also takes effect if its sender is gone: the alerts have a revision, and
rows found with an older one are not committed but found again.

The audience of an event: the enabled alerts and their destinations, as read at one moment. Alerts match ordinary
events by text. They get the service's own notices only by name. Practice events are only for alerts that name their
source by id, never for those over a tag or all sources.

The index of standing queries: finds those that a text satisfies, at a cost that hardly grows with their number. A
query is filed under its anchors, in a table for its language and for the source or tag it is bound to, so that an
alert costs nothing on other events. A text's keys are intersected with the tables' keys: this decides queries that are
an OR of plain words; the others are evaluated if the text also has the anchor's partner, the rarest other key that a
match needs. Queries without anchors (only exclusions, or empty) are evaluated for every text. The index learns from
texts how common a word is, and refiles queries under common words, a few at a time; a wrong guess costs time, never a
match. The anchor of a word is itself, of AND its rarest part, of OR all of its
parts, of a phrase its rarest word; an exclusion has none. An index over anchors only evaluates queries that could
match, because rare words are rare in texts (the percolator technique).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Awaitable, Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import islice
from operator import attrgetter
from typing import Any, NamedTuple, assert_never

import msgspec
import trio

from actors.messages.workers import AlertsChanged, LogGrew, MatcherMessage
from actors.notices import destination_of, wants_notice
from actors.query import (
    AnalysedText,
    EventSide,
    EventView,
    Query,
    QueryError,
    Texts,
    UnknownLanguage,
    decode_event,
    matches,
    parse,
)
from actors.query import Match as QueryMatch
from actors.query.conditions import Condition
from actors.query.parts import holds
from actors.query.syntax import All, Node, Not, Phrase, Prefix, Unit, Word
from actors.query.syntax import Any as AnyOf
from actors.world import World
from storage.errors import STANDSTILL, AlertsMoved, Corrupt, CursorMoved, DiskFull, Unavailable
from storage.ownership import MATCHER
from storage.records.alert import Alert
from storage.records.destination import Destination, Hit, Match, Met
from storage.records.event import EVERYTHING, MATCHED, Stored
from storage.records.identity import START, Millis, Seq, millis_of, seq_of
from storage.records.tiers import Kind
from storage.sql.storage import Storage
from storage.sql.writing import next_turn
from storage.tail import Tail
from supervision import Child, Mailbox, MailboxFull, Reply

Cost = Callable[[str], float]  # how often a key occurs; only the order of costs matters

_PREFIX_FACTOR = 8.0  # a prefix occurs more often than a word of its length, and costs more to look up

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
            each = (_union([min((_of_unit(one, cost) for one in path), key=_cost) for path in step]) for step in steps)
            return min(each, key=_cost)._replace(exact=False)
        case Condition():
            return Anchors(sum(map(cost, node.keys)), node.keys, (), False)
        case Not():
            return None
        case AnyOf(parts):
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


class Way(NamedTuple):
    """One way to match a query: a text needs all of `keys`, one of each of `choices`, and none of `forbidden`. `sure`:
    such a text matches; else the query is evaluated.
    """

    keys: tuple[str, ...]
    choices: tuple[tuple[str, ...], ...]
    forbidden: tuple[str, ...]
    sure: bool

    def is_open(self, text: frozenset[str]) -> bool:
        """Return whether a text with these keys, or with some of them on another side, can match."""
        return text.issuperset(self.keys) and not any(map(text.isdisjoint, self.choices))

    def without(self, pairs: Collection[tuple[str, str]]) -> Way:
        """Return the rest of a way for texts that have both keys of one of these pairs."""
        keys = tuple(key for key in self.keys if not all(key in pair for pair in pairs))
        choices = tuple(keys for keys in self.choices if any(map(frozenset(keys).isdisjoint, pairs)))
        return self._replace(keys=keys, choices=choices)


_DECIDED = Way((), (), (), sure=True)


def ways(root: Node) -> tuple[Way, ...]:
    """Return the ways to match a query: a text for which none is open can't match."""
    found = []
    for part in _alternatives(root):
        parts = part.parts if isinstance(part, All) else (part,)
        required = needs(part)
        keys = tuple(keys[0] for keys in required if len(keys) == 1)
        choices = tuple(keys for keys in required if len(keys) > 1)
        forbidden = tuple(key for each in parts if isinstance(each, Not) for key in _keys_of(each.part))
        sure = all(_keys_of(each.part if isinstance(each, Not) else each) for each in parts)
        found.append(Way(keys, choices, forbidden, sure))
    return tuple(found)


def _alternatives(root: Node) -> tuple[Node, ...]:
    return root.parts if isinstance(root, AnyOf) else (root,)


def _keys_of(node: Node) -> tuple[str, ...]:
    """Return the keys of a word or an OR of words, which decide it; none of other nodes."""
    parts = node.parts if isinstance(node, AnyOf) else (node,)
    words = [part for part in parts if isinstance(part, Word)]
    return tuple(key for word in words for key in word.keys) if len(words) == len(parts) else ()


def needs(node: Node) -> tuple[tuple[str, ...], ...]:
    """Return the keys of each required word: a text that lacks all keys of one word cannot match."""
    match node:
        case Word() | AnyOf():
            return (keys,) if (keys := _keys_of(node)) else ()
        case Condition():
            return (node.keys,)
        case All(parts):
            return tuple(keys for part in parts for keys in needs(part))
        case Phrase(steps):
            exact_paths = (path for step in steps if len(step) == 1 for path in step)
            return tuple(unit.keys for path in exact_paths for unit in path if isinstance(unit, Word))
        case _:
            return ()


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
_SAMPLE = 8  # one text in this many is learned from
_MOST_COUNTED = 50_000
_CROWD = 16  # minimum queries under one word for a search for rarer ones
_REFILED = 100  # maximum queries refiled for one text, at about 10 us each


@dataclass(slots=True, eq=False)
class _Entry:
    """A query; only its anchors and ways ever change, and only between `drop` and `put`. ways: as far as the anchors,
    which found the query, leave them open.
    """

    id: str
    query: Query
    scopes: tuple[str | None, ...]
    wide: frozenset[str] | None
    ways: tuple[Way, ...] = ()
    anchors: Anchors | None = None

    def choose_anchors(self, cost: Cost) -> dict[str, str]:
        """Choose the cheapest anchors. Return each key with its partner, or with itself if it has none."""
        partners, root = dict[str, str](), self.query.root
        self.anchors, self.ways = anchors(root, cost), ways(root)
        if self.anchors is None:
            return partners
        for part, way in zip(_alternatives(root), self.ways, strict=True):
            own = anchors(part, cost)
            for key in own.keys if own else ():
                partner = min((other for other in way.keys if other != key), key=cost, default=key)
                partners[key] = partner if partners.get(key, partner) == partner else key
        if self.anchors.exact:
            self.ways = (_DECIDED,)
        elif len(self.ways) == 1 and not self.anchors.prefixes:
            self.ways = (self.ways[0].without(partners.items()),)
        return partners


_Rows = dict[str, dict[str, str]]  # the ids of the queries under each anchor, with their partners


class _Table(NamedTuple):
    """The queries of one scope and language: an anchor decides `sure` ones, `maybe` ones are evaluated."""

    sure: _Rows
    maybe: _Rows
    sure_prefix: _Rows
    maybe_prefix: _Rows
    always: dict[str, str]
    lengths: Counter[int]

    def put(self, entry: _Entry, partners: Mapping[str, str]) -> None:
        if entry.anchors is None:
            self.always[entry.id] = ""
            return
        for rows, anchor in self._places(entry, entry.anchors):
            rows.setdefault(anchor, {})[entry.id] = partners.get(anchor, "")
        self.lengths.update(map(len, entry.anchors.prefixes))

    def drop(self, entry: _Entry) -> None:
        if entry.anchors is None:
            del self.always[entry.id]
            return
        for rows, anchor in self._places(entry, entry.anchors):
            del rows[anchor][entry.id]
            if not rows[anchor]:
                del rows[anchor]
        self.lengths.subtract(map(len, entry.anchors.prefixes))

    def _places(self, entry: _Entry, found: Anchors) -> Iterator[tuple[_Rows, str]]:
        is_sure = found.exact and entry.wide is None
        for key in found.keys:
            yield (self.sure if is_sure else self.maybe), key
        for prefix in found.prefixes:
            yield (self.sure_prefix if is_sure else self.maybe_prefix), prefix

    def match(
        self, text: AnalysedText | EventSide, code: str, entries: Mapping[str, _Entry], scopes: Sequence[str]
    ) -> set[str]:
        """Return the ids of the queries that a text satisfies."""
        keys = text.keys(code)
        found = set[str]().union(*map(self.sure.__getitem__, keys & self.sure.keys()))
        rows = map(self.maybe.__getitem__, keys & self.maybe.keys())
        candidates = {id for row in rows for id, partner in row.items() if partner in keys}.union(self.always)
        for prefix in self._prefixes(text):
            found.update(self.sure_prefix.get(prefix, ()))
            candidates.update(self.maybe_prefix.get(prefix, ()))
        if isinstance(text, EventSide):  # its keys only show possible matches: words may be on both sides
            candidates, found = found | candidates, set()
        for id in candidates:
            entry = entries[id]
            if entry.wide is not None and entry.wide.isdisjoint(scopes):
                continue
            if isinstance(text, EventSide):
                if any(way.is_open(keys) for way in entry.ways) and matches(entry.query, text):
                    found.add(id)
                continue
            for required, choices, forbidden, sure in entry.ways:  # as `is_open`, without a call
                if not keys.issuperset(required) or (choices and any(map(keys.isdisjoint, choices))):
                    continue
                if not (forbidden and not keys.isdisjoint(forbidden)):
                    if sure or holds(entry.query.root, text, keys, code):
                        found.add(id)
                    break
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
        self._texts_seen = 0

    def add(self, id: str, query: Query, scopes: Iterable[str] = ()) -> None:
        """Add or replace a query. scopes: the sources and tags (with a colon) that bind it; none means all."""
        self.remove(id)
        bound = list(dict.fromkeys(scopes))
        narrow = 0 < len(bound) <= NARROW
        entry = _Entry(
            id=id,
            query=query,
            scopes=tuple(bound) if narrow else (None,),
            wide=frozenset(bound) if bound and not narrow else None,
        )
        self._entries[id] = entry
        partners = entry.choose_anchors(self._frequency.cost)
        for scope in entry.scopes:
            tables = self._tables.setdefault(scope, {})
            tables.setdefault(query.language, _Table({}, {}, {}, {}, {}, Counter())).put(entry, partners)

    def remove(self, id: str) -> None:
        entry = self._entries.pop(id, None)
        if entry is None:
            return
        for scope in entry.scopes:
            self._tables[scope][entry.query.language].drop(entry)
            if not any(any(table[:5]) for table in self._tables[scope].values()):
                del self._tables[scope]

    def match(self, text: AnalysedText | EventSide, source: str, tags: Sequence[str] = ()) -> list[str]:
        """Return the ids of the queries that match a text of this source and these tags, in no particular order."""
        scopes = (source, *tags)
        found = set[str]()
        for scope in (None, *scopes):
            for code, table in self._tables.get(scope, {}).items():
                found |= table.match(text, code, self._entries, scopes)
        self._texts_seen += 1
        if self._texts_seen % _SAMPLE == 1:
            self._learn(text, scopes)
        return [*found]

    def _learn(self, text: AnalysedText | EventSide, scopes: Sequence[str]) -> None:
        for code in dict.fromkeys(code for scope in (None, *scopes) for code in self._tables.get(scope, {})):
            self._frequency.count(text.keys(code))
        for code, table in self._tables.get(None, {}).items():
            shared = text.keys(code) & table.maybe.keys()
            crowded = sorted(key for key in shared if len(table.maybe[key]) >= _CROWD)
            for id in [id for key in crowded for id in islice(table.maybe[key], _REFILED)][:_REFILED]:
                # Under rarer anchors if it has some, else at the end of its row, so that others get a turn.
                entry = self._entries[id]
                table.drop(entry)
                table.put(entry, entry.choose_anchors(self._frequency.cost))

    def __contains__(self, id: object) -> bool:
        return id in self._entries

    def __len__(self) -> int:
        return len(self._entries)


class Audience:
    """Finds the alerts for an event. on_refused: called for a stored query that can no longer be parsed."""

    def __init__(self, on_refused: Callable[[str, str], None]) -> None:
        self._on_refused = on_refused
        self._alerts: dict[str, Alert] = {}
        self._queries: dict[QueryMatch, StandingQueries] = {}
        self._destinations: dict[str, tuple[str, ...]] = {}
        self._by_tag = False

    def replace(self, alerts: Sequence[Alert], destinations: Sequence[Destination]) -> None:
        """Switch to a new state; only changes are indexed. An alert without a destination stays, for its count."""
        by_alert: dict[str, list[str]] = {}
        for destination in destinations:
            if destination.enabled and destination.state != "disabled":
                by_alert.setdefault(destination.alert_id, []).append(destination.id)
        self._destinations = {alert: tuple(ids) for alert, ids in by_alert.items()}
        enabled = {alert.id: alert for alert in alerts if alert.enabled}
        for id in [id for id in self._alerts if id not in enabled]:
            self._drop(id)
        for id, alert in enabled.items():
            if id not in self._alerts or _index_key(self._alerts[id]) != _index_key(alert):
                self._index(alert)
        self._alerts = enabled
        self._by_tag = any(alert.tags for alert in alerts if alert.enabled)

    def of(self, event_view: EventView, event: Stored) -> list[str]:
        if event.kind == Kind.HELD:
            return []
        if (notice := event_view.alert_type) is not None:
            return [alert.id for alert in self._alerts.values() if wants_notice(alert, notice, event)]
        # Tags are read from the body, which is only worth it if alerts name some.
        tags = event.tags if self._by_tag else ()
        texts, queries = Texts(event_view), self._queries.items()
        matching = [id for match, table in queries for id in table.match(texts.of(match), event.source, tags)]
        if event.kind == Kind.PRACTICE:
            matching = [id for id in matching if self._alerts[id].scope.covers(event)]
        return sorted(matching, key=lambda id: (self._alerts[id].created_at, id))

    def including(self, source: str, private_since: Millis | None, alerts: list[str]) -> list[str]:
        """Return those of some alerts that a private source has not left."""
        return [id for id in alerts if self._alerts[id].scope.includes(source, private_since)]

    def meets_once(self, alert: str) -> bool:
        return self._alerts[alert].meets_once

    def destinations(self, alert: str) -> Sequence[str]:
        return self._destinations.get(alert, ())

    def __len__(self) -> int:
        return len(self._alerts)

    def _index(self, alert: Alert) -> None:
        self._drop(alert.id)
        try:
            query = parse(alert.filter_query, alert.language)
        except (QueryError, UnknownLanguage) as error:
            # Registration rejects such a query; another version must have stored it.
            self._on_refused(alert.id, str(error))
            return
        self._queries.setdefault(alert.match, StandingQueries()).add(alert.id, query, (*alert.source_ids, *alert.tags))

    def _drop(self, id: str) -> None:
        for match, queries in list(self._queries.items()):
            queries.remove(id)
            if not len(queries):
                del self._queries[match]


def _index_key(alert: Alert) -> tuple[str, str, str, tuple[str, ...], tuple[str, ...]]:
    return alert.match, alert.filter_query, alert.language, alert.source_ids, alert.tags


LEAST_SHOWN = 60.0  # minimum seconds of lag that is shown; less is a burst


@dataclass(frozen=True, slots=True)
class Lag:
    """Unmatched events, and the age of the oldest in seconds."""

    events: int = 0
    seconds: float = 0.0

    def text(self) -> str:
        """Return a sentence for people, "" while the lag is short."""
        if self.seconds < LEAST_SHOWN:
            return ""
        count = f"{self.events:,} event{'' if self.events == 1 else 's'}"
        return f"{count} not matched with alerts yet, the oldest of {self.seconds:,.0f} s ago: deliveries come later."


def lag_at(tail: Tail, at: Seq, backlog: int, oldest: Seq, now: Millis) -> Lag:
    """Return the lag of a matcher at this position. backlog, oldest: the unmatched events it counted in the log, and
    the first position, for events no longer in memory.
    """
    waiting = tail.since(at)
    if waiting is not None and not waiting:
        return Lag()
    first = waiting[0].stored.seq if waiting else max(at, oldest)
    age = (now - millis_of(first)) / 1000 if first > START else 0.0
    return Lag(len(waiting) if waiting else max(1, backlog), max(0.0, age))


PAGE = 200
PARKED = 5.0  # seconds between attempts while storage accepts no writes
REVISION_EVERY = 1.0  # seconds between checks for alerts that another node wrote
LAST, NEVER = Seq((1 << 63) - 1), Millis((1 << 63) - 1)
SAVE_WITHIN = 1.0
"""Seconds until the cursor is saved behind events without a match: a commit for each would cost more than reading them
again."""
MOST_EVENTS = 2_000
"""Events after which the cursor is saved even without matches, so that a restart need not read them again."""
MOST_ROWS = 500  # rows of outbox and alerts in one transaction; one event may exceed it


class Matcher:
    """One actor; only its cursor is durable. nudge: tells a destination's actor that it has new rows; never waits.
    refresh: updates the destinations' actors from storage, before a change is acknowledged. on_alerts_read: called with
    the alerts after each read, before a change is acknowledged; it must not wait. private_since: since when only alerts
    that name a source, or were made later, get its events. The mailbox belongs to the composition root. Of several
    nodes one matches, and the others stand by.
    """

    def __init__(
        self,
        *,
        storage: Storage,
        mailbox: Mailbox[MatcherMessage],
        nudge: Callable[[str], None],
        world: World,
        refresh: Callable[[], Awaitable[None]],
        on_alerts_read: Callable[[Sequence[Alert]], Awaitable[None]],
        private_since: Callable[[str], Awaitable[Millis | None]],
    ) -> None:
        self._world, self._storage, self._ownership = world, storage, storage.ownership
        self._mailbox, self._nudge, self._refresh = mailbox, nudge, refresh
        self._on_alerts_read, self._private_since = on_alerts_read, private_since
        self._revision = -1
        self._at = self._oldest = START
        self._backlog, self._changes = 0, 0

    def changes(self) -> int:
        return self._changes

    @property
    def at(self) -> Seq:
        return self._at

    async def run(self, child: Child) -> None:
        """Follow the log until cancelled, which is safe at any point: the next life resumes at the cursor."""
        self._child = child
        async with trio.open_nursery() as nursery:
            if self._ownership.shared:
                nursery.start_soon(self._watch_revision)
            while True:
                await self._ownership.during(MATCHER, self._stand_by, owned=False)
                await self._ownership.during(MATCHER, self._match_all)

    async def _match_all(self) -> None:
        async with trio.open_nursery() as nursery:
            nursery.start_soon(self._wake)
            child, alerts_moved = self._child, False
            while True:
                try:
                    if alerts_moved:
                        await self._change()
                        alerts_moved = False
                    await self._follow()
                except AlertsMoved as error:
                    # Stored just now, or by a sender that is gone: it takes effect from here.
                    self._world.log("matcher.alerts_moved", revision=error.revision, after=error.at)
                    alerts_moved = True
                except CursorMoved as error:
                    # An abandoned write arrived after the cursor was read. The stored cursor is right.
                    self._world.log("matcher.cursor_moved", error=str(error))
                except (Unavailable, Corrupt) as error:
                    self._world.log("matcher.parked", error=str(error))
                    child.ready()
                    await trio.sleep(PARKED)

    async def _watch_revision(self) -> None:
        """Request a new read of the alerts after another node wrote some, even if no event comes."""
        while True:
            await trio.sleep_until(next_turn(REVISION_EVERY))
            with suppress(*STANDSTILL, MailboxFull):  # the next turn finds the same
                if self._revision not in (-1, await self._storage.alerts.revision()):
                    self._mailbox.send_nowait(AlertsChanged(Reply()))

    async def _stand_by(self) -> None:
        while True:
            try:
                self._audience = Audience(self._log_refused)
                await self._switch()
                while True:
                    self._reset(await self._storage.outbox.cursor(MATCHED))
                    self._child.ready()
                    message = None
                    with trio.move_on_at(next_turn(REVISION_EVERY)):
                        message = await self._mailbox.receive()
                    if message is not None:
                        await self._handle(message, self._switch)
            except STANDSTILL as error:
                self._world.log("matcher.parked", error=str(error))
                self._child.ready()
                await trio.sleep(PARKED)

    async def _wake(self) -> None:
        head = self._storage.tail.head
        while True:
            head = await self._storage.tail.wait_past(head)
            with suppress(MailboxFull):  # full: it is about to read anyway
                self._mailbox.send_nowait(LogGrew())

    async def _follow(self) -> None:
        self._reset(await self._storage.outbox.cursor(MATCHED))
        self._audience = Audience(self._log_refused)
        await self._read_alerts()
        # An earlier life may have ended between its commit and its nudges.
        for destination in await self._storage.outbox.due(self._world.now()):
            self._nudge(destination)
        # The outbox is durable, and no start depends on the log: a backlog delays none.
        self._child.ready()
        await self._read_log()
        await self._save()
        while True:
            message = None
            with trio.move_on_at(self._save_at):
                message = await self._mailbox.receive()
            while message is not None:
                await self._handle(message, self._change)
                message = None
                with suppress(trio.WouldBlock):
                    message = self._mailbox.receive_nowait()
            await self._catch_up()
            if self._rows or self._hits or self._stories or trio.current_time() >= self._save_at:
                await self._save()

    async def _change(self) -> None:
        at = await self._storage.alerts.changed_at()
        if self._at > at:
            self._reset(self._saved)
        await self._read_log(at)
        await self._save(settled=True)
        await self._switch()

    async def _switch(self) -> None:
        await self._read_alerts()
        await self._refresh()

    def _reset(self, saved: Seq | None) -> None:
        """Reset all state except the durable cursor. `_at`: how far this life has matched. `_rows`: its matches.
        `_hits`: the matches of each alert. `_stories`: the event of each story. `_observations`: of the observer, until
        they are stored. `_save_at`: when a cursor that passed events without a match is saved at the latest.
        """
        self._saved = saved
        self._at = START if saved is None else saved
        self._since_save, self._save_at = 0, float("inf")
        self._rows: list[Match] = []
        self._hits: dict[str, Hit] = {}
        self._stories: dict[tuple[str, Seq], Seq] = {}
        self._observations: list[Any] = []

    async def _handle(self, message: MatcherMessage, change: Callable[[], Awaitable[None]]) -> None:
        match message:
            case LogGrew():
                pass  # it reads on after each message
            case AlertsChanged(reply):
                with reply:
                    self._changes += 1
                    await change()
                    reply.answer(None)
            case _:
                assert_never(message)

    async def _catch_up(self) -> None:
        while (recent := self._storage.tail.since(self._at)) is None or recent:
            if recent is not None:
                await self._match([each.stored for each in recent])
                continue
            before = self._at
            await self._read_log()
            if self._at == before:  # the log ends before the tail begins: some of it was lost
                return

    def lag(self) -> Lag:
        return lag_at(self._storage.tail, self._at, self._backlog, self._oldest, self._world.now())

    async def _read_log(self, end: Seq = LAST) -> None:
        self._backlog = 0
        while self._at < end:
            page = await self._storage.log.read(self._at, PAGE, EVERYTHING)
            if len(page.events) == PAGE and not self._backlog:
                log = self._storage.log  # counting costs no more than reading
                waiting = log.count() if self._at == START else log.count_between(self._at, LAST)
                self._backlog, self._oldest = await waiting, page.events[0].seq
            if page.floor > self._at and self._saved is not None:
                self._world.log("matcher.missed", level="error", after=self._at, to=page.floor)
            events = [event for event in page.events if event.seq <= end]
            if not events:
                return
            await self._match(events)
            self._backlog = max(0, self._backlog - len(events))

    async def _match(self, events: Sequence[Stored]) -> None:
        for event in events:
            view = self._decode(event)
            if view is not None:
                subject = destination_of(event)
                matching = self._audience.of(view, event)
                # Alerts that name the source have it anyway: among several nodes the answer is a read for each event.
                if view.alert_type is None and self._audience.including(event.source, NEVER, matching) != matching:
                    matching = self._audience.including(event.source, await self._private_since(event.source), matching)
                alerts = await self._without_repeats(matching, view.story, event.seq)
                for alert in alerts:
                    now, before = self._world.now(), self._hits.get(alert)
                    self._hits[alert] = Hit(alert, 1 if before is None else before.times + 1, now)
                    targets = self._audience.destinations(alert)
                    self._rows += [Match(id, event.seq, now) for id in targets if id != subject]
                self._observations += self._world.observer.matched(event, alerts)
            self._at, self._since_save = event.seq, self._since_save + 1
            self._save_at = min(self._save_at, trio.current_time() + SAVE_WITHIN)
            if len(self._rows) + len(self._hits) + len(self._stories) >= MOST_ROWS or self._since_save >= MOST_EVENTS:
                await self._save()
            else:
                await trio.lowlevel.checkpoint()

    async def _without_repeats(self, alerts: Sequence[str], story: str, seq: Seq) -> Sequence[str]:
        """Return the alerts that have not met an event's story, or may meet it again; old events have no story."""
        once_only = {alert for alert in alerts if self._audience.meets_once(alert)} if story else ()
        if not once_only:
            return alerts
        first = seq_of(story)
        if first != seq:
            seen = {alert for alert, of in self._stories if of == first}.union(await self._storage.outbox.met(first))
            alerts = [alert for alert in alerts if alert not in seen or alert not in once_only]
        self._stories |= {(alert, first): seq for alert in alerts if alert in once_only}
        return alerts

    def _decode(self, event: Stored) -> EventView | None:
        try:
            return decode_event(event.body)
        except (msgspec.MsgspecError, UnicodeDecodeError) as error:
            # One damaged body must not stop later events from being delivered.
            self._world.log("matcher.unreadable", seq=event.seq, error=str(error)[:200])
            return None

    async def _save(self, *, settled: bool = False) -> None:
        """Commit the rows and the cursor, then nudge the destinations. settled: the events so far belong to the old
        alerts, even if others are stored. Raises AlertsMoved otherwise.
        """
        if self._at == (START if self._saved is None else self._saved):
            return
        self._world.reach("matcher/before advance")
        await self._advance(None if settled else self._revision)
        self._world.reach("matcher/after advance")
        destinations = dict.fromkeys(row.destination for row in self._rows)
        self._world.metrics.matches.add(by=len(self._rows))
        self._world.observer.stored(self._observations)
        self._reset(self._at)
        for destination in destinations:
            self._nudge(destination)

    async def _advance(self, revision: int | None) -> None:
        """Commit; while the disk is full, retry, and let the service start without deliveries."""
        hits = tuple(self._hits.values())
        met = [Met(alert, story, seq) for (alert, story), seq in self._stories.items()]
        while True:
            try:
                work = self._saved, self._at, self._rows, self._storage.lease
                return await self._storage.outbox.advance(MATCHED, *work, hits=hits, met=met, revision=revision)
            except DiskFull as error:
                self._world.log("matcher.parked", error=str(error))
                self._child.ready()
                await trio.sleep(PARKED)

    async def _read_alerts(self) -> None:
        self._revision = await self._storage.alerts.revision()
        alerts = await self._storage.alerts.all()
        destinations = await self._storage.alerts.destinations()
        self._audience.replace(alerts, destinations)
        await self._on_alerts_read(alerts)
        self._world.log("matcher.alerts", level="debug", alerts=len(self._audience), after=self._at)

    def _log_refused(self, alert: str, error: str) -> None:
        self._world.log("matcher.query_refused", alert_id=alert, error=error)
