"""Import of a whole instance into an empty database: begin, end, or begin again. No service runs in between."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from storage.errors import Locked
from storage.postgres.engine.connection import PostgresConnection, connect, translated
from storage.postgres.engine.steps import STEPS, all_steps, lock_of, upgrade

_IMPORTING = "SELECT EXISTS(SELECT 1 FROM fact WHERE name='importing')"
_THERE = "SELECT to_regclass('fact') IS NOT NULL"
_INSIDE = "SELECT id FROM member WHERE inside AND until > extract(epoch FROM clock_timestamp()) LIMIT 1"
_HELD = """SELECT EXISTS(SELECT 1 FROM source), EXISTS(SELECT 1 FROM alert),
    EXISTS(SELECT 1 FROM log) OR (SELECT value FROM fact WHERE name='floor') > 0"""
_EMPTY = """TRUNCATE source_key, source, source_hot, source_base, source_change, log, alert, destination, cursor,
    retraction, shift, look_day, tag_defaults CASCADE; UPDATE fact SET value=0 WHERE name='floor';
    DELETE FROM public_key WHERE key_id NOT IN (SELECT key_id FROM signing_key)"""


class NotEmpty(Exception):
    """The database already holds `there`."""

    def __init__(self, there: str) -> None:
        super().__init__(there)
        self.there = there


def is_half(url: str) -> bool:
    """Return whether an import into a database was cut off. Raises Unavailable."""
    with _connected(url) as connection:
        there: tuple[bool] = connection.execute(_THERE).fetchone() or (False,)
        half: tuple[bool] = (connection.execute(_IMPORTING).fetchone() or (False,)) if there[0] else (False,)
        return half[0]


def begin(url: str) -> None:
    """Begin an import; delete the rest of an interrupted one. Raises NotEmpty, Locked, Unavailable, NewerSchema."""
    with _connected(url) as connection:
        upgrade(connection, all_steps())
        connection.run(f"BEGIN; {lock_of(STEPS)}")
        try:
            inside = connection.execute(_INSIDE).fetchone()
            if inside is not None:
                raise Locked(f"the node {inside[0]} runs on it: stop all services first")
            if connection.execute(_IMPORTING).fetchone() == (True,):
                connection.run(_EMPTY)
            elif there := _held(connection):
                raise NotEmpty(there)
            else:
                connection.run("INSERT INTO fact VALUES('importing', 1)")
        except BaseException:
            connection.run("ROLLBACK")
            raise
        connection.commit()


def end(url: str) -> None:
    """Mark an import as complete. Raises Unavailable."""
    with _connected(url) as connection:
        connection.run("DELETE FROM fact WHERE name='importing'")


def _held(connection: PostgresConnection) -> str:
    row: tuple[bool, bool, bool] = connection.execute(_HELD).fetchone() or (False, False, False)
    return " and ".join(word for word, found in zip(("sources", "alerts", "events"), row, strict=True) if found)


@contextmanager
def _connected(url: str) -> Iterator[PostgresConnection]:
    connection = connect(url)
    try:
        with translated():
            yield connection
    finally:
        connection.close()
