"""A copy of the whole database beside a running server, and its secrets taken out of it and put back.

`VACUUM INTO` and not SQLite's backup in steps: that begins anew at each write of somebody else, and never ends beside a
busy server (STORAGE, measured). A copy has no WAL and no free pages, so nothing that was deleted is in it.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from pathlib import Path

from msgspec import Struct

from storage.errors import Corrupt
from storage.records.identity import START, Seq
from storage.sqlite import scan
from storage.sqlite.connection import COMMAND, Pragmas, connect, translated
from storage.sqlite.migrations import version_of

_COPY: Pragmas = (("busy_timeout", 5000), ("synchronous", 2), ("temp_store", 2))
# No page of a copy that held a secret keeps it, and no journal on the disk gets it.
_EDIT: Pragmas = (("busy_timeout", 5000), ("journal_mode", "memory"), ("synchronous", 2), ("secure_delete", 1))
_TABLES = "SELECT name FROM sqlite_master WHERE type='table'"
_DESTINATIONS = "SELECT key, id, body FROM destination"
_PUT_BODY = "UPDATE destination SET body=? WHERE key=?"
_PASSING = ("DELETE FROM call", "DELETE FROM session", "DELETE FROM set_up_link")
"""What is of no use after a restore, and would let somebody in."""
_FORGET_PASSWORD = "DELETE FROM password"  # noqa: S105 - a statement


class Content(Struct, frozen=True):
    """What a database is: its schema, its events, and the position of the newest."""

    schema: int
    events: int
    newest: Seq


class Secrets(Struct, frozen=True):
    """The secrets of a database: seeds of signing keys (hex, by key id), destinations' secrets as they are stored."""

    seeds: Mapping[str, str]
    destinations: Mapping[str, Sequence[Mapping[str, object]]]

    def __repr__(self) -> str:
        """Count them."""
        return f"Secrets({len(self.seeds)} signing keys, {len(self.destinations)} destinations)"


def copy_database(database: Path, target: Path) -> Content:
    """Write a consistent copy (0600) of a database to `target`, which must not exist, synced; check it.

    Raises Corrupt, DiskFull, Unavailable, NewerSchema, OSError; `target` is then gone.
    """
    os.close(os.open(target, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
    try:
        with closing(connect(database, _COPY)) as connection, translated():
            connection.execute("PRAGMA auto_vacuum=2")  # of the copy: it can give room back (room.py)
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


def take_secrets(copy: Path, *, password: bool) -> Secrets:
    """Take all secrets out of a copy, and return them; `password` says whether the dashboard's may go along.

    What lets somebody in for a while (sessions, set-up link, answers of repeatable calls) goes for good.
    """
    with closing(connect(copy, _EDIT)) as connection, translated():
        connection.execute("BEGIN IMMEDIATE")
        seeds = {id: seed.hex() for id, seed in connection.execute("SELECT key_id, seed FROM signing_key").fetchall()}
        connection.execute("UPDATE signing_key SET seed=zeroblob(0)")
        destinations = {}
        for key, id, body in connection.execute(_DESTINATIONS).fetchall():
            record = json.loads(body)
            destinations[id] = record.pop("secrets", [])
            connection.execute(_PUT_BODY, (_encoded(record | {"secrets": []}), key))
        tables = {name for (name,) in connection.execute(_TABLES).fetchall()}
        for statement in (*_PASSING, *(() if password else (_FORGET_PASSWORD,))):
            if statement.rpartition(" ")[2] in tables:
                connection.execute(statement)
        connection.execute("COMMIT")
    return Secrets(seeds, destinations)


def put_secrets(copy: Path, secrets: Secrets | None, fresh: Callable[[], str]) -> int:
    """Put secrets back into a copy; return how many destinations go without theirs.

    These get a secret that nobody has seen, and are disabled: their owner rotates it, and enables them. A signing key
    without its seed goes; the service makes a new one.
    """
    seeds = secrets.seeds if secrets else {}
    known = secrets.destinations if secrets else {}
    without = 0
    with closing(connect(copy, COMMAND)) as connection, translated():
        connection.execute("BEGIN IMMEDIATE")
        for id, seed in seeds.items():
            connection.execute("UPDATE signing_key SET seed=? WHERE key_id=?", (bytes.fromhex(seed), id))
        connection.execute("DELETE FROM signing_key WHERE length(seed)=0")
        for key, id, body in connection.execute(_DESTINATIONS).fetchall():
            record = json.loads(body)
            if record.get("secrets"):
                continue
            if id in known:
                record["secrets"] = known[id]
            else:
                record |= {"secrets": [{"value": fresh()}], "enabled": False}
                without += 1
            connection.execute(_PUT_BODY, (_encoded(record), key))
        connection.execute("COMMIT")
    return without


def _encoded(record: Mapping[str, object]) -> bytes:
    return json.dumps(record, ensure_ascii=False, separators=(",", ":")).encode()
