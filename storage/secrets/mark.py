"""The mark in a database of the master key that it is sealed with: one box with nothing in it.

It is there from the moment at which something may have been sealed.
"""

from __future__ import annotations

from storage.secrets.connection import Connection
from storage.secrets.vault import Vault

_KIND, _NAME = "vault", "mark"


def mark(connection: Connection, vault: Vault) -> None:
    """Note the key that a database is sealed with, inside whatever transaction is open."""
    box = vault.seal(_KIND, _NAME, b"")
    connection.execute("INSERT INTO vault VALUES(1, ?) ON CONFLICT(one) DO UPDATE SET box=excluded.box", (box,))


def read_mark(connection: Connection) -> bytes | None:
    """Return the mark of a database that has the table for it; None when nothing in it is sealed so far."""
    row = connection.execute("SELECT box FROM vault").fetchone()
    return None if row is None else bytes(row[0])


def opens_mark(vault: Vault, box: bytes) -> bool:
    """Return whether this is the key that a database with this mark is sealed with."""
    return vault.opens(_KIND, _NAME, box)
