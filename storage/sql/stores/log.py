"""The log of events in SQL: appends and retention on the writer, pages on the readers; the index of stories;
screenshots.

There are two plans for a page. For a few whole sources, positions come from the source index, merged, and only their
rows are read. Any other filter walks the log in order and filters in Python, so that every engine and the in-memory
ring share one definition of a match (`Filter.admits`). A page always reports how far it has read, even without matches.
Sizes of sources are estimated from the newest events: adding up all bodies would read a page of the file for each.

The newest marks of stories are in memory and go to their table in lots, since single ones would write a page each.
After a start, other nodes' commits or a rollback, memory is rebuilt from the log.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from functools import partial
from itertools import accumulate, islice
from typing import Final, Generic, NamedTuple, TypeVar

import msgspec
from msgspec.structs import replace

from storage.append import Answer, Lease, Mint, Stamp, Stories, events_of
from storage.errors import Corrupt, Duplicate, NewerSchema, StateMoved
from storage.records import event as records
from storage.records.event import Bounds, Filter, KeptPicture, Page, Picture, SourceSize, Stored
from storage.records.identity import COUNTER_BITS, SERVICE, START, Millis, Seq, SourceId, seq_of
from storage.records.source import Harvest, SourceState, StoredJar, Version
from storage.records.tiers import Kind
from storage.retention import FreeSpace
from storage.secrets import Connection, Vault
from storage.sql import writing
from storage.sql.stores.alerts import clear_notice
from storage.sql.stores.sources import encode_hot, insert, write_jars
from storage.sql.writing import Row, Space, Store, Transaction, fenced, found, in_transaction, read_only
from storage.tail import Follower, Tail

MOST = 500  # most events in a page
SIZE = 1 << 20  # bytes of bodies that fill a page: bodies have up to 100 KB, and no reader should hold 500 of them
SOME = 25  # rows fetched at once
FILTERED = 100  # rows of one fetch if most may be filtered out
FEW = 16  # most sources whose index entries are merged; with more, the log is walked
LAST = Seq((1 << 63) - 1)

EventRow = tuple[Seq, int, int, int, bytes]
BodyRow = tuple[Seq, bytes, int]  # position, body, codec
T = TypeVar("T")

_ROW = "SELECT seq, source, kind, codec, body FROM log WHERE "
NEWER = """SELECT l.seq, k.id, l.kind, l.codec, l.body FROM log l JOIN source_key k ON k.key=l.source
    WHERE l.seq>? ORDER BY l.seq LIMIT ?"""
_BODIES = "SELECT seq, body, codec FROM log WHERE seq>? AND seq<=? AND kind<>? ORDER BY seq LIMIT ?"
_FLOOR = "SELECT value FROM fact WHERE name='floor'"
_ENDS = "SELECT (SELECT min(seq) FROM log), (SELECT max(seq) FROM log), (SELECT value FROM fact WHERE name='floor')"


class _Direction(NamedTuple):
    walk: str
    of_source: str


_INDEXED = "SELECT seq FROM log INDEXED BY log_source WHERE source=? AND "
_WAYS = ("seq>? AND seq<=? ORDER BY seq LIMIT ?", "seq<? AND seq>=? ORDER BY seq DESC LIMIT ?")
FORWARD, BACK = (_Direction(_ROW + way, _INDEXED + way) for way in _WAYS)


def bounds(connection: Connection, known: Seq) -> Bounds:
    """Return the log's ends. `newest` is at least `known`, which readers may have seen even if it is gone."""
    oldest, newest, floor = connection.execute(_ENDS).fetchone()
    return Bounds(Seq(floor), Seq(oldest or START), Seq(max(newest or START, floor, known)))


class ScanRequest(NamedTuple):
    """A read: at most `limit` events that pass `where`, reading at most `budget` rows."""

    limit: int
    where: Filter
    budget: int


class Replayed(NamedTuple, Generic[T]):
    """A page of the whole log without heartbeats: what the reader made of so many rows. The rest is as in `Page`."""

    events: T
    rows: int
    scanned: Seq
    floor: Seq


