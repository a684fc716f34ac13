"""People, their roles, invitations and activity in SQL.

A person who loses a role or access loses all sessions in the same transaction. `keys.py` looks up the role with each
key, so the person's keys lose it at their next request.
"""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from storage.records.identity import Millis
from storage.records.person import ACTIVITY_LIFE, INVITATION_LIFE, Activity, Invitation, Person
from storage.secrets.sealing import TOTP, Connection
from storage.sql.transaction import Store, Transaction, every_row, first_row, in_transaction, write_one

ALWAYS = Millis(0)
"""A time before all changes, and at which no key has expired."""
_PERSON = """SELECT p.id, p.name, p.email, m.role, p.created_at, p.issuer, p.subject, p.hashed, p.totp IS NOT NULL,
    p.disabled FROM person p JOIN membership m ON m.person=p.id AND m.space_id=1"""
_ALL = _PERSON + " ORDER BY p.created_at, p.id"
_BY_ID = _PERSON + " WHERE p.id=?"
_BY_EMAIL = _PERSON + " WHERE p.email=? AND p.email<>''"
_BY_SUBJECT = _PERSON + " WHERE p.issuer=? AND p.subject=?"
_ADD = """INSERT INTO person(id, name, email, issuer, subject, hashed, disabled, created_at) VALUES(?,?,?,?,?,?,?,?)
    ON CONFLICT DO NOTHING"""
_JOIN = "INSERT INTO membership(person, space_id, role) VALUES(?,1,?)"
_CHANGE = "UPDATE person SET name=?, email=?, issuer=?, subject=?, hashed=?, disabled=? WHERE id=?"
_OWNERS = """SELECT count(*) FROM membership m JOIN person p ON p.id=m.person
    WHERE m.role='owner' AND p.disabled=0 AND p.id<>?"""
_INVITED = "SELECT id, sha256, email, role, by, created_at FROM invitation"
_INVITATIONS = _INVITED + " ORDER BY created_at, id"
_INVITATION = _INVITED + " WHERE sha256=?"
_INVITE = "INSERT INTO invitation(id, sha256, email, role, by, created_at) VALUES(?,?,?,?,?,?)"
_STALE_INVITATIONS = "DELETE FROM invitation WHERE created_at<=?"
_ACT = """INSERT INTO activity(id, at, person, by, operation, object, before, after) VALUES(?,?,?,?,?,?,?,?)"""
_ACTED = """SELECT id, at, person, by, operation, object, before, after FROM activity
    WHERE id<? AND at>=? AND (?='' OR person=?) AND (?='' OR object=?) ORDER BY id DESC LIMIT ?"""
_FORGET = "DELETE FROM activity WHERE id IN (SELECT id FROM activity WHERE at<=? LIMIT ?)"


