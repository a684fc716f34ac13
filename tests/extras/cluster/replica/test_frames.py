"""The committed frames of a write-ahead log."""

from __future__ import annotations

import random
import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from extras.cluster.replica import log as frames

SEEDS = range(8)


@pytest.fixture
def primary(tmp_path: Path) -> Iterator[sqlite3.Connection]:
    """A database with a WAL that starts over only when a test asks for it."""
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


def _index(folder: Path) -> frames.Index:
    index = frames.read_index((folder / "primary.db-shm").read_bytes())
    assert index is not None
    return index


@pytest.mark.parametrize("seed", SEEDS)
def test_each_reading_gives_a_state_that_was_committed(
    seed: int, tmp_path: Path, primary: sqlite3.Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(frames, "AT_ONCE", 20_000)
    chance, copy, states = random.Random(seed), tmp_path / "copy.db", [_rows(primary)]
    shutil.copy(tmp_path / "primary.db", copy)
    primary.execute("PRAGMA cache_size=2")  # so that uncommitted pages reach the log too
    for _ in range(10):
        _commit(primary, chance)
        states.append(_rows(primary))
    primary.execute("BEGIN")
    for _ in range(5):
        primary.execute("INSERT INTO log(body) VALUES (?)", (chance.randbytes(9000),))
    index = _index(tmp_path)
    assert (tmp_path / "primary.db-wal").stat().st_size > index.end, "nothing that is not committed is in the log"
    position = frames.beginning(index)
    assert position is not None
    seen = []
    with copy.open("r+b") as database, (tmp_path / "primary.db-wal").open("rb") as log:
        while (found := frames.committed(log, position, index)).size:
            frames.put_into(database, found.pages, found.size)
            database.flush()
            seen.append(states.index(_rows_of(copy)))
            position = found.position
    assert seen == sorted(seen) and seen[-1] == 10 and len(seen) > 2
    assert position.offset == index.end
    primary.execute("ROLLBACK")


def test_a_read_continues_at_the_end_of_the_last(tmp_path: Path, primary: sqlite3.Connection) -> None:
    chance, copy = random.Random(1), tmp_path / "copy.db"
    shutil.copy(tmp_path / "primary.db", copy)
    position: frames.Position | None = None
    with copy.open("r+b") as database, (tmp_path / "primary.db-wal").open("rb") as log:
        for _ in range(20):
            _commit(primary, chance)
            index = _index(tmp_path)
            position = position or frames.beginning(index)
            assert position is not None
            found = frames.committed(log, position, index)
            frames.put_into(database, found.pages, found.size)
            assert found.position.offset > position.offset
            position = found.position
        assert frames.committed(log, position, _index(tmp_path)) == frames.CommittedPages({}, 0, position)
    assert _rows_of(copy) == _rows(primary)


def test_a_log_that_restarted_is_distinguished_from_one_that_grew(tmp_path: Path, primary: sqlite3.Connection) -> None:
    chance = random.Random(2)
    _commit(primary, chance)
    with (tmp_path / "primary.db-wal").open("rb") as log:
        old = _index(tmp_path)
        begin = frames.beginning(old)
        assert begin is not None
        primary.execute("PRAGMA wal_checkpoint(RESTART)")
        _commit(primary, chance)
        with pytest.raises(frames.Restarted):
            frames.committed(log, begin, _index(tmp_path))
        with pytest.raises(frames.Restarted):  # the log has started over since the index was read
            frames.committed(log, begin, old)


def test_an_index_that_is_being_written_says_nothing(tmp_path: Path, primary: sqlite3.Connection) -> None:
    _commit(primary, random.Random(3))
    raw = bytearray((tmp_path / "primary.db-shm").read_bytes()[: 2 * frames.INDEX])
    assert frames.read_index(bytes(raw)) is not None
    for at in (0, 16, 40, frames.INDEX + 3):
        torn = bytearray(raw)
        torn[at] ^= 1
        assert frames.read_index(bytes(torn)) is None
    both = bytearray(raw)
    both[16] ^= 1
    both[frames.INDEX + 16] ^= 1
    assert frames.read_index(bytes(both)) is None, "the checksum is not looked at"
    assert frames.read_index(b"") is None


def test_an_empty_log_has_no_beginning(tmp_path: Path, primary: sqlite3.Connection) -> None:
    _commit(primary, random.Random(4))
    primary.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    assert frames.beginning(_index(tmp_path)) is None
