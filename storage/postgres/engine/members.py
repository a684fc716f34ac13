"""The members of a database in PostgreSQL: a row each, a view, and a lock on the view for whoever changes it.

A beat is a statement by itself and holds its own row only. Who changes the view takes the view's row first and the
members' rows then, so that two never wait for each other, and the second one finds nothing left to do.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import msgspec

from storage.postgres.engine.connection import PostgresConnection
from storage.postgres.engine.readers import LinePool
from storage.records.identity import Seq
from storage.records.member import LEASE, Member, Says, View

WITHIN = LEASE - 1
"""Seconds that a visit may take: a beat that came later than that would be of no use."""
# A row that has left is not beaten any more, whatever was under way when it left.
_BEAT = """INSERT INTO member AS m (id, inside, since, until, shown, timeline, says)
    VALUES(?, FALSE, moment(), moment() + ?, ?, timeline(), ?) ON CONFLICT(id) DO UPDATE SET
    since=CASE WHEN m.until < moment() THEN moment() ELSE m.since END, until=excluded.until,
    shown=greatest(m.shown, excluded.shown), timeline=excluded.timeline, says=excluded.says
    WHERE m.until > '-infinity'"""
_LEAVE = "UPDATE member SET until='-infinity', since=moment() WHERE id=?"
_LOOK = """SELECT v.number, moment(), m.id, m.inside, m.since, m.until, m.shown, m.timeline, m.says
    FROM view v LEFT JOIN member m ON TRUE ORDER BY m.id"""
_HOLD_VIEW = "SELECT number FROM view FOR UPDATE"
_HOLD_MEMBERS = "SELECT id FROM member ORDER BY id FOR UPDATE"
_INSIDE = "UPDATE member SET inside=? WHERE id=?"
_DROP = "DELETE FROM member WHERE id=?"
_RAISE = "UPDATE view SET number=number+1"
_decode = msgspec.json.Decoder(Says).decode


class PostgresMembers:
    """See `storage.interface.Members`. shown: the newest position that readers have seen here. lease: seconds."""

    def __init__(self, pool: LinePool, me: str, shown: Callable[[], Seq], lease: float = LEASE) -> None:
        self._pool, self._me, self._shown, self._lease = pool, me, shown, lease
        self._left = False

    def __repr__(self) -> str:
        return f"PostgresMembers({self._me}, left={self._left})"

    @property
    def me(self) -> str:
        """The id of this start."""
        return self._me

    async def beat(self, says: Says) -> View:
        """Beat, and change the view if that is due; see Members."""
        row = (self._me, self._lease, self._shown(), msgspec.json.encode(says))

        def visit(connection: PostgresConnection) -> View:
            if not self._left:
                connection.execute(_BEAT, row)
            view = _view(connection)
            if self._left or view.due(self._me, self._lease) is None:
                return view
            return self._change(connection)

        return await self._pool.visit(visit)

    async def leave(self) -> None:
        """Go out at once; see Members."""
        self._left = True

        def visit(connection: PostgresConnection) -> None:
            connection.execute(_LEAVE, (self._me,))
            self._change(connection)

        await self._pool.visit(visit)

    async def view(self) -> View:
        """Return the view; see Members."""
        return await self._pool.visit(_view)

    def _change(self, connection: PostgresConnection) -> View:
        """Do what is due, unless another member has done it meanwhile; return the view after that."""
        connection.begin()
        try:
            connection.execute(_HOLD_VIEW)
            connection.execute(_HOLD_MEMBERS)
            view = _view(connection)  # the clock is read when the rows are held: nobody beats between that and the end
            change = view.due(self._me, self._lease)
            if change is not None:
                connection.executemany(_INSIDE, [(True, id) for id in change.comes])
                connection.executemany(_INSIDE, [(False, id) for id in change.goes])
                connection.executemany(_DROP, [(id,) for id in change.drops])
                connection.execute(_RAISE)
                view = _view(connection)
        except BaseException:
            connection.roll_back()
            raise
        connection.commit()
        return view


def _view(connection: PostgresConnection) -> View:
    rows: Sequence[Any] = connection.execute(_LOOK).fetchall()
    members = tuple(_member(row[2:]) for row in rows if row[2] is not None)
    return View(rows[0][0], rows[0][1], members)


def _member(row: Sequence[Any]) -> Member:
    id, inside, since, until, shown, timeline, says = row
    return Member(id, inside, since, until, Seq(shown), timeline, _decode(says))