class Accounts(Store):
    """People with roles, invitations, and who changed what. The next call sees changes by other processes."""

    async def all(self) -> Sequence[Person]:
        return [_person(row) for row in await every_row(self._readers, _ALL)]

    async def get(self, person_id: str) -> Person | None:
        return await self._one(_BY_ID, person_id)

    async def by_email(self, email: str) -> Person | None:
        return await self._one(_BY_EMAIL, email.lower())

    async def by_subject(self, issuer: str, subject: str) -> Person | None:
        return await self._one(_BY_SUBJECT, issuer, subject)

    async def _one(self, query: str, *given: str) -> Person | None:
        row = await first_row(self._readers, query, *given)
        return None if row is None else _person(row)

    async def add(self, person: Person, *, invitation: str = "") -> bool:
        """Return whether it was done: e-mail and subject are free, and the `invitation` (SHA-256), if any, unused."""

        def job(transaction: Transaction) -> bool:
            used = "DELETE FROM invitation WHERE sha256=?"
            if invitation and transaction.execute(used, (invitation,)).rowcount < 1:
                return False
            row = (person.id, person.name, person.email, person.issuer, person.subject, person.hashed)
            if transaction.execute(_ADD, (*row, int(person.disabled), person.created_at)).rowcount < 1:
                if invitation:
                    raise SubjectTaken
                return False
            transaction.execute(_JOIN, (person.id, person.role))
            return True

        try:
            return await self._writer.submit(job)
        except SubjectTaken:
            return False

    @in_transaction()
    def change(self, transaction: Transaction, person: Person, *, password_set: bool) -> bool:
        """Store a person's changed fields, except `totp`; return whether it was done. False: the person is gone, or was
        the last owner and no password of the service is left (`password_set`). A changed role, password or `disabled`
        ends the person's sessions.
        """
        old = find_person(transaction.connection, person.id)
        if old is None:
            return False
        leaves = old.role == "owner" and not old.disabled and (person.role != "owner" or person.disabled)
        if leaves and not password_set and _is_last(transaction.connection, person.id):
            return False
        row = (person.name, person.email, person.issuer, person.subject, person.hashed, int(person.disabled))
        transaction.execute(_CHANGE, (*row, person.id))
        transaction.execute("UPDATE membership SET role=? WHERE person=? AND space_id=1", (person.role, person.id))
        if (old.role, old.disabled, old.hashed) != (person.role, person.disabled, person.hashed):
            transaction.execute("DELETE FROM session WHERE person=?", (person.id,))
        return True

    @in_transaction()
    def remove(self, transaction: Transaction, person_id: str, *, password_set: bool) -> bool:
        """Delete a person with all sessions, keys and read marks; return whether it was done, as in `change`."""
        old = find_person(transaction.connection, person_id)
        if old is None or (old.role == "owner" and not password_set and _is_last(transaction.connection, person_id)):
            return False
        for statement in _REMOVAL:
            transaction.execute(statement, (person_id,))
        return True

    async def totp(self, person_id: str) -> bytes | None:
        row = await first_row(self._readers, "SELECT totp FROM person WHERE id=?", person_id)
        return None if row is None or row[0] is None else self._vault.open(TOTP.kind, person_id, row[0])

    async def set_totp(self, person_id: str, secret: bytes | None) -> bool:
        sealed = None if secret is None else self._vault.seal(TOTP.kind, person_id, secret)
        return await write_one(self._writer, "UPDATE person SET totp=? WHERE id=?", sealed, person_id) > 0

    @in_transaction()
    def use_totp(self, transaction: Transaction, person_id: str, stored: bytes, secret: bytes) -> bool:
        """Replace the secret if it is still `stored`; return whether it was. So of two uses of a code, one succeeds."""
        row = transaction.execute("SELECT totp FROM person WHERE id=?", (person_id,)).fetchone()
        if row is None or row[0] is None or self._vault.open(TOTP.kind, person_id, row[0]) != stored:
            return False
        sealed = self._vault.seal(TOTP.kind, person_id, secret)
        transaction.execute("UPDATE person SET totp=? WHERE id=?", (sealed, person_id))
        return True

    async def invitations(self, now: Millis) -> Sequence[Invitation]:
        rows = await every_row(self._readers, _INVITATIONS)
        return [one for row in rows if (one := Invitation(*row)).created_at > now - INVITATION_LIFE]

    async def invitation(self, sha256: str, now: Millis) -> Invitation | None:
        row = await first_row(self._readers, _INVITATION, sha256)
        found = None if row is None else Invitation(*row)
        return found if found is not None and found.created_at > now - INVITATION_LIFE else None

    async def invite(self, one: Invitation) -> None:
        await write_one(self._writer, _INVITE, one.id, one.sha256, one.email, one.role, one.by, one.created_at)

    async def withdraw(self, invitation_id: str) -> bool:
        return await write_one(self._writer, "DELETE FROM invitation WHERE id=?", invitation_id) > 0

    async def record(self, one: Activity) -> None:
        await self._writer.submit(lambda transaction: insert_activity(transaction.connection, one))

    async def activity(
        self, before: str, limit: int, *, person: str = "", object: str = "", since: Millis = ALWAYS
    ) -> Sequence[Activity]:
        """Return the newest changes with a smaller id than `before`, newest first; of one person or object if named."""
        rows = await every_row(self._readers, _ACTED, before, since, person, person, object, object, limit)
        fields = Activity.__struct_fields__
        return [Activity(**dict(zip(fields, row, strict=True))) for row in rows]

    async def sweep(self, now: Millis, limit: int) -> int:
        """Delete at most `limit` old activity records, and invitations that ended; return how many records."""
        await write_one(self._writer, _STALE_INVITATIONS, now - INVITATION_LIFE)
        return await write_one(self._writer, _FORGET, now - ACTIVITY_LIFE, limit, rows=limit)


class SubjectTaken(Exception):
    """The e-mail or subject of a new person is taken."""


_REMOVAL = (
    "DELETE FROM session WHERE person=?",
    "DELETE FROM api_key WHERE person=?",
    "DELETE FROM oauth_grant WHERE person=?",
    "DELETE FROM read_mark WHERE person=?",
    "DELETE FROM person WHERE id=?",
)


def insert_activity(connection: Connection, one: Activity) -> None:
    connection.execute(_ACT, (one.id, one.at, one.person, one.by, one.operation, one.object, one.before, one.after))


def find_person(connection: Connection, text: str) -> Person | None:
    for query, value in ((_BY_ID, text), (_BY_EMAIL, text.lower())):
        if (row := connection.execute(query, (value,)).fetchone()) is not None:
            return _person(row)
    return None


def _is_last(connection: Connection, person_id: str) -> bool:
    return not connection.execute(_OWNERS, (person_id,)).fetchone()[0]


def _person(row: Sequence[object]) -> Person:
    fields = ("id", "name", "email", "role", "created_at", "issuer", "subject", "hashed", "totp", "disabled")
    named = dict(zip(fields, row, strict=True))
    return msgspec.convert(named | {"totp": bool(named["totp"]), "disabled": bool(named["disabled"])}, Person)
