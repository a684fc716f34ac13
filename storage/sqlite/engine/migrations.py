"""The tables, as the steps that made them, in `steps/`. A released step never changes; new steps are added.

A step, its record and its count in `user_version` are one transaction: a failing step leaves nothing, and an older
program refuses a newer database instead of misreading it. The log only gains columns: rebuilding it would copy it.

A database from elsewhere must have exactly the schema of its version (`check_schema`): an added trigger, view or table
would run, or be read, as ours.
"""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from storage.errors import Corrupt, NewerSchema
from storage.secrets.sealing import mark, seal_plain
from storage.secrets.vault import Vault
from storage.sqlite.engine.connection import UNTRUSTED, connect, translated

if TYPE_CHECKING:
    from sqlite_utils import Database


class MigrationStep(NamedTuple):
    """then: runs after the statements, with the key that seals secrets, None in a new database."""

    name: str
    statements: Sequence[str]
    then: Callable[[sqlite3.Connection, Vault | None], None] | None = None


def _seal(connection: sqlite3.Connection, vault: Vault | None) -> None:
    if vault is not None:
        mark(connection, vault)
        seal_plain(connection, vault)
        connection.execute("INSERT INTO fact SELECT 'scrub', 1 WHERE EXISTS (SELECT 1 FROM signing_key)")


_AFTER = {"sealed": _seal}


def _statements(text: str) -> Iterator[str]:
    statement = ""
    for line in text.splitlines():
        statement += "" if line.startswith("--") else f"{line}\n"
        if sqlite3.complete_statement(statement):
            yield statement
            statement = ""


STEPS: Sequence[MigrationStep] = [
    MigrationStep(name, tuple(_statements(file.read_text("utf-8"))), _AFTER.get(name))
    for file in sorted((resources.files("storage.sqlite.engine") / "steps").iterdir(), key=lambda file: file.name)
    for name in [file.name.removesuffix(".sql").partition("_")[2]]
]
"""The files of `steps/` in order; a file's name is a number and its step's name."""


def version_of(connection: sqlite3.Connection, steps: Sequence[MigrationStep] = STEPS) -> int:
    """Raises NewerSchema."""
    version = connection.execute("PRAGMA user_version").fetchone()[0]
    assert isinstance(version, int)
    if version > len(steps):
        raise NewerSchema(f"the data have schema {version}, this program knows {len(steps)}: use a newer Sanderling")
    return version


def migrate(
    connection: sqlite3.Connection, steps: Sequence[MigrationStep] = STEPS, *, vault: Vault | None = None
) -> None:
    """A failing step raises and leaves nothing. vault: seals old plain secrets. Raises NewerSchema."""
    if version_of(connection, steps) == len(steps):
        return
    from sqlite_utils import Database, Migrations  # noqa: PLC0415  (a third of a second that only a first start pays)

    migrations = Migrations("sanderling")
    for number, one in enumerate(steps, 1):
        migrations(name=f"{number:04d}_{one.name}")(_counted(number, one, vault))
    migrations.apply(Database(connection, execute_plugins=False))


def _counted(number: int, one: MigrationStep, vault: Vault | None) -> Callable[[Database], None]:
    def run(db: Database) -> None:
        for statement in one.statements:
            db.conn.execute(statement)
        if one.then is not None:
            one.then(db.conn, vault)
        db.conn.execute(f"PRAGMA user_version={number}")

    return run


_SCHEMA = "SELECT type, name, tbl_name, coalesce(sql, '') FROM sqlite_master WHERE name NOT LIKE 'sqlite^_%' ESCAPE '^'"
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
    rows = connection.execute(_SCHEMA).fetchall()
    return {
        (type, name, table, "" if name == _OF_THE_LIBRARY else re.sub(r"\s+", " ", text))
        for type, name, table, text in rows
    }
