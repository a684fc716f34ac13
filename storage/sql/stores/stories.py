"""The index of stories: the newest event for each mark.

A mark is an integer; the recorder decides its meaning (`storage.append.Stories`). The newest marks are in memory and go
to their table in lots, since single ones would write a page each. After a start, other nodes' commits or a rollback,
memory is rebuilt from the log, so nothing is lost and all nodes find the same.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from storage.append import Stories
from storage.records.event import Draft, Stored
from storage.records.identity import COUNTER_BITS, START, Seq, SourceId
from storage.records.source import Harvest
from storage.sql.stores.scan import stored
from storage.sql.transaction import Transaction

WEEK = 7 * 86_400_000 << COUNTER_BITS
"""Log positions in a week: the most between two successive events of a story."""
LOT = 4_096
"""Marks written to the table at once."""
_MOST_READ = 5_000
"""Most events read again at once; earlier ones are found only in the table."""
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
        missing = [mark for mark in marks if mark not in found]
        if missing:
            places = ",".join("?" * len(missing))
            found |= dict(transaction.execute(f"{_FIND} ({places})", missing).fetchall())
        seqs = sorted(set(found.values()))
        if not seqs:
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
        marks = list(dict.fromkeys(mark for each in self._marks.values() for mark in each))
        if marks:
            index.follow(transaction, stories)
        for start in range(0, len(marks), _AT_ONCE):
            self._newest |= index.find(transaction, marks[start : start + _AT_ONCE])

    def of(self, source: SourceId, draft: Draft, at: Seq) -> str:
        """Return the story of a draft at a position, "" for its own."""
        found = self._newest.keys() & self._marks[id(draft)]
        if not found:
            return ""
        earlier = {event.seq: event for event in map(self._newest.__getitem__, found) if event.seq > at - WEEK}
        return self._stories.story(source, draft, list(earlier.values())) if earlier else ""

    def add(self, draft: Draft, event: Stored) -> None:
        marks = self._marks[id(draft)]
        self._newest |= dict.fromkeys(marks, event)
        self._found |= dict.fromkeys(marks, event.seq)

    def write(self, upto: Seq) -> None:
        if self._found:
            self._index.add(self._transaction, self._found, upto)


def _rows(transaction: Transaction, first: Seq) -> list[Stored]:
    found = transaction.execute(f"{_STORED} l.seq>=? ORDER BY l.seq DESC LIMIT ?", (first, _MOST_READ)).fetchall()
    return [stored(*row) for row in found]
