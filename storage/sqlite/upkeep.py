"""Work on a whole database: copies, upgrades, and sealing it with another key.

A copy is made while a server runs; secrets are taken out of it and put back. It uses `VACUUM INTO` and not SQLite's
stepwise backup, which starts over at each write by another connection and never ends on a busy server (STORAGE,
measured). A copy has no WAL and no free pages, so it contains no deleted data.

An upgrade's copy is the database as the older program left it; the last two upgrades keep theirs. The copy is made
before the first step and not after a failure. To leave a new version that turns out to be worse, restore this file
with the old version (`sanderling restore`).
"""

from __future__ import annotations

import os
import shutil
import sqlite3
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack, closing
from pathlib import Path
from sqlite3 import Connection
from typing import NamedTuple

from msgspec import Struct
from nacl.utils import random as random_bytes

from storage.errors import Corrupt, DiskFull, NoKey
from storage.records.identity import START, Seq
from storage.secrets import PLACES, SIZE, Lost, Vault, boxes, examine_boxes, give_up, opened, reseal
from storage.sql.stores import log
from storage.sql.stores.people import all_keys
from storage.sqlite import engine
from storage.sqlite.engine import connect
from storage.sqlite.master_key import NEXT, forget_own, make_own, mark_of, settle, unlock
from storage.sqlite.ownership import entrust, sync

_SYNCED: engine.Pragmas = (("trusted_schema", 0), ("busy_timeout", 5000), ("synchronous", 2))
_COPY: engine.Pragmas = (*_SYNCED, ("temp_store", 2))
# No page of the copy keeps a removed secret, and no journal on the disk gets it.
_EDIT: engine.Pragmas = (*_SYNCED, ("journal_mode", "memory"), ("secure_delete", 1))
_TABLES = "SELECT name FROM sqlite_master WHERE type='table'"
_DELETE_GRANTS = (
    "DELETE FROM call", "DELETE FROM session", "DELETE FROM set_up_link", "DELETE FROM invitation",
    "DELETE FROM oauth_code",
)  # fmt: skip
_PASSING = ("DELETE FROM vault", *_DELETE_GRANTS, "DELETE FROM fact WHERE name IN ('replica', 'replica_number')")
"""Deletes the mark of a key, which does not seal a backup; entries that are useless after a restore and grant access;
and the replica's identity: a restored database is another instance and must not overwrite the first one's replica.
"""
_FORGET_PASSWORDS = ("DELETE FROM password", "UPDATE person SET hashed=''")


class Content(Struct, frozen=True):
    """A database's schema version, number of events, and newest position."""

    schema: int
    events: int
    newest: Seq


class Secrets(Struct, frozen=True):
    """The secrets of a database, each place in its `field`: seeds of signing keys (hex, by key id), secrets and stored
    private values of destinations, sealed parts of sources, tokens of publications, secrets of their subscribers,
    renewed cookies, the key for push services (hex, by its public half), and second factors (hex, by person).
    """

    seeds: Mapping[str, str]
    destinations: Mapping[str, Sequence[Mapping[str, object]]]
    hellos: Mapping[str, str] = {}
    private: Mapping[str, Mapping[str, object]] = {}
    addresses: Mapping[str, str] = {}
    subscriptions: Mapping[str, str] = {}
    cookies: Mapping[str, str] = {}
    push: Mapping[str, str] = {}
    totp: Mapping[str, str] = {}

    def __repr__(self) -> str:
        return f"Secrets({len(self.seeds)} signing keys, {len(self.destinations)} destinations)"


class AccessGrants(Struct, frozen=True):
    """API keys (shown part, name, scopes), sessions, a set-up link, the password, people who are not disabled."""

    keys: Sequence[tuple[str, str, Sequence[str]]]
    sessions: int
    link: bool
    password: bool
    people: int = 0


def access_grants(database: Path) -> AccessGrants:
    with closing(connect(database, engine.UNTRUSTED)) as connection, engine.translated():
        tables = {name for (name,) in connection.execute(_TABLES).fetchall()}
        keys = all_keys(connection)
        sessions = _count(connection, "SELECT count(*) FROM session") if "session" in tables else 0
        link = "set_up_link" in tables and connection.execute("SELECT 1 FROM set_up_link").fetchone() is not None
        password = "password" in tables and connection.execute("SELECT 1 FROM password").fetchone() is not None
        people = _count(connection, "SELECT count(*) FROM person WHERE disabled=0") if "person" in tables else 0
    return AccessGrants([(key.prefix, key.name, key.scopes) for key in keys], sessions, link, password, people)


