"""The stage of an import: the database that will replace an empty one, and detection of interrupted imports."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from storage.sqlite.engine.folder import DATABASE, MARK
from storage.sqlite.master_key import OWN, own_keys
from storage.sqlite.ownership import entrust_all
from storage.sqlite.upkeep.copying import copy_database

STAGE = ".importing"
_NEW = ".importing.new"


def unfinished(folder: Path) -> bool:
    """Return whether an import was cut off; the folder then holds none of it."""
    try:
        return (folder / STAGE / DATABASE).exists()
    except PermissionError:  # root's stage: ownership changes only when complete
        return True


@contextmanager
def staged(folder: Path) -> Iterator[Path]:
    """Yield a folder with a copy of the present database, then delete it. Clears leftovers of a cut import."""
    stage, new, database = folder / STAGE, folder / _NEW, folder / DATABASE
    for left in (stage, new):
        shutil.rmtree(left, ignore_errors=True)
    new.mkdir(mode=0o700)
    try:
        if database.exists() and database.stat().st_size:
            copy_database(database, new / DATABASE)
        else:
            (new / DATABASE).touch(mode=0o600)
        for name in own_keys(folder):
            shutil.copy(folder / name, new / name)
        new.rename(stage)
        yield stage
    finally:
        for left in (stage, new):
            shutil.rmtree(left, ignore_errors=True)


def put_in_place(stage: Path, folder: Path) -> None:
    """Replace the database by one rename. The copy already includes the old WAL and key."""
    sync(stage / DATABASE)
    entrust_all(stage, folder)
    for suffix in ("-wal", "-shm"):
        (folder / (DATABASE + suffix)).unlink(missing_ok=True)
    if (stage / OWN).exists():  # before the database that it opens
        os.replace(stage / OWN, folder / OWN)
    os.replace(stage / DATABASE, folder / DATABASE)
    if (stage / MARK).exists():
        os.replace(stage / MARK, folder / MARK)
    sync(folder)


def sync(path: Path) -> None:
    """Fsync a file or folder. Raises OSError."""
    fd = os.open(path, os.O_RDONLY)
    try:
        os.fsync(fd)
    finally:
        os.close(fd)
