"""A large file shrinks in small steps; a file of an old release, after one copy."""

from __future__ import annotations

import os
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from storage.errors import DiskFull
from storage.records.event import EVERYTHING
from storage.records.identity import START, Seq
from storage.retention import STEP
from storage.sqlite import open_keys, open_sqlite, upkeep
from storage.sqlite.engine import DATABASE, WRITER, connect, gives_back, migrate, room_of
from storage.sqlite.upkeep import copy_database, rebuild
from tests.storage.contract.builders import CountingMint, a_harvest, a_source, a_state, stamp

pytestmark = pytest.mark.real
TEXT = "x" * 20_000


def made_long_ago(folder: Path) -> Path:
    """Make a database of an old release, which could not return space, and free half of it."""
    folder.mkdir(mode=0o700, exist_ok=True)
    path = folder / DATABASE
    path.touch(mode=0o600)
    with closing(connect(path, WRITER)) as database:
        migrate(database)
        rows = [(number, 1, 1, TEXT.encode()) for number in range(1, 41)]
        database.executemany("INSERT INTO log(seq, source, kind, codec, body) VALUES(?,?,?,0,?)", rows)
        database.execute("DELETE FROM log WHERE seq<=20")
    return path


def facts(path: Path) -> tuple[bool, int, int]:
    with closing(sqlite3.connect(path)) as database:
        (events,) = database.execute("SELECT count(*) FROM log").fetchone()
        return gives_back(database), room_of(database).free, events


async def test_a_file_shrinks_in_steps_and_keeps_its_content(tmp_path: Path) -> None:
    storage = await open_sqlite(tmp_path, clock=lambda: 1_800_000_000.0, owner="test", warn=lambda _: None)
    await storage.sources.add(a_source(1), a_state(1), storage.lease)
    mint = CountingMint()
    for _ in range(10):
        await storage.log.append([a_harvest(1, *[TEXT] * 20)], storage.lease, mint, stamp)
    kept = (await storage.log.read_back(Seq(1 << 62), 50, EVERYTHING)).events[::-1]
    await storage.log.retain(Seq(1 << 62), 150, storage.lease)
    before = await storage.log.room()
    assert before.free > before.whole // 2
    while await storage.log.give_back(STEP, storage.lease):
        pass
    assert (await storage.log.read(START, 500, EVERYTHING)).events == kept
    await storage.aclose()
    assert before.used - 2 * 4096 <= (tmp_path / DATABASE).stat().st_size <= before.used  # the map shrinks too
    with closing(sqlite3.connect(tmp_path / DATABASE)) as database:
        assert database.execute("PRAGMA integrity_check").fetchone() == ("ok",)


async def test_a_database_of_before_is_copied_once_at_a_start(tmp_path: Path) -> None:
    path = made_long_ago(tmp_path)
    assert facts(path)[0] is False
    for _ in range(2):
        storage = await open_sqlite(tmp_path, clock=lambda: 1_800_000_000.0, owner="test", warn=lambda _: None)
        await storage.aclose()
        assert facts(path) == (True, 0, 20)


def test_a_large_one_or_one_in_use_is_left_as_it_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = made_long_ago(tmp_path)
    assert rebuild(path, at_most=4096) is False
    with closing(connect(path, WRITER)) as other:
        other.execute("UPDATE fact SET value=value+1")
        assert rebuild(path) is False
    assert facts(path)[0] is False
    left = path.with_name(f"{DATABASE}.rebuilt")
    left.touch()
    assert rebuild(path, at_most=4096) is False
    assert not left.exists(), "what a killed start left would take the room that the next one needs"
    lasting: list[str] = []
    monkeypatch.setattr("os.fsync", lambda fd: lasting.append(os.readlink(f"/proc/self/fd/{fd}")))
    assert rebuild(path) is True
    assert str(tmp_path) in lasting  # or a power cut could restore the old name
    assert rebuild(path) is False


async def test_a_first_start_killed_before_its_tables_starts_over(tmp_path: Path) -> None:
    path = tmp_path / DATABASE
    with closing(sqlite3.connect(path)) as database:
        database.execute("PRAGMA journal_mode=wal")  # SQLite first writes a page without tables
    assert path.stat().st_size
    storage = await open_sqlite(tmp_path, clock=lambda: 1_800_000_000.0, owner="test", warn=lambda _: None)
    await storage.aclose()
    assert facts(path) == (True, 0, 0)


def test_new_and_copied_databases_can_give_space_back(tmp_path: Path) -> None:
    with open_keys(tmp_path / "new"):
        pass
    assert facts(tmp_path / "new" / DATABASE)[0] is True
    copy_database(made_long_ago(tmp_path / "old"), tmp_path / "copy")
    assert facts(tmp_path / "copy")[0] is True


def test_a_copy_that_finds_the_disk_full_takes_nobodys_place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = made_long_ago(tmp_path)

    def half(source: Path, target: Path) -> None:
        target.write_bytes(b"the beginning")
        raise DiskFull("the disk is full")

    monkeypatch.setattr(upkeep, "copy_database", half)
    assert rebuild(path) is False
    assert facts(path)[2] == 20


def test_a_copy_during_which_somebody_opened_the_database_takes_nobodys_place(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = made_long_ago(tmp_path)

    def copied(source: Path, target: Path) -> None:
        copy_database(source, target)
        source.with_name(source.name + "-wal").write_bytes(b"written meanwhile")

    monkeypatch.setattr(upkeep, "copy_database", copied)
    before = path.read_bytes()
    assert not rebuild(path)
    assert path.read_bytes() == before
    assert not list(tmp_path.glob("*.rebuilt"))