def copy_database(database: Path, target: Path) -> Content:
    """Write a checked copy (0600) to a new `target`. Raises Corrupt, DiskFull, Unavailable, NewerSchema, OSError."""
    fd = os.open(target, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600)
    entrust(fd, target.parent)
    os.close(fd)
    try:
        with closing(connect(database, _COPY)) as connection, engine.translated():
            connection.execute("PRAGMA auto_vacuum=2")  # for the copy: it can return free pages (connection.py)
            connection.execute("VACUUM INTO ?", (str(target),))
        content = examine(target)
        with target.open("rb") as copy:
            os.fsync(copy.fileno())
    except BaseException:
        target.unlink(missing_ok=True)
        raise
    return content


def examine(database: Path) -> Content:
    """Check every page of a database that no server uses. Raises Corrupt, NewerSchema, Unavailable."""
    with closing(connect(database, _COPY)) as connection, engine.translated():
        (said,) = connection.execute("PRAGMA integrity_check(1)").fetchone()
        if said != "ok":
            raise Corrupt(f"the database is damaged: {said}")
        schema = engine.version_of(connection)
        tables = {name for (name,) in connection.execute(_TABLES).fetchall()}
        if not schema or not {"fact", "log", "source_key"} <= tables:
            raise Corrupt("the database is not one of Sanderling's")
        (events,) = connection.execute("SELECT count(*) FROM log").fetchone()
        return Content(schema, events, log.bounds(connection, START).newest)


def key_of(database: Path, folder: Path, named: Vault | None) -> Vault | None:
    """Return the key of a database, out of `named` and the folder's; None if it has none. Raises NoKey, Unopened."""
    with closing(connect(database, _COPY)) as connection, engine.translated():
        if mark_of(connection) is None:
            return None
        vault = unlock(connection, folder, named).vault
        schema = engine.version_of(connection)
        examine_boxes(connection, vault, [place for place in PLACES if place.since <= schema])
        return vault


def take_secrets(copy: Path, folder: Path, named: Vault | None, *, password: bool) -> Secrets:
    """Remove all secrets from a copy of a folder's database and return them; `named` as in `unlock`. Upgrades a copy of
    an earlier schema first. password: keep the dashboard's password. Entries that grant access for a time (sessions,
    set-up link, responses of idempotent calls) are deleted for good. Raises NoKey, Unopened.
    """
    with closing(connect(copy, _EDIT)) as connection, engine.translated():
        vault = unlock(connection, folder, named).vault if mark_of(connection) else Vault(random_bytes(SIZE))
        engine.migrate(connection, vault=vault)
        taken = {
            place.field: {name: place.form.told(secret) for name, secret in opened(connection, vault, place).items()}
            for place in PLACES
        }
        _empty(connection, password=password)
    return Secrets(**taken)


def drop_secrets(copy: Path) -> None:
    """Delete all secrets in a copy, and the dashboard's password. Needs no key."""
    with closing(connect(copy, _EDIT)) as connection, engine.translated():
        engine.migrate(connection, vault=Vault(random_bytes(SIZE)))  # a throwaway key: its boxes are removed
        _empty(connection, password=False)


def _count(connection: Connection, query: str) -> int:
    return int(connection.execute(query).fetchone()[0])


def _empty(connection: Connection, *, password: bool) -> None:
    connection.execute("BEGIN IMMEDIATE")
    for place in PLACES:
        for name, _box in boxes(connection, place):
            connection.execute(place.put, (b"", name))
    for statement in (*_PASSING, *(() if password else _FORGET_PASSWORDS)):
        connection.execute(statement)
    connection.execute("COMMIT")


def put_secrets(copy: Path, secrets: Secrets | None, vault: Vault, fresh: Callable[[], str]) -> Lost:
    """Upgrade a copy, put secrets back, sealed with this key; return how many are lost, as `give_up` does."""
    with closing(connect(copy, engine.COMMAND)) as connection, engine.translated():
        engine.migrate(connection, vault=vault)
        connection.execute("BEGIN IMMEDIATE")
        for statement in _DELETE_GRANTS:  # a backup has none, unless one was added by hand
            connection.execute(statement)
        if secrets is not None:
            for place in PLACES:
                for name, told in getattr(secrets, place.field).items():
                    connection.execute(place.put, (vault.seal(place.kind, name, place.form.read(told)), name))
        lost = give_up(connection, vault, fresh)
        connection.execute("COMMIT")
    return lost


def mark_restored(copy: Path) -> None:
    """Let the next start know that events after this copy are missing."""
    with closing(connect(copy, _EDIT)) as connection, engine.translated():
        connection.execute("INSERT INTO fact VALUES('restored', 1) ON CONFLICT(name) DO NOTHING")


KEPT = 2
_NAME = "before-upgrade-from-schema-{}.db"
SPARE = 16 << 20  # bytes that must stay free next to a copy, for the steps too


def upgrade(connection: sqlite3.Connection, database: Path, vault: Vault | None) -> Path | None:
    """Bring a database up to this program's schema; if it is older, keep a copy first and return its path. The caller
    holds the folder's lock. `vault` may be None for a new database. Raises NewerSchema, Corrupt, DiskFull, Unavailable;
    nothing has changed then.
    """
    version = engine.version_of(connection)
    copy = _keep(database, version) if 0 < version < len(engine.STEPS) else None
    if not version:
        engine.set_up_space(connection)
    engine.migrate(connection, vault=vault)
    return copy


