"""People, passwords, sessions, keys, apps, saved views, read events, activity and idempotent calls in SQL.

Every request checks its key or session and the person's role, so `by_hash` is one indexed look-up, and nothing is
cached: the next call refuses a key that another process has revoked.

An OAuth refresh token has two halves: the family finds the grant, the turn changes with each renewal. So a known family
with another turn is an old token, used again by a thief or by the robbed app: the grant ends for both (OAuth 2.1,
4.3.1). An access token is the API key with the grant's id; it ends with the grant.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from functools import lru_cache
from typing import TypeVar

import msgspec
from msgspec.structs import astuple

from storage.records import access
from storage.records.access import ApiKey, OAuthCode, OAuthGrant, Password, Person, Session, SetUpLink, SigningKey
from storage.records.identity import Millis
from storage.secrets import SEEDS, TOTP, Connection, Vault, keep_public
from storage.sql.writing import Store, Transaction, every_row, found, in_transaction, write_each, write_one

_SESSION = """SELECT s.id, s.sha256, s.created_at, s.seen_at, s.agent, s.address, s.person, coalesce(p.name, ''),
    coalesce(m.role, 'owner') FROM session s LEFT JOIN person p ON p.id=s.person AND p.disabled=0
    LEFT JOIN membership m ON m.person=p.id AND m.space_id=1 WHERE (s.person='' OR m.role IS NOT NULL)"""
_BY_HASH = _SESSION + " AND s.sha256=?"
_ALL = _SESSION + " ORDER BY s.seen_at DESC, s.id"
_OPEN = "INSERT INTO session(id, sha256, created_at, seen_at, agent, address, person) VALUES(?,?,?,?,?,?,?)"
_STORED = 7  # fields of a session: its name and role are the person's
_TOTP = "SELECT totp FROM person WHERE id=? AND totp IS NOT NULL"
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
        return await self._first(Password, _PASSWORD)

    async def link(self) -> SetUpLink | None:
        return await self._first(SetUpLink, _LINK)

    async def offer(self, link: SetUpLink) -> None:
        await write_one(self._writer, _OFFER, link.sha256, link.created_at)

    @in_transaction()
    def settle(
        self, transaction: Transaction, password: Password, session: Session, *, link: str | None = None
    ) -> bool:
        """Set the password, end all sessions, open this one. With `link` (SHA-256): only if unused, and use it up."""
        waits = found(transaction, SetUpLink, _LINK)
        if link is not None and (waits is None or waits.sha256 != link):
            return False
        transaction.execute(_SET_PASSWORD, (password.hashed, password.set_at))
        transaction.execute("DELETE FROM set_up_link", ())
        transaction.execute("DELETE FROM session WHERE person=''", ())
        transaction.execute(_OPEN, astuple(session)[:_STORED])
        return True

    @in_transaction()
    def sign_in(self, transaction: Transaction, session: Session, under: Password) -> bool:
        """Open a session unless the password has changed; return whether it was opened."""
        if found(transaction, Password, _PASSWORD) != under:
            return False
        transaction.execute(_OPEN, astuple(session)[:_STORED])
        return True

    async def open(self, session: Session) -> None:
        await write_one(self._writer, _OPEN, *astuple(session)[:_STORED])

    async def session(self, sha256: str) -> Session | None:
        """Return the session with this hash, expired or not. On the path of every request: microseconds."""
        return await self._look_up(Session, _BY_HASH, sha256)

    async def sessions(self) -> Sequence[Session]:
        """Return all sessions, the last seen first."""
        return await self._all(Session, _ALL)

    async def sign_out(self, session_id: str) -> bool:
        return await write_one(self._writer, "DELETE FROM session WHERE id=?", session_id) > 0

    async def touch(self, seen: Mapping[str, Millis]) -> None:
        rows = [(at, session_id) for session_id, at in seen.items()]
        await write_each(self._writer, "UPDATE session SET seen_at=? WHERE id=?", rows)

    async def sweep(self, now: Millis, limit: int) -> int:
        """Delete at most `limit` expired sessions; return how many."""
        return await write_one(self._writer, _ENDED, now - access.LIFE, now - access.IDLE, limit, rows=limit)


_decode_view = msgspec.json.Decoder(access.SavedView).decode
_PUT_VIEW = """INSERT INTO saved_view(id, created_at, body) VALUES(?,?,?)
    ON CONFLICT(id) DO UPDATE SET created_at=excluded.created_at, body=excluded.body"""


class SavedViews(Store):
    """Filters of lists, under names."""

    async def all(self) -> Sequence[access.SavedView]:
        return await self._all(_decode_view, "SELECT body FROM saved_view ORDER BY created_at, id")

    async def put(self, view: access.SavedView) -> None:
        await write_one(self._writer, _PUT_VIEW, view.id, view.created_at, msgspec.json.encode(view))

    async def delete(self, view_id: str) -> bool:
        return await write_one(self._writer, "DELETE FROM saved_view WHERE id=?", view_id) > 0


MOST_MARKS = 2_000
"""Marks of a person besides the position; with more, it moves up to the oldest of these, so nothing gets unread."""
_OLDEST = "SELECT seq FROM read_mark WHERE person=? AND whole=0 ORDER BY seq DESC LIMIT 1 OFFSET ?"
_MARK = """INSERT INTO read_mark(person, whole, seq, read) VALUES(?,?,?,?)
    ON CONFLICT(person, whole, seq) DO UPDATE SET read=excluded.read"""
_UNMARK = "DELETE FROM read_mark WHERE person=? AND seq<=?"


class ReadMarks(Store):
    """The events that each person has read; "" is the owner of the service's password. Devices add to each other."""

    async def of(self, person: str) -> access.ReadEvents:
        rows = await every_row(self._readers, "SELECT whole, seq, read FROM read_mark WHERE person=?", person)
        upto = max((seq for whole, seq, _ in rows if whole), default=0)
        return access.ReadEvents(upto, {seq: bool(read) for whole, seq, read in rows if not whole})

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


