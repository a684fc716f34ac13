"""Sealing a whole database with another master key.

One transaction changes every box and the mark, so after an interruption the database is sealed with either the old key
or the new one. Then the file is rewritten, since a free page may hold a box that the old key opens.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import NamedTuple

from storage.errors import NoKey
from storage.secrets.sealing import Lost, give_up, reseal
from storage.secrets.vault import Vault
from storage.sqlite.engine.connection import COMMAND, connect, translated
from storage.sqlite.engine.folder import FolderLock, opening, prepare
from storage.sqlite.master_key import NEXT, forget_own, make_own, settle, unlock
from storage.sqlite.upkeep.upgrade import scrub, upgrade

_SCRUB = "INSERT INTO fact VALUES('scrub', 1) ON CONFLICT DO NOTHING"


class RotationResult(NamedTuple):
    """boxes: how many there are. lost: secrets given up (None: none). scrubbed: no page of the file has an old box."""

    boxes: int
    lost: Lost | None
    scrubbed: bool


def rotate(
    folder: Path, named: Vault | None, new: Vault | None, fresh: Callable[[], str] | None = None
) -> RotationResult:
    """Seal a folder's secrets with a new master key, or with a new key of the folder (None).

    fresh: give up the secrets of a lost old key, see `give_up`. Raises Locked while a service runs on the folder, NoKey
    if the old key is missing without `fresh`, else the same errors as `open_sqlite`; nothing has changed then.
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