class Pages:
    """`known`: the newest position readers saw. Caches source ids by number; at worst two threads look up the same."""

    def __init__(self, known: Seq) -> None:
        self._known = known
        self._ids: dict[int, SourceId] = {}

    def read(self, connection: Connection, start: Seq, request: ScanRequest, *, back: bool = False) -> Page:
        # The end is fixed before the first read: later commits belong to the next page.
        head = self.bounds(connection).newest
        events: Sequence[Stored] = ()
        if back or start < head:
            direction, end = (BACK, START) if back else (FORWARD, head)
            events, start = _Scan(connection, self._ids, direction, end, request).run(Seq(min(start, LAST)))
        (floor,) = connection.execute(_FLOOR).fetchone()
        return Page(events, start, head, Seq(floor))

    def replay(
        self, connection: Connection, start: Seq, limit: int, make: Callable[[Sequence[BodyRow]], T]
    ) -> Replayed[T]:
        scanned, rows, size = self.bounds(connection).newest, list[BodyRow](), 0
        with closing(connection.execute(_BODIES, (min(start, LAST), scanned, Kind.HEARTBEAT, limit))) as cursor:
            while size < SIZE and (fetched := cursor.fetchmany(SOME)):
                rows += fetched
                size += sum([len(body) for _, body, _ in fetched])
        if any(codec for _, _, codec in rows):
            raise NewerSchema(f"events after {start} are stored in a form that this program does not know")
        if size >= SIZE or len(rows) == limit:
            rows = rows[: _fitting((len(body) for _, body, _ in rows), size)]
            scanned = rows[-1][0]
        (floor,) = connection.execute(_FLOOR).fetchone()
        return Replayed(make(rows), len(rows), scanned, Seq(floor))

    def get(self, connection: Connection, seq: Seq) -> Stored | None:
        row = connection.execute(_ROW + "seq=?", (seq,)).fetchone()
        return None if row is None else _stored(connection, self._ids, [row])[0]

    def bounds(self, connection: Connection) -> Bounds:
        return bounds(connection, self._known)


class _Scan:
    """One read of the log, in one direction, to a fixed end."""

    def __init__(
        self, connection: Connection, ids: dict[int, SourceId], direction: _Direction, end: Seq, request: ScanRequest
    ) -> None:
        self._connection, self._ids, self._direction, self._end = connection, ids, direction, end
        self._limit, self._where, self._budget = min(request.limit, MOST), request.where, request.budget
        self._columns = msgspec.structs.replace(request.where, tags=())
        self._keys = self._few_sources()
        assert self._limit > 0, f"a page of {request.limit} events makes no progress"

    def run(self, start: Seq) -> tuple[Sequence[Stored], Seq]:
        where, at = self._where, start
        filters = where.tags or where.kinds or (self._keys is None and (where.sources or where.source_prefixes))
        found: list[Stored] = []
        size = 0
        while self._budget > 0:
            # Without a filter, a page is at most one fetch.
            most = min(self._budget, FILTERED if filters else self._limit - len(found))
            fetched_count = 0
            with closing(self._fetch(at, most)) as fetched:
                for last, count, rows in fetched:
                    at, fetched_count = last, fetched_count + count
                    if filters:
                        events = list(islice(self._filtered(rows), self._limit - len(found)))
                    else:
                        events = _stored(self._connection, self._ids, rows)
                    found += events
                    size += sum([len(event.body) for event in events])
                    if len(found) >= self._limit or size >= SIZE:
                        found = found[: min(self._limit, _fitting((len(event.body) for event in found), size))]
                        return found, found[-1].seq
            if fetched_count < most:
                return found, self._end
            self._budget -= most
        return found, at

    def _filtered(self, rows: Sequence[EventRow]) -> Iterator[Stored]:
        for event in _stored(self._connection, self._ids, rows):
            if not self._columns.admits(event):
                continue
            try:
                admitted = self._where.admits(event)
            except (msgspec.DecodeError, UnicodeDecodeError) as error:
                raise Corrupt(f"the body of event {event.seq} is damaged: {error}") from error
            if admitted:
                yield event

    def _few_sources(self) -> Sequence[int] | None:
        """Return the filter's sources by number, None for none or many. Kinds in `also` are the service's."""
        where = self._where
        if where.source_prefixes or not 0 < len(where.sources) <= FEW:
            return None
        number, sources = "SELECT key FROM source_key WHERE id=?", (*where.sources, *([SERVICE] if where.also else ()))
        rows = [self._connection.execute(number, (source,)).fetchone() for source in dict.fromkeys(sources)]
        return [row[0] for row in rows if row is not None]

    def _fetch(self, at: Seq, most: int) -> Generator[tuple[Seq, int, Sequence[EventRow]]]:
        """Yield the last position, count and rows of each lot of up to `most`; fewer mean the end."""
        execute, direction = self._connection.execute, self._direction
        if self._keys is None:
            with closing(execute(direction.walk, (at, self._end, most))) as cursor:
                while rows := cursor.fetchmany(SOME):
                    yield rows[-1][0], len(rows), rows
            return
        # The next `most` positions of all sources together are among the next `most` of each source.
        each = [execute(direction.of_source, (key, at, self._end, most)).fetchall() for key in self._keys]
        for seq in sorted((row[0] for rows in each for row in rows), reverse=direction is BACK)[:most]:
            yield seq, 1, execute(_ROW + "seq=?", (seq,)).fetchall()  # retention may have deleted it


