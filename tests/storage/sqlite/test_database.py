"""Opening a folder: pragmas, modes, the lock, schemas, and the head mark."""

from __future__ import annotations

import os
import sqlite3
import stat
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest
import trio

from storage.append import events_of
from storage.errors import Corrupt, Exposed, Fenced, Locked, NewerSchema, StorageError
from storage.records.event import EVERYTHING
from storage.records.identity import START, Seq
from storage.sql.storage import Storage
from storage.sqlite import open_keys, open_sqlite
from storage.sqlite.engine import (
    DATABASE,
    LOCK,
    MARK,
    READER,
    STEPS,
    WRITER,
    MigrationStep,
    connect,
    migrate,
    version_of,
)
from storage.sqlite.master_key import OWN
from tests.storage.contract.builders import (
    CountingMint,
    a_harvest,
    a_signing_key,
    a_source,
    a_source_id,
    a_state,
    an_alert,
    an_api_key,
    stamp,
)
from tests.support.waiting import until

pytestmark = pytest.mark.real


async def opened(folder: Path, warn: Callable[[str], None] | None = None) -> Storage:
    def loud(sentence: str) -> None:
        raise AssertionError(sentence)

    return await open_sqlite(folder, clock=lambda: 1_800_000_000.0, owner="test", warn=warn or loud)


def modes_in(folder: Path) -> dict[str, int]:
    paths = {".": folder, **{path.name: path for path in folder.iterdir()}}
    return {name: stat.S_IMODE(path.stat().st_mode) for name, path in paths.items()}


async def appended(storage: Storage, *titles: str, mint: CountingMint | None = None) -> Seq:
    harvest = a_harvest(1, *titles)
    events = events_of(await storage.log.append([harvest], storage.lease, mint or CountingMint(), stamp))
    return events[-1].seq


async def test_the_folder_and_its_files_are_for_their_owner_only(tmp_path: Path) -> None:
    folder = tmp_path / "a" / "data"
    storage = await opened(folder)
    await storage.sources.add(a_source(), a_state(), storage.lease)
    modes = modes_in(folder)
    assert modes.pop(".") == 0o700
    assert set(modes) == {DATABASE, f"{DATABASE}-wal", f"{DATABASE}-shm", LOCK, MARK, OWN}
    assert set(modes.values()) == {0o600}
    await storage.aclose()


async def test_permissions_of_others_are_removed_from_existing_files(tmp_path: Path) -> None:
    folder = tmp_path / "data"
    os.mkdir(folder, 0o755)
    os.close(os.open(folder / DATABASE, os.O_CREAT, 0o644))
    await (await opened(folder)).aclose()
    modes = modes_in(folder)
    assert (modes["."], modes[DATABASE]) == (0o700, 0o600)


def test_every_pragma_holds_on_a_real_connection(tmp_path: Path) -> None:
    (tmp_path / DATABASE).touch()
    writer = connect(tmp_path / DATABASE, WRITER)
    got = {name: writer.execute(f"PRAGMA {name}").fetchone()[0] for name, _ in WRITER}
    assert got == dict(WRITER)
    assert (got["journal_mode"], got["synchronous"], got["foreign_keys"]) == ("wal", 2, 1)
    reader = connect(tmp_path / DATABASE, READER, read_only=True)
    with pytest.raises(sqlite3.OperationalError, match="readonly"):
        reader.execute("CREATE TABLE x(y)")
    writer.close()
    reader.close()


def test_a_pragma_that_does_not_hold_is_refused(tmp_path: Path) -> None:
    """SQLite ignores unknown pragmas: unless read back, a typo would cost durability unnoticed."""
    (tmp_path / DATABASE).touch()
    with pytest.raises(StorageError, match="synchronus"):
        connect(tmp_path / DATABASE, (("synchronus", 2),))


def test_an_old_sqlite_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sqlite3, "sqlite_version_info", (3, 36, 0))
    with pytest.raises(StorageError, match=r"needs 3\.37\.0"):
        connect(tmp_path / DATABASE, WRITER)


