"""The size of what is kept, and why nothing is given back: PostgreSQL keeps the room of what was deleted for itself.

So the size is that of what is there, not of the files: the bound on bytes must fall when events go, and not when
autovacuum has come by.
"""

from __future__ import annotations

from storage.retention import FreeSpace
from storage.secrets.connection import Connection
from storage.sql.transaction import Space

SAMPLE = 1_000
"""Newest events whose sizes are measured."""
ROW = 100
"""Bytes of a row of the log beside its body, with its places in two indexes."""
_EVENTS = "SELECT count(*) FROM log"
_MEAN = "SELECT avg(pg_column_size(body)) FROM (SELECT body FROM log ORDER BY seq DESC LIMIT ?) newest"
_OTHERS = """SELECT coalesce(sum(pg_total_relation_size(oid)), 0) FROM pg_class
    WHERE relkind='r' AND relnamespace=to_regnamespace(current_schema()) AND relname<>'log'"""


def room_of(connection: Connection) -> FreeSpace:
    """Return about how many bytes are taken; none are free."""
    (events,) = connection.execute(_EVENTS).fetchone()
    (mean,) = connection.execute(_MEAN, (SAMPLE,)).fetchone()
    (others,) = connection.execute(_OTHERS).fetchone()
    return FreeSpace(int(others) + events * (ROW + round(mean or 0)), 0)


def give_back(_connection: Connection, _limit: int) -> int:
    """Return that nothing was given back."""
    return 0


SPACE = Space(room_of, give_back)