def _fitting(sizes: Iterable[int], size: int) -> int:
    """Return how many of the first events fill a page; `size`: bytes of all."""
    return MOST if size < SIZE else 1 + next(count for count, so_far in enumerate(accumulate(sizes)) if so_far >= SIZE)


def stored(seq: int, source: str, kind: int, codec: int, body: bytes) -> Stored:
    """Return the event of a row of `NEWER`. Raises NewerSchema."""
    if codec != 0:
        raise NewerSchema(f"event {seq} is stored in form {codec}, which this program does not know")
    return Stored(Seq(seq), SourceId(source), kind, body)


_new: Final = tuple.__new__


def _stored(connection: Connection, ids: dict[int, SourceId], rows: Sequence[EventRow]) -> list[Stored]:
    for number in {row[1] for row in rows if row[1] not in ids}:
        (ids[number],) = connection.execute("SELECT id FROM source_key WHERE key=?", (number,)).fetchone()
    return [  # without a call for each: a replay reads many
        stored(seq, ids[number], kind, codec, body) if codec else _new(Stored, (seq, ids[number], kind, body))
        for seq, number, kind, codec, body in rows
    ]


_OURS: Final = (
    f"FROM log INDEXED BY log_source WHERE source=(SELECT key FROM source_key WHERE id='{SERVICE}') "  # noqa: S608  # ours
    f"AND kind={Kind.HEARTBEAT}"
)
_NEWEST_HEARTBEAT: Final = f"SELECT seq {_OURS} ORDER BY seq DESC LIMIT 1"
WITHOUT_HEARTBEATS: Final = f"SELECT (SELECT count(*) FROM log) - (SELECT count(*) {_OURS})"  # noqa: S608  # ours
_OVER: Final = f"SELECT seq {_OURS} ORDER BY seq DESC LIMIT 1 OFFSET ?"
_OLDEST_HEARTBEATS: Final = f"SELECT seq {_OURS} AND seq<=? AND seq<? ORDER BY seq LIMIT ?"


def newest_heartbeat(connection: Connection) -> Seq:
    """Return the position of the newest heartbeat, 0 if there is none."""
    return found(connection, Seq, _NEWEST_HEARTBEAT) or START


SAMPLE = 50  # newest events of a source whose bodies are measured
MEASURED = 200  # sources with most events, among which the heaviest are found
_NUMBER = "SELECT key FROM source_key WHERE id=?"
_COUNT = "SELECT count(*) FROM log WHERE source=?"
_MEAN = "SELECT avg(length(body)) FROM (SELECT body FROM log WHERE source=? ORDER BY seq DESC LIMIT ?) newest"
_COUNTS = """SELECT k.id, l.source, l.events FROM (
    SELECT source, count(*) AS events FROM log GROUP BY source ORDER BY events DESC, source LIMIT ?
) l JOIN source_key k ON k.key=l.source"""


def _estimate(connection: Connection, key: int, events: int) -> SourceSize:
    (mean,) = connection.execute(_MEAN, (key, SAMPLE)).fetchone()
    return SourceSize(events, round(events * (mean or 0)))


WEEK = 7 * 86_400_000 << COUNTER_BITS  # log positions in a week: the most between two successive events of a story
LOT = 4_096  # marks written to the table at once
_MOST_READ = 5_000  # most events read again at once; earlier ones are found only in the table
_AT_ONCE = 1_000
_STORED = "SELECT l.seq, k.id, l.kind, l.codec, l.body FROM log l JOIN source_key k ON k.key=l.source WHERE"
_FIND = "SELECT mark, seq FROM story_mark WHERE mark IN"
_WRITTEN = "SELECT value FROM fact WHERE name='stories'"
_DROP = """DELETE FROM story_mark WHERE seq<? AND mark BETWEEN ? AND
    (SELECT max(mark) FROM (SELECT mark FROM story_mark WHERE mark>=? ORDER BY mark LIMIT ?) swept)"""
