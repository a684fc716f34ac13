"""The master key of a data folder: its own key file, and the choice of the key that opens the database.

The folder gets its own key if the owner named none, readable by the owner only. It is in the same folder as the
database, so it protects only copies without it: copies of the database, parts of disks and pages that are given away. A
new key stays in `.master.key.next` until the database is sealed with it, and then replaces the old one. So one of the
two files opens the database after any interruption.

Candidates for a database are the key that was named, then the folder's own. The first that opens the database's mark is
used. A database without a mark takes the first candidate.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from nacl.utils import random as random_bytes

from storage.errors import NoKey
from storage.secrets import SIZE, Vault, opens_mark, read_mark, read_master, written
from storage.sqlite.ownership import entrust, sync

OWN = "master.key"
NEXT = ".master.key.next"  # a name that no user would give to a key: `settle` renames or deletes this file


def own_keys(folder: Path) -> Mapping[str, Vault]:
    """Return the keys by file: none, one, or two after an interrupted change. Raises NoKey (damaged), OSError."""
    return {name: _read(folder / name) for name in (OWN, NEXT) if (folder / name).exists()}


def make_own(folder: Path, name: str = OWN) -> Vault:
    """Make a key and store it durably in the folder, before it seals anything. Raises OSError."""
    master = random_bytes(SIZE)
    partial = folder / (name + ".partial")
    partial.unlink(missing_ok=True)
    with open(os.open(partial, os.O_CREAT | os.O_EXCL | os.O_WRONLY | os.O_CLOEXEC, 0o600), "w") as file:
        file.write(written(master) + "\n")
        file.flush()
        entrust(file.fileno(), folder)
        os.fsync(file.fileno())
    partial.replace(folder / name)
    sync(folder)
    return Vault(master)


def settle(folder: Path, used: Vault) -> None:
    """Finish or undo an interrupted change; `used` is the key that opens the database. Raises OSError."""
    if (folder / NEXT).exists():
        if _holds(folder / NEXT, used):
            (folder / NEXT).replace(folder / OWN)
        else:
            (folder / NEXT).unlink()
        sync(folder)


def forget_own(folder: Path, used: Vault) -> None:
    """Delete the folder's own key if it is not the one in use. Raises OSError."""
    if (folder / OWN).exists() and not _holds(folder / OWN, used):
        (folder / OWN).unlink()
        sync(folder)


def _holds(path: Path, vault: Vault) -> bool:
    try:
        return _read(path) == vault
    except NoKey:
        return False


def _read(path: Path) -> Vault:
    with open(os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW), encoding="ascii", errors="replace") as file:
        master = read_master(file.read())
    if master is None:
        raise NoKey(f"{path} holds no master key: it is damaged")
    return Vault(master)


_THERE = "SELECT 1 FROM sqlite_master WHERE type='table' AND name='vault'"
OTHER = (
    "the secrets are sealed with the data folder's own master.key, and not with the master key that was named: to seal "
    "them with that one, stop the service and run `sanderling keys rotate-master --to FILE`"
)


class Unlocked(NamedTuple):
    """The key that a database is sealed with. own: it is the folder's, although another was named."""

    vault: Vault
    own: bool = False


def unlock(connection: sqlite3.Connection, folder: Path, named: Vault | None) -> Unlocked:
    """Return the key that opens a database, or will seal it. Raises NoKey if none opens it, OSError."""
    mark = mark_of(connection)
    own = own_keys(folder)
    if mark is None:
        return Unlocked(named or own.get(OWN) or own.get(NEXT) or make_own(folder))
    for vault in (named, *own.values()):
        if vault is not None and opens_mark(vault, mark):
            return Unlocked(vault, own=named is not None and vault != named)
    tried = [*(["the one that was named"] if named is not None else []), *(f"{folder / name}" for name in own)]
    raise NoKey(f"none of the master keys here opens them ({', '.join(tried)})" if tried else "no master key is here")


def mark_of(connection: sqlite3.Connection) -> bytes | None:
    """Return a database's mark; None if nothing in it is sealed yet."""
    if connection.execute(_THERE).fetchone() is None:
        return None
    return read_mark(connection)
