"""The mark in a database of its master key: one empty box.

It is written before anything can be sealed.
"""

from __future__ import annotations

from storage.secrets.connection import Connection
from storage.secrets.vault import Vault

_KIND, _NAME = "vault", "mark"


def mark(connection: Connection, vault: Vault) -> None:
    """Write the mark of the key that seals a database, inside the caller's transaction."""
    box = vault.seal(_KIND, _NAME, b"")
    connection.execute("INSERT INTO vault VALUES(1, ?) ON CONFLICT(one) DO UPDATE SET box=excluded.box", (box,))


def read_mark(connection: Connection) -> bytes | None:
    """Return the mark of a database that has the table; None if nothing is sealed yet."""
    row = connection.execute("SELECT box FROM vault").fetchone()
    return None if row is None else bytes(row[0])


def opens_mark(vault: Vault, box: bytes) -> bool:
    """Return whether this key seals the database with this mark."""
    return vault.opens(_KIND, _NAME, box)