_SWEPT = 4 * LOT
"""Marks checked for age with each lot, from a random one on; so the table holds about a quarter more than a week's."""


class StoryMarks:
    """Belongs to the appending thread."""

    def __init__(self) -> None:
        self._newest: dict[int, Seq] = {}
        self._at: Seq | None = None
        self._open: Transaction | None = None

    def follow(self, transaction: Transaction, stories: Stories) -> None:
        """Read events that this start has not appended or not committed."""
        if self._open is transaction or (self._at is not None and transaction.last(START) == self._at):
            return  # the newest event of all nodes is known here
        self._open = transaction
        rows = [] if self._at is None else _rows(transaction, self._at)
        if rows and rows[-1].seq == self._at:
            rows.pop()
        else:
            self._newest = {}
            rows = _rows(transaction, Seq(transaction.execute(_WRITTEN).fetchone()[0] + 1))
        for event in reversed(rows):
            self._newest.update(dict.fromkeys(stories.marks_of(event), event.seq))
            self._at = event.seq

    def find(self, transaction: Transaction, marks: Sequence[int]) -> dict[int, Stored]:
        found = {mark: seq for mark in marks if (seq := self._newest.get(mark)) is not None}
        if missing := [mark for mark in marks if mark not in found]:
            places = ",".join("?" * len(missing))
            found |= dict(transaction.execute(f"{_FIND} ({places})", missing).fetchall())
        if not (seqs := sorted(set(found.values()))):
            return {}
        rows = transaction.execute(f"{_STORED} l.seq IN ({','.join('?' * len(seqs))})", seqs).fetchall()
        events = {row[0]: stored(*row) for row in rows}
        return {mark: events[seq] for mark, seq in found.items() if seq in events}

    def add(self, transaction: Transaction, found: Mapping[int, Seq], upto: Seq) -> None:
        self._newest.update(found)
        self._at = upto
        if len(self._newest) >= LOT:
            marks = sorted(self._newest)
            transaction.put_marks([(mark, self._newest[mark]) for mark in marks])
            transaction.execute("UPDATE fact SET value=? WHERE name='stories'", (upto,))
            first = marks[upto % len(marks)]
            transaction.execute(_DROP, (upto - WEEK, first, first, _SWEPT))
            self._newest = {}


class StoryAssigner:
    """The stories of one append. Drafts without marks cost nothing."""

    def __init__(
        self, index: StoryMarks, stories: Stories, transaction: Transaction, harvests: Sequence[Harvest]
    ) -> None:
        self._index, self._stories, self._transaction = index, stories, transaction
        self._marks = {id(draft): stories.marks(draft) for harvest in harvests for draft in harvest.drafts}
        self._newest: dict[int, Stored] = {}
        self._found: dict[int, Seq] = {}
        if marks := list(dict.fromkeys(mark for each in self._marks.values() for mark in each)):
            index.follow(transaction, stories)
        for start in range(0, len(marks), _AT_ONCE):
            self._newest |= index.find(transaction, marks[start : start + _AT_ONCE])

    def of(self, source: SourceId, draft: records.Draft, at: Seq) -> str:
        """Return the story of a draft at a position, "" for its own."""
        if not (found := self._newest.keys() & self._marks[id(draft)]):
            return ""
        earlier = {event.seq: event for event in map(self._newest.__getitem__, found) if event.seq > at - WEEK}
        return self._stories.story(source, draft, list(earlier.values())) if earlier else ""

    def add(self, draft: records.Draft, event: Stored) -> None:
        marks = self._marks[id(draft)]
        self._newest |= dict.fromkeys(marks, event)
        self._found |= dict.fromkeys(marks, event.seq)

    def write(self, upto: Seq) -> None:
        if self._found:
            self._index.add(self._transaction, self._found, upto)


def _rows(transaction: Transaction, first: Seq) -> list[Stored]:
    found = transaction.execute(f"{_STORED} l.seq>=? ORDER BY l.seq DESC LIMIT ?", (first, _MOST_READ)).fetchall()
    return [stored(*row) for row in found]


_KEEP = """INSERT INTO picture(key, seq, at, media, size, body) VALUES(?,?,?,?,?,?)
    ON CONFLICT(key, seq) DO UPDATE SET at=excluded.at, media=excluded.media, size=excluded.size, body=excluded.body"""
