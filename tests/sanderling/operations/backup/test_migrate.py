from __future__ import annotations

import json
from contextlib import closing
from pathlib import Path

import pytest

from sanderling import cli
from sanderling.exits import Exit
from storage.sqlite import open_keys, upkeep
from storage.sqlite.engine import COMMAND, DATABASE, STEPS, FolderLock, connect, version_of
from tests.storage.sqlite.upkeep.test_upgrade import written_by

pytestmark = pytest.mark.real


def run(folder: Path, *flags: str) -> int:
    return cli.run(["migrate", "--data", str(folder), *flags])


def schema(path: Path) -> int:
    with closing(connect(path, COMMAND)) as connection:
        return version_of(connection)


def test_a_dry_run_prints_the_plan_and_changes_nothing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = written_by(1, tmp_path)
    assert run(tmp_path, "--dry-run") == Exit.WELL
    told = capsys.readouterr().out
    assert "before-upgrade-from-schema-1.db" in told and f"Schema 1 becomes {len(STEPS)}" in told
    assert schema(path) == 1 and upkeep.kept(tmp_path) == []


def test_it_brings_the_data_up_once_and_keeps_a_copy(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = written_by(1, tmp_path)
    assert run(tmp_path, "--json") == Exit.WELL
    found = json.loads(capsys.readouterr().out)
    assert (found["schema"], found["newest"], found["copied"]) == (1, len(STEPS), True)
    assert schema(path) == len(STEPS)
    assert [copy.name for copy in upkeep.kept(tmp_path)] == ["before-upgrade-from-schema-1.db"]
    assert run(tmp_path) == Exit.WELL
    assert "nothing to do" in capsys.readouterr().err


def test_a_failed_migration_names_a_remedy(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(tmp_path / "none") == Exit.BAD_DATA
    path = written_by(2, tmp_path / "used")
    lock = FolderLock(path.parent)
    lock.acquire()
    assert run(path.parent) == Exit.BAD_DATA
    assert "is in use" in capsys.readouterr().err
    lock.release()
    with open_keys(tmp_path / "newer"):
        pass
    newer = tmp_path / "newer" / DATABASE
    with closing(connect(newer, COMMAND)) as connection:
        connection.execute(f"PRAGMA user_version={len(STEPS) + 1}")
    assert run(newer.parent) == Exit.BAD_DATA
    assert "newer version" in capsys.readouterr().err
    newer.write_bytes(b"no database at all" * 1000)
    assert run(newer.parent, "--dry-run") == Exit.BAD_DATA
    assert "is damaged" in capsys.readouterr().err


def test_without_room_nothing_is_changed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    path = written_by(1, tmp_path)
    monkeypatch.setattr("storage.sqlite.upkeep.SPARE", 1 << 60)
    assert run(tmp_path) == Exit.TRY_AGAIN
    assert "Nothing has changed" in capsys.readouterr().err
    assert schema(path) == 1
