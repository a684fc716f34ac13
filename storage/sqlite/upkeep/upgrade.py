"""Upgrades: the steps, the copies that they keep, and the one-time copy that lets an old file return free pages. Also
the change of the master key, which seals the whole database again.

A copy is the database as the older program left it; the last two upgrades keep theirs.

The copy is made before the first step and not after a failure. To leave a new version that turns out to be worse,
restore this file with the old version (`sanderling restore`).
"""

from __future__ import annotations

import shutil
import sqlite3
from collections.abc import Callable
from contextlib import ExitStack, closing
from pathlib import Path
from typing import NamedTuple

from storage.errors import DiskFull, NoKey
from storage.secrets.sealing import Lost, give_up, reseal
from storage.secrets.vault import Vault
from storage.sqlite.engine.connection import COMMAND, connect, gives_back, room_of, set_up_space, translated
from storage.sqlite.engine.folder import FolderLock, opening, prepare
from storage.sqlite.engine.migrations import STEPS, migrate, version_of
from storage.sqlite.master_key import NEXT, forget_own, make_own, settle, unlock
from storage.sqlite.ownership import sync
from storage.sqlite.upkeep.copying import copy_database

KEPT = 2
_NAME = "before-upgrade-from-schema-{}.db"
SPARE = 16 << 20
"""Bytes that must stay free next to a copy, for the steps too."""


def upgrade(connection: sqlite3.Connection, database: Path, vault: Vault | None) -> Path | None:
    """Bring a database up to this program's schema; if it is older, keep a copy first and return its path. The caller
    holds the folder's lock. `vault` may be None for a new database. Raises NewerSchema, Corrupt, DiskFull, Unavailable;
    nothing has changed then.
    """
    version = version_of(connection)
    copy = _keep(database, version) if 0 < version < len(STEPS) else None
    if not version:
        set_up_space(connection)
    migrate(connection, vault=vault)
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
    with closing(connect(database, COMMAND)) as connection:
        if gives_back(connection) or not version_of(connection):
            return False  # no tables: a first start was killed, and the next one sets the file up
        needed = room_of(connection).used
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
    database = prepare(folder)
    lock = FolderLock(folder)
    with opening(folder), ExitStack() as undo, translated():
        lock.acquire()
        undo.callback(lock.release)
        connection = connect(database, COMMAND)
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
