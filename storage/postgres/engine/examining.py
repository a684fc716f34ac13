"""The examination of a server and its database for `doctor`: without a start, and read-only."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from storage.errors import Unopened
from storage.postgres.engine.asking import facts_of
from storage.postgres.engine.connection import connect, translated
from storage.postgres.server import SETTINGS, Verdict, judge
from storage.secrets.mark import opens_mark, read_mark
from storage.secrets.sealing import examine_boxes
from storage.secrets.vault import Vault

_THERE = "SELECT to_regclass('schema') IS NOT NULL"
_INSIDE = "SELECT id FROM member WHERE inside ORDER BY id"


class Examination(NamedTuple):
    """The findings. version: the server's. schema: of our tables, None if there are none.

    inside: the members. opened: why the master key does not open every secret, "" if it does, None if none was named.
    """

    version: str
    verdicts: Sequence[Verdict]
    schema: int | None
    inside: Sequence[str]
    opened: str | None


def examine(url: str, clock: Callable[[], float], vault: Vault | None, *, listens: bool) -> Examination:
    """Examine a database. Raises Unavailable, Corrupt."""
    connection = connect(url)
    try:
        with translated():
            facts = facts_of(connection, clock, SETTINGS, listens=listens)
            version = f"PostgreSQL {facts.version // 10_000}.{facts.version % 10_000}"
            verdicts = list(judge(facts))
            if not connection.execute(_THERE).fetchone()[0]:  # type: ignore[index]
                return Examination(version, verdicts, None, (), None)
            (schema,) = connection.execute("SELECT version FROM schema").fetchone() or (0,)
            inside = [id for (id,) in connection.execute(_INSIDE).fetchall()]
            opened = None
            if vault is not None:
                mark = read_mark(connection)
                opened = "" if mark is None or opens_mark(vault, mark) else "it is another than the database's"
                try:
                    examine_boxes(connection, vault)
                except Unopened as error:
                    opened = opened or str(error)
            return Examination(version, verdicts, int(schema), inside, opened)
    finally:
        connection.close()
