"""The members of a database in PostgreSQL: a row for each, a view, and a lock on the view for changing it.

A beat is a single statement and locks its own row only. A change of the view locks the view's row first and then
the members' rows, so two changes cannot deadlock, and the second finds nothing left to do.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import msgspec

from extras.cluster.members.view_change import BREAK, LEASE, due
from extras.cluster.postgres.engine.connection import PostgresConnection
from extras.cluster.postgres.engine.readers import LinePool
from extras.cluster.postgres.server import SharedClock
from storage.ownership import Members
from storage.records.identity import Seq
from storage.records.member import Failover, Member, Says, View
from storage.sql.transaction import Query

WITHIN = LEASE - 1
"""Most seconds of a call: a later beat would be useless."""
# A row that has left gets no more beats, even one that was under way. The log's end is as of this statement:
# nothing is appended on another timeline before the members inside have sent a beat on it.
_BEAT = """INSERT INTO member AS m (id, inside, since, until, shown, timeline, says)
    VALUES(?, FALSE, moment(), moment() + ?, ?, timeline(), ?) ON CONFLICT(id) DO UPDATE SET
    since=CASE WHEN m.until < moment() + ? THEN moment() ELSE m.since END, until=excluded.until,
    shown=greatest(m.shown, excluded.shown), timeline=excluded.timeline, says=excluded.says
    WHERE m.until > '-infinity' RETURNING m.timeline,
    (SELECT coalesce(greatest((SELECT max(seq) FROM log), (SELECT value FROM fact WHERE name='floor')), 0))"""
_LEAVE = "UPDATE member SET until='-infinity', since=moment() WHERE id=?"
_LOOK = """SELECT v.number, moment(), EXISTS(SELECT 1 FROM fact WHERE name='drained' AND value=1),
    m.id, m.inside, m.since, m.until, m.shown, m.timeline, m.says
    FROM (SELECT number FROM view LIMIT 1) v LEFT JOIN member m ON TRUE ORDER BY m.id"""
_HOLD_VIEW = "SELECT number FROM view FOR UPDATE"
_HOLD_MEMBERS = "SELECT id FROM member ORDER BY id FOR UPDATE"
_INSIDE = "UPDATE member SET inside=? WHERE id=?"
_DROP = "DELETE FROM member WHERE id=?"
_DRAIN = "INSERT INTO fact VALUES('drained', ?) ON CONFLICT(name) DO UPDATE SET value=excluded.value"
_RAISE = "UPDATE view SET number=number+1"
_decode = msgspec.json.Decoder(Says).decode


class PostgresMembers(Members):
    """lease: seconds. forget: called after a failover, since readers may have seen more. clock: gets beats' times."""

    def __init__(
        self,
        pool: LinePool,
        me: str,
        shown: Callable[[], Seq],
        forget: Callable[[], None],
        lease: float = LEASE,
        *,
        clock: SharedClock | None = None,
    ) -> None:
        super().__init__(me)
        self._pool, self._shown, self._lease, self._clock = pool, shown, lease, clock
        self._left = False
        self._timeline = ""
        self._forget = forget

    def __repr__(self) -> str:
        return f"PostgresMembers({self.me}, left={self._left})"

    async def beat(self, says: Says) -> View:
        shown = self._shown()
        row = (self.me, self._lease, shown, msgspec.json.encode(says), self._lease - BREAK)

        def visit(connection: PostgresConnection) -> tuple[View, Sequence[Any] | None]:
            asked = 0.0 if self._clock is None else self._clock.own()
            *beats, rows = connection.ask([*([] if self._left else [Query(_BEAT, row)]), Query(_LOOK)], WITHIN)
            view, beaten = _view(rows), next((beat[0] for beat in beats if beat), None)
            if self._clock is not None:
                self._clock.hear(asked, view.at, self._clock.own())
            if self._left or due(view, self.me, self._lease) is None:
                return view, beaten
            return self._change(connection), beaten

        view, beaten = await self._pool.visit(visit)
        if beaten is not None:
            before, (self._timeline, ends) = self._timeline, beaten
            if before and before != self._timeline:
                self.failover = Failover(Seq(ends), shown)
                self._forget()
        return view

    async def leave(self) -> None:
        self._left = True

        def visit(connection: PostgresConnection) -> None:
            connection.execute(_LEAVE, (self.me,))
            self._change(connection)

        await self._pool.visit(visit)

    async def drain(self, *, on: bool) -> None:
        def visit(connection: PostgresConnection) -> None:
            connection.execute(_DRAIN, (int(on),))

        await self._pool.visit(visit)

    async def view(self) -> View:
        return _view((await self._pool.ask([Query(_LOOK)]))[0])

    def _change(self, connection: PostgresConnection) -> View:
        """Make a due change unless another member has made it; return the view after that."""
        connection.begin()
        try:
            connection.execute(_HOLD_VIEW)
            connection.execute(_HOLD_MEMBERS)
            # The clock is read with the rows locked: no beat can come until the end.
            view = _view(connection.execute(_LOOK).fetchall())
            change = due(view, self.me, self._lease)
            if change is not None:
                connection.executemany(_INSIDE, [(True, id) for id in change.comes])
                connection.executemany(_INSIDE, [(False, id) for id in change.goes])
                connection.executemany(_DROP, [(id,) for id in change.drops])
                connection.execute(_RAISE)
                view = _view(connection.execute(_LOOK).fetchall())
        except BaseException:
            connection.roll_back()
            raise
        connection.commit()
        return view


def _view(rows: Sequence[Any]) -> View:
    members = tuple(_member(row[3:]) for row in rows if row[3] is not None)
    return View(rows[0][0], rows[0][1], members, rows[0][2])


def _member(row: Sequence[Any]) -> Member:
    id, inside, since, until, shown, timeline, says = row
    return Member(id, inside, since, until, Seq(shown), timeline, _decode(says))