ALWAYS = Millis(0)  # a time before all changes, and at which no key has expired
_PERSON = """SELECT p.id, p.name, p.email, m.role, p.created_at, p.issuer, p.subject, p.hashed, p.totp IS NOT NULL,
    p.disabled FROM person p JOIN membership m ON m.person=p.id AND m.space_id=1"""
_ALL_ACCOUNTS = _PERSON + " ORDER BY p.created_at, p.id"
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
        return await self._all(_person, _ALL_ACCOUNTS)

    async def get(self, person_id: str) -> Person | None:
        return await self._first(_person, _BY_ID, person_id)

    async def by_email(self, email: str) -> Person | None:
        return await self._first(_person, _BY_EMAIL, email.lower())

    async def by_subject(self, issuer: str, subject: str) -> Person | None:
        return await self._first(_person, _BY_SUBJECT, issuer, subject)

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
        if (old := find_person(transaction.connection, person.id)) is None:
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
        sealed = await self._first(bytes, _TOTP, person_id)
        return None if sealed is None else self._vault.open(TOTP.kind, person_id, sealed)

    async def set_totp(self, person_id: str, secret: bytes | None) -> bool:
        sealed = None if secret is None else self._vault.seal(TOTP.kind, person_id, secret)
        return await write_one(self._writer, "UPDATE person SET totp=? WHERE id=?", sealed, person_id) > 0

    @in_transaction()
    def use_totp(self, transaction: Transaction, person_id: str, stored: bytes, secret: bytes) -> bool:
        """Replace the secret if it is still `stored`; return whether it was. So of two uses of a code, one succeeds."""
        sealed = found(transaction, bytes, _TOTP, person_id)
        if sealed is None or self._vault.open(TOTP.kind, person_id, sealed) != stored:
            return False
        sealed = self._vault.seal(TOTP.kind, person_id, secret)
        transaction.execute("UPDATE person SET totp=? WHERE id=?", (sealed, person_id))
        return True

    async def invitations(self, now: Millis) -> Sequence[access.Invitation]:
        every = await self._all(access.Invitation, _INVITATIONS)
        return [invitation for invitation in every if invitation.created_at > now - access.INVITATION_LIFE]

    async def invitation(self, sha256: str, now: Millis) -> access.Invitation | None:
        invitation = await self._first(access.Invitation, _INVITATION, sha256)
        return invitation if invitation is not None and invitation.created_at > now - access.INVITATION_LIFE else None

    async def invite(self, invitation: access.Invitation) -> None:
        await write_one(self._writer, _INVITE, *astuple(invitation))

    async def withdraw(self, invitation_id: str) -> bool:
        return await write_one(self._writer, "DELETE FROM invitation WHERE id=?", invitation_id) > 0

    async def record(self, change: access.Activity) -> None:
        await self._writer.submit(lambda transaction: insert_activity(transaction.connection, change))

    async def activity(
        self, before: str, limit: int, *, person: str = "", object: str = "", since: Millis = ALWAYS
    ) -> Sequence[access.Activity]:
        """Return the newest changes with a smaller id than `before`, newest first; of one person or object if named."""
        return await self._all(access.Activity, _ACTED, before, since, person, person, object, object, limit)

    async def sweep(self, now: Millis, limit: int) -> int:
        """Delete at most `limit` old activity records, and invitations that ended; return how many records."""
        await write_one(self._writer, _STALE_INVITATIONS, now - access.INVITATION_LIFE)
        return await write_one(self._writer, _FORGET, now - access.ACTIVITY_LIFE, limit, rows=limit)


