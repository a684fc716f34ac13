"""The one-time copy of an old database into one that can return free pages."""

from __future__ import annotations

import os
import shutil
from contextlib import closing
from pathlib import Path

from storage.errors import DiskFull
from storage.sqlite.engine.connection import COMMAND, connect
from storage.sqlite.engine.free_space import gives_back, room_of
from storage.sqlite.engine.migrations import version_of
from storage.sqlite.upkeep.copying import copy_database

_WAL = "-wal"
SPARE = 16 << 20
"""Bytes that must stay free next to the copy."""


def rebuild(database: Path, *, at_most: int | None = None) -> bool:
    """Replace a database that cannot return pages by a copy that can; return whether that was done.

    Nothing happens if it is not needed, the database has no tables yet or uses more than `at_most` bytes, the disk has
    no space for the copy, or another process reads it. The caller holds the folder's lock and no connection. Raises
    Corrupt, NewerSchema, Unavailable, OSError; nothing has changed then.
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
    _sync(database.parent)
    return True


def _sync(folder: Path) -> None:
    """Make a renaming durable: otherwise a power cut could bring back the old file, without later writes."""
    fd = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(fd)
    finally:
        os.close(fd)
