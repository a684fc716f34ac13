"""The dashboard's password, sessions, saved views and read events in SQL.

Every request looks up its session, like a key: see `keys.py`.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

import msgspec

from storage.records.identity import Millis
from storage.records.key import IDLE, LIFE, Password, ReadEvents, SavedView, Session, SetUpLink
from storage.secrets.sealing import Connection
from storage.sql.transaction import Store, Transaction, every_row, in_transaction, write_each, write_one

_SESSION = """SELECT s.id, s.sha256, s.created_at, s.seen_at, s.agent, s.address, s.person, coalesce(p.name, ''),
    coalesce(m.role, 'owner') FROM session s LEFT JOIN person p ON p.id=s.person AND p.disabled=0
    LEFT JOIN membership m ON m.person=p.id AND m.space_id=1 WHERE (s.person='' OR m.role IS NOT NULL)"""
_BY_HASH = _SESSION + " AND s.sha256=?"
_ALL = _SESSION + " ORDER BY s.seen_at DESC, s.id"
_OPEN = "INSERT INTO session(id, sha256, created_at, seen_at, agent, address, person) VALUES(?,?,?,?,?,?,?)"
_PASSWORD = "SELECT hashed, set_at FROM password"  # noqa: S105 - a query
_LINK = "SELECT sha256, created_at FROM set_up_link"
_SET_PASSWORD = """INSERT INTO password(one, hashed, set_at) VALUES(1,?,?)
    ON CONFLICT(one) DO UPDATE SET hashed=excluded.hashed, set_at=excluded.set_at"""  # noqa: S105 - a query
_OFFER = """INSERT INTO set_up_link(one, sha256, created_at) VALUES(1,?,?)
    ON CONFLICT(one) DO UPDATE SET sha256=excluded.sha256, created_at=excluded.created_at"""
_ENDED = "DELETE FROM session WHERE id IN (SELECT id FROM session WHERE created_at<=? OR seen_at<=? LIMIT ?)"


class People(Store):
    """The dashboard's password, the link to set it, and the sessions. The next call sees changes by commands."""

    async def password(self) -> Password | None:
        return await self._readers.run(read_password)

    async def link(self) -> SetUpLink | None:
        return await self._readers.run(_read_link)

    async def offer(self, link: SetUpLink) -> None:
        await self._writer.submit(lambda transaction: insert_link(transaction.connection, link))

    @in_transaction()
    def settle(
        self, transaction: Transaction, password: Password, session: Session, *, link: str | None = None
    ) -> bool:
        """Set the password, end all sessions, open this one. With `link` (SHA-256): only if unused, and use it up."""
        waits = _read_link(transaction.connection)
        if link is not None and (waits is None or waits.sha256 != link):
            return False
        transaction.execute(_SET_PASSWORD, (password.hashed, password.set_at))
        transaction.execute("DELETE FROM set_up_link", ())
        transaction.execute("DELETE FROM session WHERE person=''", ())
        transaction.execute(_OPEN, _row(session))
        return True

    @in_transaction()
    def sign_in(self, transaction: Transaction, session: Session, under: Password) -> bool:
        """Open a session unless the password has changed; return whether it was opened."""
        if read_password(transaction.connection) != under:
            return False
        transaction.execute(_OPEN, _row(session))
        return True

    async def open(self, session: Session) -> None:
        await write_one(self._writer, _OPEN, *_row(session))

    async def session(self, sha256: str) -> Session | None:
        """Return the session with this hash, expired or not. On the path of every request: microseconds."""
        row = await self._readers.one(_BY_HASH, (sha256,))
        return None if row is None else Session(*row)

    async def sessions(self) -> Sequence[Session]:
        return [Session(*row) for row in await every_row(self._readers, _ALL)]

    async def sign_out(self, session_id: str) -> bool:
        return await write_one(self._writer, "DELETE FROM session WHERE id=?", session_id) > 0

    async def touch(self, seen: Mapping[str, Millis]) -> None:
        rows = [(at, session_id) for session_id, at in seen.items()]
        await write_each(self._writer, "UPDATE session SET seen_at=? WHERE id=?", rows)

    async def sweep(self, now: Millis, limit: int) -> int:
        return await write_one(self._writer, _ENDED, now - LIFE, now - IDLE, limit, rows=limit)


def read_password(connection: Connection) -> Password | None:
    row = connection.execute(_PASSWORD).fetchone()
    return None if row is None else Password(*row)


def insert_link(connection: Connection, link: SetUpLink) -> None:
    connection.execute(_OFFER, (link.sha256, link.created_at))


def _read_link(connection: Connection) -> SetUpLink | None:
    row = connection.execute(_LINK).fetchone()
    return None if row is None else SetUpLink(*row)


def _row(session: Session) -> tuple[object, ...]:
    when = (session.created_at, session.seen_at)
    return (session.id, session.sha256, *when, session.agent, session.address, session.person)


_decode_view = msgspec.json.Decoder(SavedView).decode
_PUT_VIEW = """INSERT INTO saved_view(id, created_at, body) VALUES(?,?,?)
    ON CONFLICT(id) DO UPDATE SET created_at=excluded.created_at, body=excluded.body"""


class SavedViews(Store):
    """Filters of lists, under names."""

    async def all(self) -> Sequence[SavedView]:
        rows = await every_row(self._readers, "SELECT body FROM saved_view ORDER BY created_at, id")
        return [_decode_view(body) for (body,) in rows]

    async def put(self, view: SavedView) -> None:
        await write_one(self._writer, _PUT_VIEW, view.id, view.created_at, msgspec.json.encode(view))

    async def delete(self, view_id: str) -> bool:
        return await write_one(self._writer, "DELETE FROM saved_view WHERE id=?", view_id) > 0


MOST_MARKS = 2_000
"""Marks of a person beside the position; with more, it moves up to the oldest of these, so nothing gets unread."""
_OLDEST = "SELECT seq FROM read_mark WHERE person=? AND whole=0 ORDER BY seq DESC LIMIT 1 OFFSET ?"
_MARK = """INSERT INTO read_mark(person, whole, seq, read) VALUES(?,?,?,?)
    ON CONFLICT(person, whole, seq) DO UPDATE SET read=excluded.read"""
_UNMARK = "DELETE FROM read_mark WHERE person=? AND seq<=?"


class ReadMarks(Store):
    """The events that each person has read; "" is the owner of the service's password. Devices add to each other."""

    async def of(self, person: str) -> ReadEvents:
        rows = await every_row(self._readers, "SELECT whole, seq, read FROM read_mark WHERE person=?", person)
        upto = max((seq for whole, seq, _ in rows if whole), default=0)
        return ReadEvents(upto, {seq: bool(read) for whole, seq, read in rows if not whole})

    @in_transaction(rows=lambda _person, seqs, **_: len(seqs))
    def mark(self, transaction: Transaction, person: str, seqs: Collection[int], *, read: bool) -> None:
        transaction.executemany(_MARK, [(person, 0, seq, int(read)) for seq in seqs])
        for (oldest,) in transaction.execute(_OLDEST, (person, MOST_MARKS)).fetchall():
            _read_up_to(transaction, person, oldest)

    async def mark_all(self, person: str, upto: int) -> None:
        await self._writer.submit(lambda transaction: _read_up_to(transaction, person, upto), rows=MOST_MARKS)


def _read_up_to(transaction: Transaction, person: str, upto: int) -> None:
    transaction.execute(_UNMARK, (person, upto))
    transaction.execute(_MARK, (person, 1, upto, 1))
