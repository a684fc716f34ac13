"""The tables, as the numbered SQL that made them. A released step never changes; new steps are added.

A step and its count in `schema` are one transaction, under its own lock: two concurrent starts wait for each other.
`oldest` is the oldest program that may work on the tables: a program older than `version`, but not older than `oldest`,
runs.
"""

from __future__ import annotations

from collections.abc import Sequence
from importlib import resources

import psycopg

from extras.cluster.postgres.engine.connection import PostgresConnection
from storage.errors import Corrupt, NewerSchema, NoKey, Unavailable
from storage.secrets.sealing import mark, opens_mark, read_mark
from storage.secrets.vault import Vault

APPENDS, FENCE, STEPS = 1, 2, 3
"""The program's advisory locks: the second key of each; the first is LOCKS."""
LOCKS = 0x53414E44
LOCK_TIMEOUT = 2.0
"""Seconds that a step waits for a table: all its readers wait behind the step."""
_TRIES = 30
_THERE = "SELECT to_regclass('schema') IS NOT NULL"
OTHER = "the given master key does not open the secrets of this database"


def lock_of(what: int) -> str:
    return f"SELECT pg_advisory_xact_lock({LOCKS}, {what});"


def shared_lock_of(what: int) -> str:
    return f"SELECT pg_advisory_xact_lock_shared({LOCKS}, {what});"


BEGIN = f"BEGIN; SET LOCAL idle_in_transaction_session_timeout='60s'; {lock_of(STEPS)}"
"""Begins a step, or a start's own transaction. It may pause longer than the operator allows all sessions to."""


def all_steps() -> Sequence[str]:
    folder = resources.files("extras.cluster.postgres") / "steps"
    names = sorted(each.name for each in folder.iterdir() if each.name.endswith(".sql"))
    return [(folder / name).read_text("utf-8") for name in names]


def upgrade(connection: PostgresConnection, steps: Sequence[str], lock_timeout: float = LOCK_TIMEOUT) -> None:
    """A step without its lock rolls back and retries. Raises NewerSchema, Corrupt (others' tables), Unavailable."""
    tries = 0
    while (version := _version(connection, len(steps))) < len(steps):
        connection.run(f"{BEGIN} SET LOCAL lock_timeout={round(1000 * lock_timeout)};")
        try:
            if _version(connection, len(steps)) == version:
                connection.run(steps[version])
        except psycopg.errors.LockNotAvailable as error:
            connection.run(f"ROLLBACK; SELECT pg_sleep({lock_timeout / 2})")
            tries += 1
            if tries == _TRIES:
                waits = f"step {version + 1} of the schema waits for a table that another session holds"
                raise Unavailable(waits) from error
            continue
        except psycopg.errors.DuplicateTable as error:
            connection.run("ROLLBACK")
            raise Corrupt(f"the schema holds tables that are not Sanderling's: {error.diag.message_primary}") from error
        except BaseException:
            connection.run("ROLLBACK")
            raise
        connection.commit()


def begin_life(connection: PostgresConnection, vault: Vault) -> None:
    """Upgrade the tables, and begin a transaction with the mark of this master key. Raises NoKey, as `upgrade` does."""
    upgrade(connection, all_steps())
    connection.run(BEGIN)
    there = read_mark(connection)
    if there is None:
        mark(connection, vault)
    elif not opens_mark(vault, there):
        raise NoKey(OTHER)


def check_version(connection: PostgresConnection, known: int) -> None:
    version = _version(connection, known)
    if not version:
        raise Unavailable("this database has no Sanderling schema yet: the first start creates it")
    if version < known:
        raise Unavailable("the database is older than this program: start the service on it once to upgrade it")


def _version(connection: PostgresConnection, known: int) -> int:
    if not connection.execute(_THERE).fetchone()[0]:  # type: ignore[index]
        return 0
    row = connection.execute("SELECT version, oldest FROM schema").fetchone()
    if row is None:
        raise Corrupt("the database's own table `schema` is empty")
    version, oldest = row
    if oldest > known:
        raise NewerSchema(f"the data need a program of schema {oldest}, this one knows {known}: use a newer Sanderling")
    return int(version)
