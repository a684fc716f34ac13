"""The check that a database from elsewhere has exactly the schema of its version.

An added trigger, view or table would run, or be read, as ours.
"""

from __future__ import annotations

import re
import sqlite3
from contextlib import closing
from pathlib import Path

from storage.errors import Corrupt
from storage.sqlite.engine.connection import UNTRUSTED, connect, translated
from storage.sqlite.engine.migrations import STEPS, migrate, version_of

_ALL = "SELECT type, name, tbl_name, coalesce(sql, '') FROM sqlite_master WHERE name NOT LIKE 'sqlite^_%' ESCAPE '^'"
_OF_THE_LIBRARY = "_sqlite_migrations"  # sqlite-utils' own table, whose text depends on the library's version
_Part = tuple[str, str, str, str]


def check_schema(database: Path) -> None:
    """Compare a database's schema with the result of this program's steps. Raises Corrupt, NewerSchema, Unavailable."""
    with closing(connect(database, UNTRUSTED)) as connection, translated():
        found, version = _parts(connection), version_of(connection)
    if not version:
        raise Corrupt("the database is not one of Sanderling's")
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as fresh:
        migrate(fresh, STEPS[:version])
        wanted = _parts(fresh)
    if odd := sorted(found ^ wanted):
        type, name, _table, _text = odd[0]
        raise Corrupt(f"its schema is not Sanderling's of version {version}: {type} {name!r:.80}")


def _parts(connection: sqlite3.Connection) -> set[_Part]:
    rows = connection.execute(_ALL).fetchall()
    return {
        (type, name, table, "" if name == _OF_THE_LIBRARY else re.sub(r"\s+", " ", text))
        for type, name, table, text in rows
    }