_OF = "FROM picture WHERE key=(SELECT key FROM source_key WHERE id=?)"
_HEAD = f"SELECT seq, at, media, size {_OF}"
_OLD = "SELECT number FROM picture WHERE at<? OR (seq>0 AND seq<=?) ORDER BY number LIMIT ?"
_WEIGHT = "SELECT coalesce(sum(size), 0) FROM picture"
_OLDEST = "SELECT number, size FROM picture ORDER BY at, number LIMIT ?"

PictureRow = tuple[int, Seq, Picture]  # a source's number, an event's position (0: none), and the picture


def keep(transaction: Transaction, rows: Sequence[PictureRow]) -> None:
    """Write pictures; a new picture of the first check replaces the previous one."""
    transaction.executemany(_KEEP, [(key, seq, one.at, one.media, len(one.body), one.body) for key, seq, one in rows])


class Pictures(Store):
    """Screenshots of sources. Harvests bring them (`EventLog.append`); they are deleted with their source."""

    async def newest(self, source: SourceId) -> KeptPicture | None:
        return await self._head("ORDER BY at DESC, seq DESC LIMIT 1", source)

    async def around(self, source: SourceId, seq: Seq) -> tuple[KeptPicture | None, KeptPicture | None]:
        before = await self._head("AND seq<? ORDER BY seq DESC LIMIT 1", source, seq)
        return before, await self._head("AND seq=?", source, seq)

    @read_only
    def get(self, connection: Connection, source: SourceId, seq: Seq) -> Picture | None:
        """Return the picture of an event; with position 0, that of the first check."""
        row = connection.execute(f"SELECT media, body, at {_OF} AND seq=?", (source, seq)).fetchone()
        return None if row is None else Picture(row[0], bytes(row[1]), Millis(row[2]))

    @in_transaction(rows=lambda _before, _floor, _room, limit: limit)
    def prune(self, transaction: Transaction, before: Millis, floor: Seq, room: int, limit: int) -> int:
        """Delete at most `limit`: those before a moment, up to `floor`, and the oldest beyond `room` bytes."""
        doomed = [row[0] for row in transaction.execute(_OLD, (before, floor, limit)).fetchall()]
        if len(doomed) < limit:
            doomed += _surplus(transaction, frozenset(doomed), room, limit)
        doomed = doomed[:limit]
        transaction.executemany("DELETE FROM picture WHERE number=?", [(number,) for number in doomed])
        return len(doomed)

    @read_only
    def _head(self, connection: Connection, where: str, *values: object) -> KeptPicture | None:
        return found(connection, KeptPicture, f"{_HEAD} {where}", *values)


def _surplus(transaction: Transaction, gone: frozenset[int], room: int, limit: int) -> list[int]:
    """Return the oldest pictures to delete so that the rest fits. `gone` are deleted anyway."""
    surplus = transaction.execute(_WEIGHT).fetchone()[0] - room
    doomed = list[int]()
    if surplus > 0:
        for number, size in transaction.execute(_OLDEST, (limit,)).fetchall():
            if surplus <= 0:
                break
            surplus -= size
            doomed += [number] if number not in gone else []
    return doomed


_KEY = "SELECT h.key, h.version FROM source_key k JOIN source_hot h ON h.key=k.key WHERE k.id=?"
_KEYS = "SELECT k.id, h.key, h.version FROM source_key k JOIN source_hot h ON h.key=k.key WHERE k.id IN"
_BETWEEN = "SELECT count(*) FROM log WHERE seq>? AND seq<? AND kind NOT IN (?,?)"
_KNOW = "INSERT INTO source_key(id) VALUES(?) ON CONFLICT DO NOTHING"


