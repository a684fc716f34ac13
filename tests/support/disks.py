"""Writes to an in-loop disk and reads from it directly, outside of any life of the service."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from storage.records.access import Password
from storage.records.destination import Attempt, Destination
from storage.records.identity import Seq
from storage.records.source import SourceState, WatchedSource
from storage.sql.stores.alerts import put_destination
from storage.sql.stores.outbox import note
from storage.sql.stores.sources import insert
from storage.sql.writing import Transaction
from tests.support.in_loop import Disk


def keep(disk: Disk, watched: Iterable[WatchedSource]) -> None:
    """Put these sources on the disk, replacing those with the same URL."""

    def job(transaction: Transaction) -> None:
        for each in watched:
            transaction.execute("DELETE FROM source WHERE url=?", (each.source.url,))
            insert(transaction, each.source, SourceState(each.source.id, each.hot, each.base), None)

    disk.run(job)


def keep_destinations(disk: Disk, destinations: Iterable[Destination]) -> None:
    def job(transaction: Transaction) -> None:
        for each in destinations:
            put_destination(transaction, each)

    disk.run(job)


def note_attempt(disk: Disk, line: Attempt) -> None:
    def job(transaction: Transaction) -> None:
        (key,) = transaction.execute("SELECT key FROM destination WHERE id=?", (line.destination,)).fetchone()
        note(transaction, key, [line])

    disk.run(job)


def set_password(disk: Disk, password: Password) -> None:
    row = (password.hashed, password.set_at)
    disk.connection.execute("REPLACE INTO password(one, hashed, set_at) VALUES(1,?,?)", row)


def set_cursor(disk: Disk, name: str, seq: Seq) -> None:
    disk.connection.execute("INSERT OR REPLACE INTO cursor VALUES(?,?)", (name, seq))


def cursor(disk: Disk, name: str) -> Seq | None:
    row = disk.connection.execute("SELECT seq FROM cursor WHERE name=?", (name,)).fetchone()
    return None if row is None else Seq(row[0])


def floor(disk: Disk) -> Seq:
    (seq,) = disk.connection.execute("SELECT value FROM fact WHERE name='floor'").fetchone()
    return Seq(seq)


def outbox(disk: Disk) -> Mapping[str, list[Seq]]:
    """Return the waiting positions of each destination, ascending."""
    rows = "SELECT d.id, o.seq FROM outbox o JOIN destination d ON d.key=o.destination ORDER BY o.seq"
    found: dict[str, list[Seq]] = {}
    for destination, seq in disk.connection.execute(rows):
        found.setdefault(destination, []).append(Seq(seq))
    return found


def count(disk: Disk, table: str) -> int:
    (rows,) = disk.connection.execute(f"SELECT count(*) FROM {table}").fetchone()  # our own table
    return int(rows)