class SubjectTaken(Exception):
    """The e-mail or subject of a new person is taken."""


_REMOVAL = (
    "DELETE FROM session WHERE person=?",
    "DELETE FROM api_key WHERE person=?",
    "DELETE FROM oauth_grant WHERE person=?",
    "DELETE FROM read_mark WHERE person=?",
    "DELETE FROM person WHERE id=?",
)


def insert_activity(connection: Connection, change: access.Activity) -> None:
    connection.execute(_ACT, astuple(change))


def find_person(connection: Connection, text: str) -> Person | None:
    return found(connection, _person, _BY_ID, text) or found(connection, _person, _BY_EMAIL, text.lower())


def _is_last(connection: Connection, person_id: str) -> bool:
    return not connection.execute(_OWNERS, (person_id,)).fetchone()[0]


def _person(*row: object) -> Person:
    named = dict(zip(Person.__struct_fields__, row, strict=True))
    return msgspec.convert(named, Person, strict=False)  # 0 and 1 are truth values


T = TypeVar("T")
_decode = msgspec.json.Decoder(ApiKey).decode
_KEY_BY_HASH = """SELECT k.body, k.last_used_at, m.role FROM api_key k
    LEFT JOIN person p ON p.id=k.person AND p.disabled=0 LEFT JOIN membership m ON m.person=p.id AND m.space_id=1
    WHERE k.sha256=? AND (k.person='' OR m.role IS NOT NULL)"""
_ALL_KEYS = "SELECT body, last_used_at FROM api_key ORDER BY created_at, id"
_SIGNING = "SELECT key_id, seed, created_at, state FROM signing_key ORDER BY state, created_at DESC, key_id"
_PUBLIC = """SELECT key_id, x, created_at FROM public_key WHERE key_id NOT IN (SELECT key_id FROM signing_key)
    ORDER BY created_at, key_id"""
_PUT_PUBLIC = "INSERT INTO public_key(key_id, x, created_at) VALUES(?,?,?) ON CONFLICT DO NOTHING"
_FORGET_PUBLIC = "DELETE FROM public_key WHERE key_id=? AND key_id NOT IN (SELECT key_id FROM signing_key)"
_FIRST = """INSERT INTO signing_key(key_id, seed, created_at, state) SELECT ?, ?, ?, 'active'
    WHERE NOT EXISTS(SELECT 1 FROM signing_key) ON CONFLICT DO NOTHING"""