class EventLog(Store):
    """`known`: the newest position that a reader may have seen. `tail` shows commits while `follower` runs."""

    def __init__(
        self, writer: writing.Writer, readers: writing.Reading, vault: Vault, space: Space, known: Seq, *, tail: Tail
    ) -> None:
        super().__init__(writer, readers, vault)
        self._space, self._pages = space, Pages(known)
        self.follower = Follower(tail, self)
        self._stories = StoryMarks()
        self._last = known  # the newest position minted, committed or not; used on the writer thread only

    async def append(
        self, harvests: Sequence[Harvest], lease: Lease, mint: Mint, stamp: Stamp, stories: Stories | None = None
    ) -> Sequence[Answer]:
        """Commit harvests in one transaction and return an answer for each, in order.

        These harvests are skipped and have no events: those of deleted sources, a notice that its debtor does not owe,
        a heartbeat that does not follow the newest. A harvest is refused alone if it derives from another state than
        the stored one, or if its new source's URL is already watched. With `stories`, each draft is stamped with its
        story, even one that began in this transaction. Returns only after the data are durable.
        Raises Fenced, DiskFull, Unavailable.
        """
        job = fenced(lease, partial(self._append, harvests, mint, stamp, stories))
        events = sum([len(harvest.drafts) or 1 for harvest in harvests])
        holds: list[Row] = [("destination", harvest.debtor) for harvest in harvests if harvest.debtor is not None]
        return await self._writer.submit(job, events=events, holds=holds)

    def _append(
        self, harvests: Sequence[Harvest], mint: Mint, stamp: Stamp, stories: Stories | None, transaction: Transaction
    ) -> Sequence[Answer]:
        before = self._last = Seq(transaction.last(self._last))
        mint.raise_floor(before)
        answers: list[Answer] = []
        rows: list[tuple[Seq, int, int, bytes]] = []
        shown, states = list[PictureRow](), _States()
        states.know(transaction, [harvest.state for harvest in harvests if harvest.state and not harvest.born])
        assigner = None if stories is None else StoryAssigner(self._stories, stories, transaction, harvests)
        for harvest in harvests:
            key = _admitted(transaction, harvest, states)
            if not isinstance(key, int):
                answers.append(() if key is None else key)
                continue
            events = list(self._minted(harvest, mint, stamp, assigner))
            rows += [(event.seq, key, event.kind, event.body) for event in events]
            if harvest.picture is not None:
                pairs = zip(harvest.drafts, events, strict=True)
                changed = (event.seq for draft, event in pairs if draft.delta is not None)
                shown.append((key, next(changed, START), harvest.picture))
            answers.append(events)
        transaction.put_events(rows)
        if assigner is not None:
            assigner.write(self._last)
        states.write(transaction)
        write_jars(transaction, (_jar(harvest.state) for harvest in harvests if harvest.state is not None))
        if shown:
            keep(transaction, shown)
        if rows:
            transaction.newest = rows[-1][0]
            transaction.afterwards.append(partial(self._show, before, answers))
        return answers

    def _show(self, before: Seq, answers: Sequence[Answer], committed: bool) -> None:
        if committed:
            self.follower.committed(before, events_of(answers))
        else:
            self.follower.unknown()

    def _minted(self, harvest: Harvest, mint: Mint, stamp: Stamp, assigner: StoryAssigner | None) -> Iterator[Stored]:
        for draft in harvest.drafts:
            seq, event_id = mint.mint()
            if seq <= self._last:
                raise ValueError(f"minted {seq} after {self._last}: positions must rise")
            self._last = seq
            story = "" if assigner is None else assigner.of(harvest.source, draft, seq)
            known = replace(draft, story=story) if story else draft
            event = Stored(seq, harvest.source, records.kind_of(draft), stamp(seq, event_id, harvest.source, known))
            if assigner is not None:
                assigner.add(draft, event)
            yield event

    async def adopt(self, events: Sequence[Stored], floor: Seq, lease: Lease) -> None:
        """Import a part of another instance's log unchanged, with its floor, in one transaction, without publishing.
        The sources need not be watched here. Positions must rise from above `floor` and above all positions assigned
        here. Raises ValueError and changes nothing otherwise, or if events here are at or below `floor`.
        """

        def job(transaction: Transaction) -> None:
            (newest,) = transaction.execute("SELECT coalesce(max(seq), 0) FROM log").fetchone()
            records.check_adopted(events, floor, Seq(transaction.last(self._last)), newest)
            ids = dict.fromkeys(event.source for event in events)
            transaction.executemany(_KNOW, [(id,) for id in ids])
            keys = {id: transaction.execute(_NUMBER, (id,)).fetchone()[0] for id in ids}
            transaction.put_events([(each.seq, keys[each.source], each.kind, each.body) for each in events])
            transaction.execute("UPDATE fact SET value=? WHERE name='floor' AND value<?", (floor, floor))
            self._last = events[-1].seq if events else max(self._last, floor)
            transaction.newest = events[-1].seq if events else START

        await self._writer.submit(fenced(lease, job), events=len(events) or 1)

    @in_transaction(rows=lambda states, _, jars=(): len(states) + len(jars))
    def save_states(
        self, transaction: Transaction, states: Sequence[SourceState], lease: Lease, jars: Sequence[StoredJar] = ()
    ) -> None:
        """Save states without events, and cookies, in one transaction. Skips states of unknown sources, and those that
        derive from another state than the stored one. Cookies, also those in the states, overwrite older ones, whatever
        state is stored: see `storage.records.source`.
        """
        transaction.fence(lease)
        admitted = _States()
        admitted.know(transaction, states)
        for state in states:
            admitted.take(transaction, state)
        admitted.write(transaction)
        write_jars(transaction, (*map(_jar, states), *jars))

    async def read(self, after: Seq, limit: int, where: Filter, budget: int = 5_000) -> Page:
        """Return up to `limit` (1 to 500) events and 1 MiB, oldest first; read at most `budget` rows."""
        return await self._readers.run(lambda c: self._pages.read(c, after, ScanRequest(limit, where, budget)))

    async def replay(self, after: Seq, limit: int, make: Callable[[Sequence[BodyRow]], T]) -> Replayed[T]:
        """Return what `make`, run in the read's thread, makes of a page without heartbeats; sizes as in `read`."""
        return await self._readers.run(lambda c: self._pages.replay(c, after, min(limit, MOST), make))

    async def newer(self, after: Seq, limit: int) -> Sequence[Stored]:
        """Return up to `limit` events after `after`, oldest first, in one round trip."""
        return await self._all(stored, NEWER, after, limit)

    async def read_back(self, before: Seq, limit: int, where: Filter, budget: int = 5_000) -> Page:
        """Return events before `before`, newest first. `scanned` is the lowest position read (0 at the end)."""
        wish = ScanRequest(limit, where, budget)
        return await self._readers.run(lambda c: self._pages.read(c, before, wish, back=True))

    async def get(self, event_id: str) -> Stored | None:
        """Return one event; None if unknown or if the id is not a UUIDv7."""
        try:
            seq = seq_of(event_id)
        except ValueError:
            return None
        found = await self._readers.run(lambda connection: self._pages.get(connection, seq))
        # The position is only the head of the id: the rest must agree too.
        return found if found is not None and records.id_in(found.body) == event_id.lower() else None

    async def bounds(self) -> Bounds:
        return await self._readers.run(self._pages.bounds)

    async def count(self) -> int:
        """Count stored events without heartbeats. Scans a whole index: for the pruner, not for requests."""
        return await self._first(int, WITHOUT_HEARTBEATS) or 0

    @read_only
    def heartbeat(self, connection: Connection) -> Stored | None:
        newest = newest_heartbeat(connection)
        return self._pages.get(connection, newest) if newest else None

    @in_transaction(rows=lambda _before, _keep, limit, _lease: limit)
    def forget_heartbeats(self, transaction: Transaction, before: Seq, keep: int, limit: int, lease: Lease) -> int:
        """Delete at most `limit` heartbeats before `before`, but not the newest `keep`. The floor stays."""
        transaction.fence(lease)
        if (over := transaction.execute(_OVER, (keep,)).fetchone()) is None:
            return 0
        expired = transaction.execute(_OLDEST_HEARTBEATS, (over[0], min(before, LAST), limit)).fetchall()
        transaction.executemany("DELETE FROM log WHERE seq=?", expired)
        return len(expired)

    async def room(self) -> FreeSpace:
        """Return approximately how many bytes the storage takes, including other tables, and how many are free."""
        return await self._readers.run(self._space.room)

    async def give_back(self, limit: int, lease: Lease) -> int:
        """Return at most `limit` free bytes to the disk; return how many, 0 if none can be."""
        job = fenced(lease, lambda it: self._space.give_back(it.connection, limit))
        return await self._writer.submit(job, rows=writing.MOST_ROWS)

    @read_only
    def held(self, connection: Connection, source: SourceId) -> SourceSize:
        """Return a source's share of the log. Events are counted; bytes are estimated from the newest ones."""
        if (key := connection.execute(_NUMBER, (source,)).fetchone()) is None:
            return SourceSize(0, 0)
        (events,) = connection.execute(_COUNT, key).fetchone()
        return _estimate(connection, key[0], events)

    @read_only
    def heaviest(self, connection: Connection, limit: int) -> Mapping[SourceId, SourceSize]:
        """Return sources of many events, heaviest first, deleted ones and notices too. Scans a whole index."""
        counted = connection.execute(_COUNTS, (max(limit, MEASURED),)).fetchall()
        found = {SourceId(id): _estimate(connection, key, events) for id, key, events in counted}
        return dict(sorted(found.items(), key=lambda item: (-item[1].bytes, item[0]))[:limit])

    async def count_between(self, after: Seq, before: Seq) -> int:
        """Count the events between two positions, without practice and heartbeats. Reads all of them."""
        where = (after, min(before, LAST), Kind.PRACTICE, Kind.HEARTBEAT)
        return await self._first(int, _BETWEEN, *where) or 0

    @in_transaction(rows=lambda _before, limit, _lease: limit)
    def retain(self, transaction: Transaction, before: Seq, limit: int, lease: Lease) -> int:
        """Delete at most `limit` of the oldest events before `before`; raise the floor; return how many."""
        transaction.fence(lease)
        oldest = "SELECT seq FROM log WHERE seq<? ORDER BY seq LIMIT ?"
        if doomed := transaction.execute(oldest, (min(before, LAST), limit)).fetchall():
            floor = doomed[-1]
            transaction.execute("DELETE FROM log WHERE seq<=?", floor)
            transaction.execute("UPDATE fact SET value=? WHERE name='floor'", floor)
        return len(doomed)


