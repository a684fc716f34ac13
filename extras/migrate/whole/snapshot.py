"""A consistent snapshot of an instance, readable while the service runs.

For SQLite a copy, as in a backup: a read transaction as long as a slow export would keep the write-ahead log from being
reused. The copy is private, so it may be opened as a storage and upgraded. For PostgreSQL one read transaction, which
keeps old rows until it ends.
"""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import trio

from actors.settings import Settings
from sanderling import engines
from sanderling.data_folder import named_vault, working_in
from sanderling.environment import environ
from sanderling.exits import CommandFailed, Exit
from sanderling.operations.backup.making import SCRATCH, sweep
from sanderling.real_world import wall
from storage.sql.storage import Storage
from storage.sqlite import open_sqlite
from storage.sqlite.engine.folder import DATABASE
from storage.sqlite.upkeep.copying import copy_database, key_of

CLOSE_WITHIN = 10.0


@asynccontextmanager
async def snapshot_of(settings: Settings) -> AsyncIterator[Storage]:
    """Open a snapshot of the instance of the settings. Raises CommandFailed."""
    if engines.address_of(settings) is None:
        async with snapshot(Path(settings.data)) as storage:
            yield storage
        return
    with engines.told(settings):
        async with engines.open_snapshot(settings) as storage:
            yield storage


@asynccontextmanager
async def snapshot(folder: Path) -> AsyncIterator[Storage]:
    """Open a copy of a data folder's database, made inside the folder and deleted afterwards. Raises CommandFailed."""
    database = folder / DATABASE
    if not database.is_file():
        raise CommandFailed(f"{folder}: there is no data folder of Sanderling; name it with --data.", Exit.BAD_DATA)
    with working_in(folder):
        sweep(folder)
        _refuse_without_room(folder, database)
    with working_in(folder), tempfile.TemporaryDirectory(prefix=SCRATCH, dir=folder) as scratch:
        copy_database(database, Path(scratch) / DATABASE)
        vault = key_of(Path(scratch) / DATABASE, folder, named_vault(environ()))
        storage = await open_sqlite(Path(scratch), clock=wall, owner="export", warn=lambda _: None, named=vault)
        try:
            yield storage
        finally:
            with trio.move_on_after(CLOSE_WITHIN, shield=True):
                await storage.aclose()


def _refuse_without_room(folder: Path, database: Path) -> None:
    wal = database.with_name(database.name + "-wal")
    needed = database.stat().st_size + (wal.stat().st_size if wal.exists() else 0) + (16 << 20)
    free = shutil.disk_usage(folder).free
    if free < needed:
        raise CommandFailed(
            f"{folder}: {free >> 20} MiB are free, and an export needs {needed >> 20} MiB there for a copy of the "
            "database while it lasts. Free some.",
            Exit.TRY_AGAIN,
        )