_ACTIVE = "SELECT key_id FROM signing_key WHERE state='active'"


class Keys(Store):
    """API keys (`all`: without access tokens) and signing keys, the active first. Commands' changes show at once."""

    async def add(self, key: ApiKey) -> None:
        await self._writer.submit(lambda transaction: insert_key(transaction.connection, key))

    async def by_hash(self, sha256: str, now: Millis = ALWAYS) -> ApiKey | None:
        """Return the key unless revoked or expired, with its person's scopes. On the path of every request."""
        key = await self._look_up(_key, _KEY_BY_HASH, sha256)
        return key if key is None or key.expires_at is None or key.expires_at > now else None

    async def all(self) -> Sequence[ApiKey]:
        return await self._readers.run(all_keys)

    async def revoke(self, key_id: str) -> bool:
        return await self._writer.submit(lambda transaction: delete_key(transaction.connection, key_id))

    async def touch(self, used: Mapping[str, Millis]) -> None:
        rows = [(at, key_id) for key_id, at in used.items()]
        await write_each(self._writer, "UPDATE api_key SET last_used_at=? WHERE id=?", rows)

    async def signing(self) -> Sequence[SigningKey]:
        return await self._readers.run(lambda connection: all_signing(connection, self._vault))

    async def active_signing(self) -> str | None:
        """Return the id of the active signing key. On the path of every batch of events: microseconds."""
        return await self._look_up(str, _ACTIVE)

    async def add_signing(self, key: SigningKey) -> None:
        await self._writer.submit(lambda transaction: insert_signing(transaction.connection, key, self._vault))

    @in_transaction()
    def add_first_signing(self, transaction: Transaction, key: SigningKey) -> None:
        """Add a signing key as the active one unless there is one: of concurrent starts, one adds the first."""
        sealed = self._vault.seal(SEEDS.kind, key.key_id, key.seed)
        if transaction.execute(_FIRST, (key.key_id, sealed, key.created_at)).rowcount > 0:
            keep_public(transaction.connection, key.key_id, key.seed, key.created_at)

    async def public(self) -> Sequence[access.PublicKey]:
        """Return public keys, oldest first, of keys that are elsewhere or given up; they signed events in the log."""
        return await self._readers.run(all_public)

    async def add_public(self, keys: Sequence[access.PublicKey]) -> None:
        """Store public keys permanently; an existing one stays unchanged."""
        await write_each(self._writer, _PUT_PUBLIC, [(key.key_id, key.x, key.created_at) for key in keys])


class CommandKeys:
    """For a short-lived command. Synchronous. A running service sees each change at its next request or event."""

    def _run(self, act: Callable[[Connection], T]) -> T:
        raise NotImplementedError

    def signing(self) -> Sequence[SigningKey]:
        """Return all signing keys, the active one first. Raises NoKey."""
        raise NotImplementedError

    def add_signing(self, key: SigningKey) -> None:
        """Add a signing key as the active one. Raises NoKey."""
        raise NotImplementedError

    def add(self, key: ApiKey, done: access.Activity | None = None) -> None:
        def act(connection: Connection) -> None:
            insert_key(connection, key)
            if done is not None:
                insert_activity(connection, done)

        self._run(act)

    def person(self, text: str) -> Person | None:
        return self._run(lambda connection: find_person(connection, text))

    def all(self) -> Sequence[ApiKey]:
        return self._run(all_keys)

    def revoke(self, key_id: str, done: access.Activity | None = None) -> bool:
        def act(connection: Connection) -> bool:
            gone = delete_key(connection, key_id)
            if gone and done is not None:
                insert_activity(connection, done)
            return gone

        return self._run(act)

    def public(self) -> Sequence[access.PublicKey]:
        return self._run(all_public)

    def forget_public(self, key_id: str) -> bool:
        return self._run(lambda connection: connection.execute(_FORGET_PUBLIC, (key_id,)).rowcount > 0)

    def password(self) -> Password | None:
        return self._run(lambda connection: found(connection, Password, _PASSWORD))

    def offer(self, link: SetUpLink) -> None:
        self._run(lambda connection: connection.execute(_OFFER, (link.sha256, link.created_at)))