def _jar(state: SourceState) -> StoredJar:
    """Return the cookies of a state. They have their own age, so they count even if the state is refused."""
    return state.source, state.hot.cookies


class _States:
    """The states that one transaction writes. Each must derive from the previous one, in storage or here."""

    def __init__(self) -> None:
        self._rows: dict[SourceId, tuple[int, SourceState]] = {}
        self._bases: dict[int, bytes] = {}
        self._known: dict[SourceId, tuple[int, Version]] = {}
        self._beaten = False

    def follows(self, transaction: Transaction, before: Seq) -> bool:
        """Admit a heartbeat that follows the newest; of several in one transaction, only the first."""
        if self._beaten or newest_heartbeat(transaction.connection) != before:
            return False
        self._beaten = True
        return True

    def know(self, transaction: Transaction, states: Sequence[SourceState]) -> None:
        """Read the versions of several sources in one statement; single round trips would dominate an append."""
        ids = list(dict.fromkeys(state.source for state in states))
        if len(ids) > 1:
            marks = ",".join("?" * len(ids))
            rows = transaction.execute(f"{_KEYS} ({marks})", ids).fetchall()
            self._known = {SourceId(id): (key, Version(version)) for id, key, version in rows}

    def take(self, transaction: Transaction, state: SourceState) -> int | StateMoved | None:
        """Admit a state and return its source's number, None if there is no such source."""
        if (before := self._rows.get(state.source)) is not None:
            key, version = before[0], before[1].version
        else:
            # An unknown source may be new in this transaction.
            found = self._known.get(state.source) or transaction.execute(_KEY, (state.source,)).fetchone()
            if found is None:
                return None
            key, version = found
        if version != state.since:
            return StateMoved(state.source)
        self.put(key, state)
        return key

    def put(self, key: int, state: SourceState) -> None:
        self._rows[state.source] = (key, state)
        if state.base is not None:
            self._bases[key] = state.base

    def write(self, transaction: Transaction) -> None:
        transaction.put_hot([(encode_hot(state.hot), state.version, key) for key, state in self._rows.values()])
        if self._bases:
            bases = [(base, key) for key, base in self._bases.items()]
            transaction.executemany("UPDATE source_base SET body=? WHERE key=?", bases)


def _admitted(transaction: Transaction, harvest: Harvest, states: _States) -> int | StateMoved | Duplicate | None:
    """Return a harvest's source number or its refusal, None to skip it; settle an owed notice, add a new source."""
    if harvest.source == SERVICE:
        if harvest.debtor is not None and not clear_notice(transaction, harvest.debtor, harvest.pays):
            return None
        if harvest.follows is not None and not states.follows(transaction, harvest.follows):
            return None
        transaction.execute(_KNOW, (SERVICE,))
        return int(transaction.execute(_NUMBER, (SERVICE,)).fetchone()[0])
    if harvest.born is not None and harvest.state is not None:
        try:
            return insert(transaction, harvest.born, harvest.state, harvest.known)
        except Duplicate as duplicate:
            return duplicate
    if harvest.state is not None:
        return states.take(transaction, harvest.state)
    found = transaction.execute(_KEY, (harvest.source,)).fetchone()
    return None if found is None else int(found[0])