def copy_name(version: int) -> str:
    return _NAME.format(version)


def scrub(connection: sqlite3.Connection) -> bool:
    """Rewrite free pages that may hold secrets, alone; return whether none do. Without space the next start tries."""
    if connection.execute("SELECT 1 FROM fact WHERE name='scrub'").fetchone() is None:
        return True
    try:
        connection.execute("PRAGMA temp_store=1")  # a whole database would not fit in memory
        connection.execute("VACUUM")
        (busy, _, _) = connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
        if not busy:
            connection.execute("DELETE FROM fact WHERE name='scrub'")
    except sqlite3.OperationalError:
        return False
    finally:
        connection.execute("PRAGMA temp_store=2")
    return not busy


def kept(folder: Path) -> list[Path]:
    return sorted(folder.glob(_NAME.format("*")), key=_schema, reverse=True)


def _keep(database: Path, version: int) -> Path:
    folder = database.parent
    target = folder / copy_name(version)
    partial = folder / (target.name + ".partial")
    needed, free = database.stat().st_size + SPARE, shutil.disk_usage(folder).free
    if free < needed:
        sizes = f"{needed >> 20} MiB, and {free >> 20} MiB are free"
        raise DiskFull(f"an upgrade copies the database first, which needs {sizes}")
    partial.unlink(missing_ok=True)
    copy_database(database, partial)
    partial.replace(target)
    for old in kept(folder)[KEPT:]:
        old.unlink()
    return target


def _schema(copy: Path) -> int:
    digits = copy.stem.rpartition("-")[2]
    return int(digits) if digits.isdigit() else 0


_WAL = "-wal"


def rebuild(database: Path, *, at_most: int | None = None) -> bool:
    """Replace a database that cannot return pages by a copy that can; return whether that was done. Nothing happens if
    it is not needed, the database has no tables yet or uses more than `at_most` bytes, the disk has no space for the
    copy, or another process reads it. The caller holds the folder's lock and no connection. Raises Corrupt,
    NewerSchema, Unavailable, OSError; nothing has changed then.
    """
    copy = database.with_name(database.name + ".rebuilt")
    copy.unlink(missing_ok=True)  # left by a killed start: it takes space and holds the same data
    if not database.stat().st_size:
        return False
    with closing(connect(database, engine.COMMAND)) as connection:
        if engine.gives_back(connection) or not engine.version_of(connection):
            return False  # no tables: a first start was killed, and the next one sets the file up
        needed = engine.room_of(connection).used
    if (at_most is not None and needed > at_most) or shutil.disk_usage(database.parent).free < needed + SPARE:
        return False
    if database.with_name(database.name + _WAL).exists():
        return False  # another process has it open: its writes would be lost
    try:
        copy_database(database, copy)
    except DiskFull:
        return False
    if database.with_name(database.name + _WAL).exists():
        copy.unlink()
        return False
    copy.replace(database)
    sync(database.parent)
    return True


_SCRUB = "INSERT INTO fact VALUES('scrub', 1) ON CONFLICT DO NOTHING"


class RotationResult(NamedTuple):
    """boxes: how many there are. lost: secrets given up (None: none). scrubbed: no page of the file has an old box."""

    boxes: int
    lost: Lost | None
    scrubbed: bool


def rotate(
    folder: Path, named: Vault | None, new: Vault | None, fresh: Callable[[], str] | None = None
) -> RotationResult:
    """Seal a folder's secrets with a new master key, or with a new key of the folder (None). fresh: give up the secrets
    of a lost old key, see `give_up`. Raises Locked while a service runs on the folder, NoKey if the old key is missing
    without `fresh`, else the same errors as `open_sqlite`; nothing has changed then.
    """
    database = engine.prepare(folder)
    with engine.opening(folder), engine.FolderLock(folder), ExitStack() as undo, engine.translated():
        connection = connect(database, engine.COMMAND)
        undo.callback(connection.close)
        old = None
        try:
            old = unlock(connection, folder, named).vault
            settle(folder, old)
        except NoKey:
            if fresh is None:
                raise
        vault = make_own(folder, NEXT) if new is None else new
        upgrade(connection, database, old or vault)
        boxes, lost = 0, None
        connection.execute("BEGIN IMMEDIATE")
        undo.callback(connection.rollback)
        if old is not None:
            boxes = reseal(connection, old, vault)
        elif fresh is not None:
            lost = give_up(connection, vault, fresh)
        connection.execute(_SCRUB)
        connection.execute("COMMIT")
        if new is None:
            settle(folder, vault)
        else:
            forget_own(folder, vault)
        return RotationResult(boxes, lost, scrub(connection))