def insert_key(connection: Connection, key: ApiKey) -> None:
    insert = "INSERT INTO api_key(id, sha256, created_at, last_used_at, person, body) VALUES(?,?,?,?,?,?)"
    when = (key.created_at, key.last_used_at)
    connection.execute(insert, (key.id, key.sha256, *when, key.person, msgspec.json.encode(key)))


def delete_key(connection: Connection, key_id: str) -> bool:
    return connection.execute("DELETE FROM api_key WHERE id=?", (key_id,)).rowcount > 0


def all_keys(connection: Connection) -> Sequence[ApiKey]:
    return [key for row in connection.execute(_ALL_KEYS).fetchall() if not (key := _key(*row)).grant]


def all_signing(connection: Connection, vault: Vault) -> Sequence[SigningKey]:
    rows = connection.execute(_SIGNING).fetchall()
    return [SigningKey(id, vault.open(SEEDS.kind, id, seed), at, state) for id, seed, at, state in rows]


def all_public(connection: Connection) -> Sequence[access.PublicKey]:
    return [access.PublicKey(*row) for row in connection.execute(_PUBLIC).fetchall()]


def insert_signing(connection: Connection, key: SigningKey, vault: Vault) -> None:
    """Write a signing key as the active one and retire the others, inside the caller's transaction."""
    connection.execute("UPDATE signing_key SET state='retired'")
    insert = "INSERT INTO signing_key(key_id, seed, created_at, state) VALUES(?,?,?,'active')"
    connection.execute(insert, (key.key_id, vault.seal(SEEDS.kind, key.key_id, key.seed), key.created_at))
    keep_public(connection, key.key_id, key.seed, key.created_at)


@lru_cache(maxsize=1024)  # thousands of streams may hold one key
def _key(body: bytes, used: Millis | None, role: access.Role | None = None) -> ApiKey:
    key = _decode(body)
    scopes = key.scopes if role is None else access.allowed(key.scopes, role)
    return msgspec.structs.replace(key, last_used_at=used, scopes=scopes)


_client = msgspec.json.Decoder(access.OAuthClient).decode
_code = msgspec.json.Decoder(OAuthCode).decode
_grant = msgspec.json.Decoder(OAuthGrant).decode
_PUT_CLIENT = """INSERT INTO oauth_client(id, ends_at, body) VALUES(?,?,?)
    ON CONFLICT(id) DO UPDATE SET body=excluded.body"""
_SWEEP_CLIENTS = "DELETE FROM oauth_client WHERE ends_at<=? AND id NOT IN (SELECT client FROM oauth_grant)"
_NEXT_TO_END = """SELECT id FROM oauth_client WHERE ends_at<=? AND id NOT IN (SELECT client FROM oauth_grant)
    ORDER BY ends_at, id LIMIT 1"""
_KEEP_CLIENT = "UPDATE oauth_client SET ends_at=? WHERE id=?"
_PUT_CODE = "INSERT INTO oauth_code(sha256, at, used, body) VALUES(?,?,0,?)"
_TAKE = "UPDATE oauth_code SET used=1 WHERE sha256=? AND used=0"
_SPEND = "UPDATE oauth_code SET used=2 WHERE sha256=? AND used=1"
_STALE = "SELECT id FROM oauth_grant WHERE at<=?"
_PUT_GRANT = "INSERT INTO oauth_grant(id, person, client, refresh, turn, at, body) VALUES(?,?,?,?,?,?,?)"
_LISTED = """SELECT g.body, k.last_used_at FROM oauth_grant g JOIN api_key k ON k.id=g.id
    WHERE g.at>? ORDER BY g.id"""