async def test_a_second_server_is_refused(tmp_path: Path) -> None:
    first = await opened(tmp_path)
    with pytest.raises(Locked, match="another process"):
        await opened(tmp_path)
    await first.aclose()
    await (await opened(tmp_path)).aclose()


async def test_a_second_server_in_another_process_is_refused_and_a_dead_one_is_not(tmp_path: Path) -> None:
    program = (
        "import sys, trio; from pathlib import Path; from storage.sqlite import open_sqlite\n"
        "async def main():\n"
        "    await open_sqlite(Path(sys.argv[1]), clock=lambda: 0.0, owner='x', warn=print)\n"
        "    print('open', flush=True)\n"
        "    await trio.sleep(60)\n"
        "trio.run(main)\n"
    )
    command = [sys.executable, "-c", program, str(tmp_path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as other:  # noqa: ASYNC220  (a start blocks for milliseconds)
        assert other.stdout is not None
        assert await trio.to_thread.run_sync(other.stdout.readline) == b"open\n"
        with pytest.raises(Locked):
            await opened(tmp_path)
        other.kill()
    await (await opened(tmp_path)).aclose()


async def test_closing_twice_is_fine_and_later_calls_are_refused(tmp_path: Path) -> None:
    storage = await opened(tmp_path)
    await storage.aclose()
    await storage.aclose()
    with pytest.raises(StorageError, match="closed"):
        await storage.alerts.put(an_alert())
    with pytest.raises(StorageError, match="closed"):
        await storage.log.bounds()
    with pytest.raises(StorageError, match="closed"):
        await storage.keys.by_hash("x")
    assert not (tmp_path / f"{DATABASE}-wal").exists()


async def test_closing_finishes_the_writes_under_way_also_when_cancelled(tmp_path: Path) -> None:
    storage = await opened(tmp_path)
    await storage.sources.add(a_source(), a_state(), storage.lease)
    async with trio.open_nursery() as nursery:
        for number in range(700):
            nursery.start_soon(appended, storage, str(number))
        await trio.testing.wait_all_tasks_blocked(0)
        with trio.CancelScope() as scope:
            scope.cancel()
            await storage.aclose()
    again = await opened(tmp_path)
    assert await again.log.count() == 700
    await again.aclose()


async def test_each_start_fences_the_one_before(tmp_path: Path) -> None:
    storage = await opened(tmp_path)
    with sqlite3.connect(tmp_path / DATABASE) as other:
        other.execute("UPDATE fact SET value=value+1 WHERE name='epoch'")
    other.close()
    for write in (
        storage.keys.add(an_api_key()),
        storage.keys.revoke("x"),
        storage.keys.touch({}),
        storage.keys.add_signing(a_signing_key("k")),
        storage.alerts.put(an_alert()),
        storage.alerts.delete("x"),
        storage.sources.delete(a_source_id(1), storage.lease),
    ):
        with pytest.raises(Fenced, match="start 2 owns the data"):
            await write
    await storage.aclose()


# --- schema ----------------------------------------------------------------------------------------------------------


async def test_every_table_is_strict(tmp_path: Path) -> None:
    await (await opened(tmp_path)).aclose()
    with sqlite3.connect(tmp_path / DATABASE) as other:
        ours = "name NOT LIKE 'sqlite%' AND name NOT LIKE '\\_%' ESCAPE '\\'"
        tables = other.execute(f"SELECT name, strict FROM pragma_table_list WHERE type='table' AND {ours}").fetchall()
        assert other.execute("PRAGMA page_size").fetchone() == (4096,)
    other.close()
    assert len(tables) >= 12
    assert {strict for _, strict in tables} == {1}


async def test_a_newer_schema_is_refused_and_left_alone(tmp_path: Path) -> None:
    await (await opened(tmp_path)).aclose()
    with sqlite3.connect(tmp_path / DATABASE) as other:
        other.execute("PRAGMA user_version=99")
    other.close()
    with pytest.raises(NewerSchema, match="schema 99"):
        await opened(tmp_path)
    with pytest.raises(NewerSchema):
        open_keys(tmp_path)
    with sqlite3.connect(tmp_path / DATABASE) as other:
        other.execute("PRAGMA user_version=1")
    other.close()
    await (await opened(tmp_path, lambda _: None)).aclose()  # the refused starts hold neither lock nor connection


def test_a_failing_step_leaves_nothing_and_is_tried_again(tmp_path: Path) -> None:
    (tmp_path / DATABASE).touch()
    database = connect(tmp_path / DATABASE, WRITER)
    broken = True

    def half(_connection: object, _vault: object) -> None:
        database.execute("CREATE TABLE half(x INTEGER) STRICT")
        if broken:
            raise RuntimeError("planned")

    another = MigrationStep("another", (), half)

    def tables() -> set[str]:
        return {name for (name,) in database.execute("SELECT name FROM sqlite_schema WHERE type='table'")}

    migrate(database)
    before = tables()
    with pytest.raises(RuntimeError, match="planned"):
        migrate(database, [*STEPS, another])
    assert tables() == before
    assert version_of(database) == len(STEPS)
    assert not database.in_transaction
    broken = False
    migrate(database, [*STEPS, another])
    assert tables() == before | {"half"}
    assert version_of(database, [*STEPS, another]) == len(STEPS) + 1
    migrate(database, [*STEPS, another])
    with pytest.raises(NewerSchema):
        migrate(database)
    database.close()


async def test_a_file_that_is_no_database_is_refused(tmp_path: Path) -> None:
    (tmp_path / DATABASE).write_bytes(b"not a database, but long enough to look at" * 100)
    with pytest.raises(Corrupt, match="put a backup in its place"):
        await opened(tmp_path)
    (tmp_path / DATABASE).unlink()
    await (await opened(tmp_path)).aclose()


# --- the head mark ---------------------------------------------------------------------------------------------------


async def test_a_deleted_wal_is_noticed_and_ids_continue_above_its_content(tmp_path: Path) -> None:
    """SQLite does not report it: the newest commits are simply gone."""
    storage = await opened(tmp_path)
    await storage.sources.add(a_source(), a_state(), storage.lease)
    with sqlite3.connect(tmp_path / DATABASE) as other:
        other.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
    other.close()
    lost = await appended(storage, "a", "b", "c")
    copy = tmp_path / "copy"
    copy.mkdir()
    (copy / DATABASE).write_bytes((tmp_path / DATABASE).read_bytes())  # the database without its WAL
    await storage.aclose()
    for name in (MARK, OWN):
        (copy / name).write_bytes((tmp_path / name).read_bytes())

    warnings: list[str] = []
    again = await opened(copy, warnings.append)
    (sentence,) = warnings
    assert "EVENTS ARE MISSING" in sentence
    assert "2027-01-15T08:00:00.000Z" in sentence
    assert again.tail.head == lost
    bounds = await again.log.bounds()
    assert (bounds.oldest, bounds.newest) == (START, lost)
    # A reader with a cursor at or before the lost events ends at the head.
    assert (await again.log.read(START, 500, EVERYTHING)).scanned == lost
    assert await appended(again, "d", mint=CountingMint(start=1)) > lost
    await again.aclose()
    await (await opened(copy)).aclose()  # opens normally


async def test_the_mark_follows_the_log(tmp_path: Path) -> None:
    storage = await opened(tmp_path)
    await storage.sources.add(a_source(), a_state(), storage.lease)
    first = await appended(storage, "a")
    second = await appended(storage, "b", mint=CountingMint(start=first))
    # The test's wall clock stays still: the idle writer writes the mark.
    await until(lambda: int((tmp_path / MARK).read_text()) == second)
    third = await appended(storage, "c", mint=CountingMint(start=second))
    await storage.aclose()
    assert int((tmp_path / MARK).read_text()) == third


async def test_a_damaged_mark_is_reported_and_made_again(tmp_path: Path) -> None:
    (tmp_path / MARK).write_text("nonsense\n")
    warnings: list[str] = []
    storage = await opened(tmp_path, warnings.append)
    assert "head mark is damaged" in warnings[0]
    await storage.sources.add(a_source(), a_state(), storage.lease)
    last = await appended(storage, "a")
    await storage.aclose()
    assert int((tmp_path / MARK).read_text()) == last


# --- keys with a running server --------------------------------------------------------------------------------------


def in_another_process(folder: Path, statement: str) -> str:
    program = (
        "import sys; from pathlib import Path; from storage.sqlite import open_keys\n"
        "from tests.storage.contract.builders import an_api_key\n"
        f"with open_keys(Path(sys.argv[1])) as keys: print({statement})"
    )
    command = [sys.executable, "-c", program, str(folder)]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()


async def test_a_command_writes_keys_while_a_server_runs_and_its_next_call_sees_them(tmp_path: Path) -> None:
    storage = await opened(tmp_path)
    await storage.keys.add(an_api_key("served"))
    await trio.to_thread.run_sync(in_another_process, tmp_path, "keys.add(an_api_key('made'))")
    assert await storage.keys.by_hash(an_api_key("made").sha256) == an_api_key("made")
    await trio.to_thread.run_sync(in_another_process, tmp_path, "keys.revoke('served')")
    assert await storage.keys.by_hash(an_api_key("served").sha256) is None
    assert await trio.to_thread.run_sync(in_another_process, tmp_path, "[k.id for k in keys.all()]") == "['made']"
    await storage.sources.add(a_source(), a_state(), storage.lease)
    await storage.aclose()


async def test_a_command_makes_the_folder_when_there_is_none(tmp_path: Path) -> None:
    folder = tmp_path / "new" / "data"
    with open_keys(folder) as keys:
        keys.add(an_api_key())
    assert modes_in(folder)["."] == 0o700
    storage = await opened(folder)
    assert list(await storage.keys.all()) == [an_api_key()]
    await storage.aclose()


async def test_commands_that_come_first_all_at_once_make_one_database(tmp_path: Path) -> None:
    def add(number: int) -> None:
        with open_keys(tmp_path / "new") as keys:
            keys.add(an_api_key(str(number)))

    async with trio.open_nursery() as nursery:
        for number in range(8):
            nursery.start_soon(trio.to_thread.run_sync, add, number)
        storage = await opened(tmp_path / "new")
    assert len(await storage.keys.all()) == 8
    await storage.aclose()


async def test_a_command_does_not_change_the_schema_under_a_server(tmp_path: Path) -> None:
    storage = await opened(tmp_path)
    with sqlite3.connect(tmp_path / DATABASE) as other:
        other.execute("PRAGMA user_version=1")
    other.close()
    with pytest.raises(Locked, match="older than this program: restart it"):
        open_keys(tmp_path)
    await storage.aclose()


async def test_a_folder_from_before_the_figures_had_columns_is_upgraded_with_its_content(tmp_path: Path) -> None:
    (tmp_path / DATABASE).touch()
    database = connect(tmp_path / DATABASE, WRITER)
    migrate(database, STEPS[:1])
    old = an_alert(match_count=0)
    database.execute("INSERT INTO alert VALUES(?,?,?)", (old.id, old.created_at, msgspec.json.encode(old)))
    database.commit()
    database.close()
    said: list[str] = []
    storage = await opened(tmp_path, said.append)
    assert "upgraded" in said[0]
    assert list(await storage.alerts.all()) == [old]
    await storage.aclose()


@pytest.mark.parametrize(("name", "mode"), [(".", 0o777), (DATABASE, 0o640), (DATABASE, 0o604)])
async def test_x20_data_open_to_others_are_refused_when_they_are_not_ours_to_change(
    name: str, mode: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "data"
    with open_keys(folder):
        pass
    (folder / name).chmod(mode)
    monkeypatch.setattr(os, "geteuid", lambda: 4_242)
    with pytest.raises(Exposed, match=f"{mode:04o}"):
        await opened(folder)
    with pytest.raises(Exposed):
        open_keys(folder)
    monkeypatch.undo()
    await (await opened(folder)).aclose()  # our own folder becomes private, and opens
    assert modes_in(folder)["."] == 0o700
