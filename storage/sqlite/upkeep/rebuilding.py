"""An old database, which can't give free pages back, copied once, before its use, into one that can."""

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
"""Bytes that stay free beside the copy."""


def rebuild(database: Path, *, at_most: int | None = None) -> bool:
    """Put a copy in the place of a database that can't give pages back; return whether that was done.

    It is left as it is when it needs none, has no tables yet, has more than `at_most` bytes in use, when the disk has
    no room for the copy, or somebody reads it. The caller holds the folder's lock, and has it not open. Raises Corrupt,
    NewerSchema, Unavailable, OSError; nothing has changed then.
    """
    copy = database.with_name(database.name + ".rebuilt")
    copy.unlink(missing_ok=True)  # of a start that was killed: it takes space, and holds all that the other does
    if not database.stat().st_size:
        return False
    with closing(connect(database, COMMAND)) as connection:
        if gives_back(connection) or not version_of(connection):
            return False  # one without tables is of a first start that was killed: it begins anew in its place
        needed = room_of(connection).used
    if (at_most is not None and needed > at_most) or shutil.disk_usage(database.parent).free < needed + SPARE:
        return False
    if database.with_name(database.name + _WAL).exists():
        return False  # somebody else has it open: what he writes would be lost
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
    """Make a change of names last: else a power cut could bring back the old file, without what was written since."""
    fd = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(fd)
    finally:
        os.close(fd)
