"""The choice of the master key that a data folder's database is sealed with.

Candidates are the key that was named, then the folder's own. The first that opens the database's mark is used. A
database without a mark takes the first candidate; if there is none, the folder gets its own key.
"""

from __future__ import annotations

import sqlite3
from pathlib import Path
from typing import NamedTuple

from storage.errors import NoKey
from storage.secrets.mark import opens_mark, read_mark
from storage.secrets.vault import Vault
from storage.sqlite.secrets.own_key import NEXT, OWN, make_own, own_keys

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
    """Return the key that opens a database, or will seal it from now on.

    Raises NoKey if no candidate opens it; OSError for the folder's own.
    """
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
