"""Reading the log on a read-only connection: filtered pages forward and back, heartbeats, sizes of sources.

There are two plans for a page. For a few whole sources, positions come from the source index, merged, and only their
rows are read. Any other filter walks the log in order and filters in Python, so that every engine and the in-memory
ring share one definition of a match (`Filter.admits`). A page always reports how far it has read, even without matches.

Heartbeats are events of the service itself, mixed with all others, so their positions come from the source index too.

Sizes of sources are fast: events are counted in the index, bytes estimated from the newest events. Adding up all bodies
would read a page of the file for each (`sanderling sources sizes` does). Here a source costs its range of the index and
a few pages.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator, Mapping, Sequence
from contextlib import closing
from itertools import accumulate, islice
from typing import Final, NamedTuple

import msgspec

from storage.errors import Corrupt, NewerSchema
from storage.records.event import Bounds, Filter, Page, SourceSize, Stored
from storage.records.identity import SERVICE, START, Seq, SourceId
from storage.records.tiers import Kind
from storage.secrets.sealing import Connection

MOST = 500
"""Most events in a page."""
SIZE = 1 << 20
"""Bytes of bodies that fill a page: bodies have up to 100 KB, and no reader should hold 500 of them."""
SOME = 25
"""Rows fetched at once."""
FILTERED = 100
"""Rows of one fetch if most may be filtered out."""
FEW = 16
"""Most sources whose index entries are merged; with more, the log is walked."""
LAST = Seq((1 << 63) - 1)

Row = tuple[Seq, int, int, int, bytes]

_ROW = "SELECT seq, source, kind, codec, body FROM log WHERE "
NEWER = """SELECT l.seq, k.id, l.kind, l.codec, l.body FROM log l JOIN source_key k ON k.key=l.source
    WHERE l.seq>? ORDER BY l.seq LIMIT ?"""
_FLOOR = "SELECT value FROM fact WHERE name='floor'"
_ENDS = "SELECT (SELECT min(seq) FROM log), (SELECT max(seq) FROM log), (SELECT value FROM fact WHERE name='floor')"


class _Direction(NamedTuple):
    walk: str
    of_source: str


_INDEXED = "SELECT seq FROM log INDEXED BY log_source WHERE source=? AND "
FORWARD = _Direction(_ROW + "seq>? AND seq<=? ORDER BY seq LIMIT ?", _INDEXED + "seq>? AND seq<=? ORDER BY seq LIMIT ?")
BACK = _Direction(
    _ROW + "seq<? AND seq>=? ORDER BY seq DESC LIMIT ?", _INDEXED + "seq<? AND seq>=? ORDER BY seq DESC LIMIT ?"
)


def bounds(connection: Connection, known: Seq) -> Bounds:
    """Return the log's ends. `newest` is at least `known`, which readers may have seen even if it is gone."""
    oldest, newest, floor = connection.execute(_ENDS).fetchone()
    return Bounds(Seq(floor), Seq(oldest or START), Seq(max(newest or START, floor, known)))


class ScanRequest(NamedTuple):
    """A read: at most `limit` events that pass `where`, reading at most `budget` rows."""

    limit: int
    where: Filter
    budget: int


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

    def get(self, connection: Connection, seq: Seq) -> Stored | None:
        row = connection.execute(_ROW + "seq=?", (seq,)).fetchone()
        return None if row is None else _stored(connection, self._ids, row)

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
                        events = [_stored(self._connection, self._ids, row) for row in rows]
                    found += events
                    size += sum([len(event.body) for event in events])
                    if len(found) >= self._limit or size >= SIZE:
                        found = found[: min(self._limit, _fitting(found, size))]
                        return found, found[-1].seq
            if fetched_count < most:
                return found, self._end
            self._budget -= most
        return found, at

    def _filtered(self, rows: Sequence[Row]) -> Iterator[Stored]:
        for row in rows:
            event = _stored(self._connection, self._ids, row)
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

    def _fetch(self, at: Seq, most: int) -> Generator[tuple[Seq, int, Sequence[Row]]]:
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


def _fitting(events: Sequence[Stored], size: int) -> int:
    """Return how many of the first events fill a page; `size`: bytes of all."""
    if size < SIZE:
        return len(events)
    sizes = accumulate(len(event.body) for event in events)
    return 1 + next(count for count, so_far in enumerate(sizes) if so_far >= SIZE)


def stored(seq: int, source: str, kind: int, codec: int, body: bytes) -> Stored:
    """Return the event of a row of `NEWER`. Raises NewerSchema."""
    if codec != 0:
        raise NewerSchema(f"event {seq} is stored in form {codec}, which this program does not know")
    return Stored(Seq(seq), SourceId(source), kind, body)


def _stored(connection: Connection, ids: dict[int, SourceId], row: Row) -> Stored:
    seq, number, kind, codec, body = row
    source = ids.get(number)
    if source is None:
        (source,) = connection.execute("SELECT id FROM source_key WHERE key=?", (number,)).fetchone()
        ids[number] = source
    return stored(seq, source, kind, codec, body)


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
    row = connection.execute(_NEWEST_HEARTBEAT).fetchone()
    return START if row is None else Seq(row[0])


def forget_heartbeats(connection: Connection, before: Seq, keep: int, limit: int) -> int:
    over = connection.execute(_OVER, (keep,)).fetchone()
    if over is None:
        return 0
    expired = connection.execute(_OLDEST_HEARTBEATS, (over[0], before, limit)).fetchall()
    for row in expired:
        connection.execute("DELETE FROM log WHERE seq=?", row)
    return len(expired)


SAMPLE = 50
"""Newest events of a source whose bodies are measured."""
MEASURED = 200
"""Sources with most events, among which the heaviest are found."""
_NUMBER = "SELECT key FROM source_key WHERE id=?"
_COUNT = "SELECT count(*) FROM log WHERE source=?"
_MEAN = "SELECT avg(length(body)) FROM (SELECT body FROM log WHERE source=? ORDER BY seq DESC LIMIT ?) newest"
_COUNTS = """SELECT k.id, l.source, l.events FROM (
    SELECT source, count(*) AS events FROM log GROUP BY source ORDER BY events DESC, source LIMIT ?
) l JOIN source_key k ON k.key=l.source"""


def held(connection: Connection, source: SourceId) -> SourceSize:
    key = connection.execute(_NUMBER, (source,)).fetchone()
    if key is None:
        return SourceSize(0, 0)
    (events,) = connection.execute(_COUNT, key).fetchone()
    return _estimate(connection, key[0], events)


def heaviest(connection: Connection, limit: int) -> Mapping[SourceId, SourceSize]:
    counted = connection.execute(_COUNTS, (max(limit, MEASURED),)).fetchall()
    found = {SourceId(id): _estimate(connection, key, events) for id, key, events in counted}
    return dict(sorted(found.items(), key=lambda item: (-item[1].bytes, item[0]))[:limit])


def _estimate(connection: Connection, key: int, events: int) -> SourceSize:
    (mean,) = connection.execute(_MEAN, (key, SAMPLE)).fetchone()
    return SourceSize(events, round(events * (mean or 0)))
