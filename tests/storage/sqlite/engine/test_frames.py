"""The committed frames of a write-ahead log."""

from __future__ import annotations

import random
import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from io import BytesIO
from pathlib import Path

import pytest

from storage.sqlite.engine import frames

SEEDS = range(8)


@pytest.fixture
def primary(tmp_path: Path) -> Iterator[sqlite3.Connection]:
    """A database whose log starts over only when a test says so."""
    with closing(sqlite3.connect(tmp_path / "primary.db", isolation_level=None)) as connection:
        connection.execute("PRAGMA journal_mode=wal")
        connection.execute("PRAGMA wal_autocheckpoint=0")
        connection.execute("CREATE TABLE log(number INTEGER PRIMARY KEY, body BLOB NOT NULL)")
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        yield connection


def _commit(connection: sqlite3.Connection, chance: random.Random) -> None:
    connection.execute("BEGIN")
    for _ in range(chance.randint(1, 5)):
        connection.execute("INSERT INTO log(body) VALUES (?)", (chance.randbytes(chance.randint(1, 9000)),))
    if chance.random() < 0.3:
        connection.execute("DELETE FROM log WHERE number % 3 = ?", (chance.randrange(3),))
    connection.execute("COMMIT")


def _rows(connection: sqlite3.Connection) -> list[tuple[int, bytes]]:
    return connection.execute("SELECT number, body FROM log ORDER BY number").fetchall()


def _rows_of(copy: Path) -> list[tuple[int, bytes]]:
    with closing(sqlite3.connect(f"{copy.as_uri()}?immutable=1", uri=True)) as connection:
        assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
        return _rows(connection)


@pytest.mark.parametrize("seed", SEEDS)
def test_a_log_cut_anywhere_gives_a_state_that_was_committed(
    seed: int, tmp_path: Path, primary: sqlite3.Connection
) -> None:
    chance = random.Random(seed)
    start, copy = tmp_path / "start.db", tmp_path / "copy.db"
    shutil.copy(tmp_path / "primary.db", start)
    log, states = tmp_path / "primary.db-wal", [_rows(primary)]
    ends = [0]
    for _ in range(10):
        _commit(primary, chance)
        states.append(_rows(primary))
        ends.append(log.stat().st_size)
    whole = log.read_bytes()
    for cut in [*sorted(chance.sample(range(frames.HEADER, len(whole)), 6)), len(whole)]:
        shutil.copy(start, copy)
        torn = bytearray(whole)
        torn[cut:] = chance.randbytes(len(whole) - cut)
        begin = frames.beginning(BytesIO(torn))
        assert begin is not None
        with copy.open("r+b") as database:
            found = frames.committed(BytesIO(torn), begin)
            frames.put_into(database, found.pages, found.size)
        assert _rows_of(copy) == states[max(n for n, end in enumerate(ends) if end <= cut)]


def test_a_reading_goes_on_where_the_one_before_ended(tmp_path: Path, primary: sqlite3.Connection) -> None:
    chance, copy = random.Random(1), tmp_path / "copy.db"
    shutil.copy(tmp_path / "primary.db", copy)
    position: frames.Position | None = None
    with copy.open("r+b") as database, (tmp_path / "primary.db-wal").open("rb") as log:
        for _ in range(20):
            _commit(primary, chance)
            position = position or frames.beginning(log)
            assert position is not None
            found = frames.committed(log, position)
            frames.put_into(database, found.pages, found.size)
            assert found.position.offset > position.offset
            position = found.position
        assert frames.committed(log, position) == frames.Committed({}, 0, position)
    assert _rows_of(copy) == _rows(primary)


def test_a_log_that_began_anew_is_told_from_one_that_grew(tmp_path: Path, primary: sqlite3.Connection) -> None:
    chance = random.Random(2)
    _commit(primary, chance)
    with (tmp_path / "primary.db-wal").open("rb") as log:
        begin = frames.beginning(log)
        assert begin is not None
        primary.execute("PRAGMA wal_checkpoint(RESTART)")
        _commit(primary, chance)
        with pytest.raises(frames.Restarted):
            frames.committed(log, begin)


@pytest.mark.parametrize("wrong", [b"\0" * 32, b"SQLite format 3\0" * 2, b"\x37\x7f\x06\x82" + b"\xff" * 28])
def test_what_is_no_log_is_refused(wrong: bytes) -> None:
    with pytest.raises(ValueError, match="log"):
        frames.beginning(BytesIO(wrong))


def test_an_empty_log_has_no_beginning() -> None:
    assert frames.beginning(BytesIO()) is None