_BY_REFRESH = "SELECT body, turn, at FROM oauth_grant WHERE refresh=?"
_NEXT_TURN = "UPDATE oauth_grant SET turn=?, at=? WHERE id=? AND turn=?"
_RENEW = "UPDATE api_key SET sha256=?, body=? WHERE id=?"
_HAS_ACCESS = """SELECT 1 FROM person p JOIN membership m ON m.person=p.id AND m.space_id=1
    WHERE p.id=? AND p.disabled=0"""


class OAuth(Store):
    """Apps, codes and grants. The next call sees changes by other processes."""

    async def client(self, client_id: str) -> access.OAuthClient | None:
        return await self._first(_client, "SELECT body FROM oauth_client WHERE id=?", client_id)

    @in_transaction()
    def put_client(self, transaction: Transaction, client: access.OAuthClient, now: Millis) -> bool:
        """Store an app; return whether there was room. The oldest one without consent gives way if it is not fresh."""
        transaction.execute(_SWEEP_CLIENTS, (now,))
        if transaction.execute("SELECT count(*) FROM oauth_client", ()).fetchone()[0] >= access.MOST_CLIENTS:
            oldest = transaction.execute(_NEXT_TO_END, (now + access.UNUSED_CLIENT - access.FRESH_CLIENT,)).fetchone()
            if oldest is None:
                return False
            transaction.execute("DELETE FROM oauth_client WHERE id=?", (oldest[0],))
        transaction.execute(_PUT_CLIENT, (client.id, now + access.UNUSED_CLIENT, msgspec.json.encode(client)))
        return True

    @in_transaction()
    def put_code(self, transaction: Transaction, code: OAuthCode) -> None:
        transaction.execute("DELETE FROM oauth_code WHERE at<=?", (code.at - access.CODE_KEPT,))
        for (grant_id,) in transaction.execute(_STALE, (code.at - access.GRANT_LIFE,)).fetchall():
            _end(transaction, grant_id)
        transaction.execute(_KEEP_CLIENT, (code.at + access.GRANT_LIFE, code.grant.client))
        transaction.execute(_PUT_CODE, (code.sha256, code.at, msgspec.json.encode(code)))

    @in_transaction()
    def take_code(self, transaction: Transaction, sha256: str, now: Millis) -> OAuthCode | None:
        """Use up a code and return it; None if it is unknown, too old, or used: then its grant ends."""
        code = found(transaction, _code, "SELECT body FROM oauth_code WHERE sha256=?", sha256)
        if code is None:
            return None
        if transaction.execute(_TAKE, (sha256,)).rowcount < 1:
            transaction.execute("DELETE FROM oauth_code WHERE sha256=?", (sha256,))
            _end(transaction, code.grant.id)
            return None
        return code if code.at > now - access.CODE_LIFE else None

    @in_transaction()
    def begin(self, transaction: Transaction, code: OAuthCode, refresh: access.RefreshToken, key: ApiKey) -> bool:
        """Store the grant of a taken code; False if the code was used twice or the person lost access."""
        taken = transaction.execute(_SPEND, (code.sha256,)).rowcount
        if taken < 1 or not _has_access(transaction, code.grant.person):
            return False
        grant = code.grant
        row = (grant.id, grant.person, grant.client, refresh.family, refresh.turn, key.created_at)
        transaction.execute(_PUT_GRANT, (*row, msgspec.json.encode(grant)))
        insert_key(transaction.connection, key)
        return True

    @in_transaction()
    def by_refresh(self, transaction: Transaction, refresh: access.RefreshToken, now: Millis) -> OAuthGrant | None:
        """Return the grant of a refresh token; None if it has ended. An old token ends it."""
        if (row := transaction.execute(_BY_REFRESH, (refresh.family,)).fetchone()) is None:
            return None
        grant = _grant(row[0])
        if row[1] == refresh.turn and row[2] > now - access.GRANT_LIFE:
            return grant if _has_access(transaction, grant.person) else None
        _end(transaction, grant.id)
        return None

    @in_transaction()
    def renew(
        self, transaction: Transaction, grant: OAuthGrant, old: access.RefreshToken, turn: str, key: ApiKey
    ) -> bool:
        """Replace a grant's tokens; return whether it was done. False: another was faster, and the grant ends."""
        done = transaction.execute(_NEXT_TURN, (turn, key.created_at, grant.id, old.turn)).rowcount > 0
        done = done and transaction.execute(_RENEW, (key.sha256, msgspec.json.encode(key), key.id)).rowcount > 0
        if not done:
            _end(transaction, grant.id)
        transaction.execute(_KEEP_CLIENT, (key.created_at + access.GRANT_LIFE, grant.client))
        return done

    async def grants(self, now: Millis) -> Sequence[OAuthGrant]:
        rows = await every_row(self._readers, _LISTED, now - access.GRANT_LIFE)
        return [msgspec.structs.replace(_grant(body), last_used_at=used) for body, used in rows]

    async def end(self, grant_id: str) -> bool:
        return await self._writer.submit(lambda transaction: _end(transaction, grant_id))


