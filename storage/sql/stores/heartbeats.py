"""Heartbeats in the log: the newest one, and the limit on their number.

They are events of the service itself, mixed with all others, so their positions come from the source index.
"""

from __future__ import annotations

from typing import Final

from storage.records.identity import SERVICE, START, Seq
from storage.records.tiers import Kind
from storage.secrets.connection import Connection

_OURS: Final = (
    f"FROM log INDEXED BY log_source WHERE source=(SELECT key FROM source_key WHERE id='{SERVICE}') "  # noqa: S608  # ours
    f"AND kind={Kind.HEARTBEAT}"
)
_NEWEST: Final = f"SELECT seq {_OURS} ORDER BY seq DESC LIMIT 1"
_OTHERS: Final = f"SELECT (SELECT count(*) FROM log) - (SELECT count(*) {_OURS})"  # noqa: S608  # ours
_OVER: Final = f"SELECT seq {_OURS} ORDER BY seq DESC LIMIT 1 OFFSET ?"
_OLDEST: Final = f"SELECT seq {_OURS} AND seq<=? AND seq<? ORDER BY seq LIMIT ?"


def newest(connection: Connection) -> Seq:
    """Return the position of the newest heartbeat, 0 if there is none."""
    row = connection.execute(_NEWEST).fetchone()
    return START if row is None else Seq(row[0])


def count_of_others(connection: Connection) -> int:
    """Count the events that are not heartbeats."""
    return int(connection.execute(_OTHERS).fetchone()[0])


def forget(connection: Connection, before: Seq, keep: int, limit: int) -> int:
    over = connection.execute(_OVER, (keep,)).fetchone()
    if over is None:
        return 0
    doomed = connection.execute(_OLDEST, (over[0], before, limit)).fetchall()
    for row in doomed:
        connection.execute("DELETE FROM log WHERE seq=?", row)
    return len(doomed)
