"""The size of stored data, and why none is given back: PostgreSQL keeps the space of deleted rows for itself.

So the size is that of the present rows, not of the files: the total must fall when events are deleted, and not only
after autovacuum has run.
"""

from __future__ import annotations

from storage.retention import FreeSpace
from storage.secrets.connection import Connection
from storage.sql.transaction import Space

SAMPLE = 1_000
"""Newest events whose sizes are measured."""
ROW = 100
"""Bytes of a log row without its body, including its entries in two indexes."""
_EVENTS = "SELECT count(*) FROM log"
_MEAN = "SELECT avg(pg_column_size(body)) FROM (SELECT body FROM log ORDER BY seq DESC LIMIT ?) newest"
_OTHERS = """SELECT coalesce(sum(pg_total_relation_size(oid)), 0) FROM pg_class
    WHERE relkind='r' AND relnamespace=to_regnamespace(current_schema()) AND relname<>'log'"""


def room_of(connection: Connection) -> FreeSpace:
    """Return approximately how many bytes are taken; none are free."""
    (events,) = connection.execute(_EVENTS).fetchone()
    (mean,) = connection.execute(_MEAN, (SAMPLE,)).fetchone()
    (others,) = connection.execute(_OTHERS).fetchone()
    return FreeSpace(int(others) + events * (ROW + round(mean or 0)), 0)


def give_back(_connection: Connection, _limit: int) -> int:
    """Give nothing back."""
    return 0


SPACE = Space(room_of, give_back)