def _has_access(transaction: Transaction, person: str) -> bool:
    return not person or transaction.execute(_HAS_ACCESS, (person,)).fetchone() is not None


def _end(transaction: Transaction, grant_id: str) -> bool:
    if transaction.execute("DELETE FROM oauth_grant WHERE id=?", (grant_id,)).rowcount < 1:
        return False
    transaction.execute("DELETE FROM api_key WHERE id=?", (grant_id,))
    return True


_FIND = "SELECT key, fingerprint, at, id, answer, node FROM call WHERE key=?"
_PUT = """INSERT INTO call(key, fingerprint, at, id, answer, node) VALUES(?,?,?,?,?,?) ON CONFLICT(key) DO UPDATE SET
    fingerprint=excluded.fingerprint, at=excluded.at, id=excluded.id, answer=excluded.answer, node=excluded.node
    WHERE call.at<?"""
_TAKE_UP = "UPDATE call SET node=? WHERE key=? AND node=? AND answer IS NULL"
_TOO_MANY = "SELECT at FROM call ORDER BY at DESC LIMIT 1 OFFSET ?"


class Calls(Store):
    """Calls with an Idempotency-Key."""

    @in_transaction()
    def begin(
        self, transaction: Transaction, call: access.KeptCall, since: Millis, running: Collection[str] = ()
    ) -> access.KeptCall:
        """Store a call unless one began since `since`; return the stored one, `call.node`'s if no member runs it."""
        # Written before it is read: of two that begin at once, on two nodes, one finds the other's.
        if transaction.execute(_PUT, (*astuple(call), since)).rowcount:
            return call
        stored = access.KeptCall(*transaction.execute(_FIND, (call.key,)).fetchone())
        if stored.answer is not None or stored.fingerprint != call.fingerprint or stored.node in running:
            return stored
        taken = transaction.execute(_TAKE_UP, (call.node, call.key, stored.node)).rowcount
        return msgspec.structs.replace(stored, node=call.node) if taken else stored

    async def finish(self, key: str, answer: bytes) -> None:
        await write_one(self._writer, "UPDATE call SET answer=? WHERE key=?", answer, key)

    async def release(self, key: str) -> None:
        """Let any node run a call again under its id, because the run ended without a response."""
        await write_one(self._writer, "UPDATE call SET node='' WHERE key=? AND answer IS NULL", key)

    async def forget(self, key: str) -> None:
        await write_one(self._writer, "DELETE FROM call WHERE key=?", key)

    @in_transaction(rows=lambda _before, _most, limit: limit)
    def sweep(self, transaction: Transaction, before: Millis, most: int, limit: int) -> int:
        """Delete up to `limit` calls that began before `before` or are not the newest `most`; return how many."""
        spare = transaction.execute(_TOO_MANY, (most,)).fetchone()
        end = before if spare is None else max(before, spare[0] + 1)
        doomed = "DELETE FROM call WHERE key IN (SELECT key FROM call WHERE at<? ORDER BY at LIMIT ?)"
        return transaction.execute(doomed, (end, limit)).rowcount
