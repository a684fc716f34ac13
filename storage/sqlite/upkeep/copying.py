"""A copy of the whole database beside a running server, and its secrets taken out of it and put back.

`VACUUM INTO` and not SQLite's backup in steps: that begins anew at each write of somebody else, and never ends beside a
busy server (STORAGE, measured). A copy has no WAL and no free pages, so nothing that was deleted is in it.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from pathlib import Path
from sqlite3 import Connection

from msgspec import Struct
from nacl.utils import random as drawn

from storage.errors import Corrupt
from storage.records.identity import START, Seq
from storage.secrets.sealing import (
    PLACES,
    Lost,
    boxes,
    examine_boxes,
    give_up,
    opened,
)
from storage.secrets.vault import SIZE, Vault
from storage.sql.stores import scan
from storage.sql.stores.keys import all_keys
from storage.sqlite.engine.connection import COMMAND, UNTRUSTED, Pragmas, connect, translated
from storage.sqlite.engine.migrations import migrate, version_of
from storage.sqlite.ownership import entrust
from storage.sqlite.secrets.unlocking import mark_of, unlock

_COPY: Pragmas = (("trusted_schema", 0), ("busy_timeout", 5000), ("synchronous", 2), ("temp_store", 2))
# No page of a copy that held a secret keeps it, and no journal on the disk gets it.
_EDIT: Pragmas = (
    ("trusted_schema", 0),
    ("busy_timeout", 5000),
    ("journal_mode", "memory"),
    ("synchronous", 2),
    ("secure_delete", 1),
)
_TABLES = "SELECT name FROM sqlite_master WHERE type='table'"
_ENTRANCES = ("DELETE FROM call", "DELETE FROM session", "DELETE FROM set_up_link")
_PASSING = ("DELETE FROM vault", *_ENTRANCES, "DELETE FROM fact WHERE name IN ('replica', 'replica_number')")
"""The mark of a key that a backup is not sealed with; what is of no use after a restore, and would let somebody in;
whose replica it is: what is restored is another instance, and must not write over the replica of the first.
"""
_FORGET_PASSWORD = "DELETE FROM password"  # noqa: S105 - a statement


class Content(Struct, frozen=True):
    """What a database is: its schema, its events, and the position of the newest."""

    schema: int
    events: int
    newest: Seq


class Secrets(Struct, frozen=True):
    """The secrets of a database, those of a place by its `field`: seeds of signing keys (hex, by key id), destinations'
    secrets and their private values as they are stored, what sources say after their handshake, tokens of publications,
    secrets of their subscribers, cookies that were renewed, the key that push services know the service by (hex, by its
    public half).
    """

    seeds: Mapping[str, str]
    destinations: Mapping[str, Sequence[Mapping[str, object]]]
    hellos: Mapping[str, str] = {}
    private: Mapping[str, Mapping[str, object]] = {}
    addresses: Mapping[str, str] = {}
    subscriptions: Mapping[str, str] = {}
    cookies: Mapping[str, str] = {}
    push: Mapping[str, str] = {}

    def __repr__(self) -> str:
        return f"Secrets({len(self.seeds)} signing keys, {len(self.destinations)} destinations)"


class Entrances(Struct, frozen=True):
    """Who gets in by a database: its API keys (as shown, name, scopes), sessions, a set-up link, the password."""

    keys: Sequence[tuple[str, str, Sequence[str]]]
    sessions: int
    link: bool
    password: bool


def entrances(database: Path) -> Entrances:
    """Return who gets in by a database of this program's schema. Raises Corrupt, Unavailable."""
    with closing(connect(database, UNTRUSTED)) as connection, translated():
        tables = {name for (name,) in connection.execute(_TABLES).fetchall()}
        keys = all_keys(connection)
        sessions = connection.execute("SELECT count(*) FROM session").fetchone()[0] if "session" in tables else 0
        link = "set_up_link" in tables and connection.execute("SELECT 1 FROM set_up_link").fetchone() is not None
        password = "password" in tables and connection.execute("SELECT 1 FROM password").fetchone() is not None
    return Entrances([(key.prefix, key.name, key.scopes) for key in keys], sessions, link, password)


