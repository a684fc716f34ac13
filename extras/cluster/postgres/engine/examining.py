"""Reading a server's properties for `server.judge`, and the examination for `doctor`: read-only, without a start."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import Any, NamedTuple

from psycopg.errors import ProtocolViolation

from extras.cluster.postgres.engine.connection import PostgresConnection, connected
from extras.cluster.postgres.engine.steps import APPENDS, LOCKS
from extras.cluster.postgres.server import SETTINGS, ServerFacts, ServerVerdict, ahead_of, judge
from storage.errors import Unavailable, Unopened
from storage.secrets.sealing import examine_boxes, opens_mark, read_mark
from storage.secrets.vault import Vault

_SERVER = """SELECT current_setting('server_version_num')::int,
    (SELECT pg_encoding_to_char(encoding) FROM pg_database WHERE datname=current_database()),
    NOT pg_is_in_recovery() AND current_setting('default_transaction_read_only')='off',
    coalesce(has_schema_privilege(current_schema(), 'CREATE'), false), pg_backend_pid(),
    pg_has_role(current_user, 'pg_monitor', 'USAGE')"""
_CLOCK = "SELECT extract(epoch FROM clock_timestamp())::float8"
_STANDBYS = "SELECT application_name FROM pg_stat_replication WHERE sync_state='async' ORDER BY 1"
_HOLDER = """SELECT extract(epoch FROM clock_timestamp() - coalesce(a.xact_start, clock_timestamp()))::float8, l.pid
    FROM pg_locks l LEFT JOIN pg_stat_activity a USING (pid)
    WHERE l.locktype='advisory' AND l.granted AND l.classid=? AND l.objid=? LIMIT 1"""


def facts_of(
    connection: PostgresConnection, clock: Callable[[], float], named: Collection[str], *, listens: bool = False
) -> ServerFacts:
    """clock: our wall clock, in seconds. named: settings to check. Raises psycopg.Error; Unavailable behind poolers."""
    version, encoding, writable, may_create, pid, sees_all = _row(connection, _SERVER)
    asked = clock()
    (server,) = _row(connection, _CLOCK)
    answered = clock()
    settings = {name: _row(connection, "SELECT current_setting(?)", name)[0] for name in named}
    held = connection.execute(_HOLDER, (LOCKS, APPENDS)).fetchone()
    pooled = pid != connection.pid  # a pooler reports its own process id
    try:
        for statement in ("BEGIN", "COMMIT") if pooled else ():  # in one message, a pooler takes them for one statement
            connection.run(statement)
    except ProtocolViolation as error:
        raise Unavailable("the pooler takes no transactions. Set pool_mode = transaction in PgBouncer") from error
    return ServerFacts(
        version=version,
        encoding=encoding,
        settings=dict.fromkeys(SETTINGS, "on") | settings,
        ahead=ahead_of(asked, server, answered),
        writable=writable,
        may_create=may_create,
        asynchronous=tuple(name for (name,) in connection.execute(_STANDBYS).fetchall()) if sees_all else None,
        log_lock=None if held is None else (held[0], held[1]),
        pooled=pooled,
        listens=listens,
    )


def _row(connection: PostgresConnection, query: str, *given: str) -> tuple[Any, ...]:
    row: tuple[Any, ...] | None = connection.execute(query, given).fetchone()
    assert row is not None
    return row


_THERE = "SELECT to_regclass('schema') IS NOT NULL"
_INSIDE = "SELECT id FROM member WHERE inside ORDER BY id"


class Examination(NamedTuple):
    """version: the server's. schema: of our tables, or None. inside: members. opened: why the key fails, "" or None."""

    version: str
    verdicts: Sequence[ServerVerdict]
    schema: int | None
    inside: Sequence[str]
    opened: str | None


def examine(url: str, clock: Callable[[], float], vault: Vault | None, *, listens: bool) -> Examination:
    with connected(url) as connection:
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
