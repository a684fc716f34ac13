"""`sanderling migrate`: upgrade the data as the first start of a new version would, without starting."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

from msgspec import Struct

from sanderling.data_folder import working_in
from sanderling.environment import environ
from sanderling.exits import CommandFailed, Exit
from sanderling.master_key import named_vault
from storage.sqlite.engine.connection import COMMAND, WRITER, connect, gives_back, room_of, translated
from storage.sqlite.engine.folder import DATABASE, FolderLock, opening
from storage.sqlite.engine.migrations import STEPS, version_of
from storage.sqlite.master_key import unlock
from storage.sqlite.upkeep.upgrade import SPARE, copy_name, rebuild, scrub, upgrade


class Need(Struct, frozen=True):
    """The difference between a database's schema and this program's. copied: it must be copied to be able to shrink.
    needed, free: bytes of disk space.
    """

    schema: int
    newest: int
    copied: bool
    needed: int
    free: int

    @property
    def nothing(self) -> bool:
        """Whether the database is up to date."""
        return self.schema == self.newest and not self.copied


def need(folder: Path) -> Need:
    """Inspect a database, possibly in use, without changes. Raises CommandFailed."""
    database = folder / DATABASE
    if not database.is_file() or not database.stat().st_size:
        raise CommandFailed(
            f"{folder}: there is no database of Sanderling; name its folder with --data.", Exit.BAD_DATA
        )
    with working_in(folder), closing(connect(database, COMMAND)) as connection, translated():
        schema, copied, room = version_of(connection), not gives_back(connection), room_of(connection)
    behind = schema < len(STEPS)
    needed = (room.used + SPARE) if copied or behind else 0
    return Need(schema, len(STEPS), copied, needed, shutil.disk_usage(folder).free)


def sentences(found: Need) -> Iterator[str]:
    """Yield the planned steps in order."""
    if found.nothing:
        yield f"Schema {found.schema}, as this program's: nothing is to be done."
        return
    if found.copied:
        yield "The database is copied into a new file, which can give room back to the disk."
    if found.schema < found.newest:
        yield f"A copy of it is kept: {copy_name(found.schema)}."
        yield f"Schema {found.schema} becomes {found.newest}, a step at a time, each whole or not at all."
    yield f"That needs {found.needed >> 20} MiB for a while; {found.free >> 20} MiB are free."


def migrate(folder: Path) -> Need:
    """Upgrade a folder without a running service; return the steps taken. Raises CommandFailed."""
    found, database = need(folder), folder / DATABASE
    if found.nothing:
        return found
    lock, named = FolderLock(folder), named_vault(environ())
    with working_in(folder), opening(folder):
        lock.acquire()
        try:
            if found.copied and not rebuild(database):
                raise CommandFailed(
                    f"{database} could not be copied: {found.needed >> 20} MiB are needed and {found.free >> 20} free, "
                    "and nobody may read it meanwhile. Nothing has changed; try again.",
                    Exit.TRY_AGAIN,
                )
            with closing(connect(database, WRITER)) as connection, translated():
                upgrade(connection, database, unlock(connection, folder, named).vault)
                scrub(connection)
        finally:
            lock.release()
    return found