def copy_database(database: Path, target: Path) -> Content:
    """Write a consistent copy (0600) of a database to `target`, which must not exist, synced; check it.

    Raises Corrupt, DiskFull, Unavailable, NewerSchema, OSError; `target` is then gone.
    """
    fd = os.open(target, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600)
    entrust(fd, target.parent)
    os.close(fd)
    try:
        with closing(connect(database, _COPY)) as connection, translated():
            connection.execute("PRAGMA auto_vacuum=2")  # of the copy: it can give room back (free_space.py)
            connection.execute("VACUUM INTO ?", (str(target),))
        content = examine(target)
        with target.open("rb") as copy:
            os.fsync(copy.fileno())
    except BaseException:
        target.unlink(missing_ok=True)
        raise
    return content


def examine(database: Path) -> Content:
    """Check every page of a database that nobody serves from. Raises Corrupt, NewerSchema, Unavailable."""
    with closing(connect(database, _COPY)) as connection, translated():
        (said,) = connection.execute("PRAGMA integrity_check(1)").fetchone()
        if said != "ok":
            raise Corrupt(f"the database is damaged: {said}")
        schema = version_of(connection)
        tables = {name for (name,) in connection.execute(_TABLES).fetchall()}
        if not schema or not {"fact", "log", "source_key"} <= tables:
            raise Corrupt("the database is not one of Sanderling's")
        (events,) = connection.execute("SELECT count(*) FROM log").fetchone()
        return Content(schema, events, scan.bounds(connection, START).newest)


def key_of(database: Path, folder: Path, named: Vault | None) -> Vault | None:
    """Return the key that a database beside a folder is sealed with, None for one without. Raises NoKey, Unopened."""
    with closing(connect(database, _COPY)) as connection, translated():
        if mark_of(connection) is None:
            return None
        vault = unlock(connection, folder, named).vault
        schema = version_of(connection)
        examine_boxes(connection, vault, [place for place in PLACES if place.since <= schema])
        return vault


def take_secrets(copy: Path, folder: Path, named: Vault | None, *, password: bool) -> Secrets:
    """Take all secrets out of a copy of a folder's database and return them; `named` as in `unlock`.

    A copy of an earlier schema is brought up first. `password` says whether the dashboard's may go along. What lets
    somebody in for a while (sessions, set-up link, answers of repeatable calls) goes for good. Raises NoKey, Unopened.
    """
    with closing(connect(copy, _EDIT)) as connection, translated():
        vault = unlock(connection, folder, named).vault if mark_of(connection) else _passing()
        migrate(connection, vault=vault)
        taken = {
            place.field: {name: place.form.told(secret) for name, secret in opened(connection, vault, place).items()}
            for place in PLACES
        }
        _empty(connection, password=password)
    return Secrets(**taken)


def drop_secrets(copy: Path) -> None:
    """Take all secrets out of a copy for good, and the dashboard's password. No key is needed for that."""
    with closing(connect(copy, _EDIT)) as connection, translated():
        migrate(connection, vault=_passing())
        _empty(connection, password=False)


def _passing() -> Vault:
    """Return a key for what lies plain and is taken out at once."""
    return Vault(drawn(SIZE))


def _empty(connection: Connection, *, password: bool) -> None:
    connection.execute("BEGIN IMMEDIATE")
    for place in PLACES:
        for name, _box in boxes(connection, place):
            connection.execute(place.put, (b"", name))
    for statement in (*_PASSING, *(() if password else (_FORGET_PASSWORD,))):
        connection.execute(statement)
    connection.execute("COMMIT")


def put_secrets(copy: Path, secrets: Secrets | None, vault: Vault, fresh: Callable[[], str]) -> Lost:
    """Put secrets back into a copy, sealed with this key; return how many go without theirs, as `give_up` does.

    A copy of an earlier schema is brought up first.
    """
    with closing(connect(copy, COMMAND)) as connection, translated():
        migrate(connection, vault=vault)
        connection.execute("BEGIN IMMEDIATE")
        for statement in _ENTRANCES:  # a backup has none, unless somebody has put one in
            connection.execute(statement)
        if secrets is not None:
            for place in PLACES:
                for name, told in getattr(secrets, place.field).items():
                    connection.execute(place.put, (vault.seal(place.kind, name, place.form.read(told)), name))
        lost = give_up(connection, vault, fresh)
        connection.execute("COMMIT")
    return lost


def mark_restored(copy: Path) -> None:
    """Have the next start of the service know that what happened after this copy was made is not in it."""
    with closing(connect(copy, _EDIT)) as connection, translated():
        connection.execute("INSERT INTO fact VALUES('restored', 1) ON CONFLICT(name) DO NOTHING")
