"""What comes back from other files than a backup of today's schema, and whose it is then."""

from __future__ import annotations

import errno
import json
import os
import sqlite3
from contextlib import closing
from pathlib import Path

import msgspec
import pytest

from actors.settings import Settings
from sanderling.exits import CommandFailed, Exit
from sanderling.keeping.archive import Piece, member, write_archive
from sanderling.keeping.making import make_backup
from sanderling.keeping.seal import find_master_key
from sanderling.real_world import entropy
from storage.records.destination import Secret
from storage.sqlite.copying import examine
from storage.sqlite.folder import DATABASE, LOCK
from storage.sqlite.migrations import STEPS, version_of
from tests.keeping.test_backup import MASTER, NOTHING, SECRET, back, filled, opened
from tests.storage.test_upgrade import SECRET as OLDER
from tests.storage.test_upgrade import written_by

pytestmark = pytest.mark.real


@pytest.fixture
async def folder(tmp_path: Path) -> Path:
    """A data folder with something of everything, that nobody serves."""
    storage = await opened(tmp_path / "data")
    await filled(storage)
    await storage.aclose()
    return tmp_path / "data"


async def test_the_copy_that_an_upgrade_keeps_is_restored_like_a_backup(folder: Path, tmp_path: Path) -> None:
    """The way back: secrets and all, as the older program left it."""
    (tmp_path / DATABASE).write_bytes((folder / DATABASE).read_bytes())
    kept = (tmp_path / DATABASE).rename(tmp_path / "before-upgrade-from-schema-1.db")
    with pytest.raises(CommandFailed, match="no master key is here") as told:
        back(kept, folder, replace=True, master=False)
    assert told.value.code is Exit.BAD_SETTING
    assert back(kept, folder, replace=True).content.events == 2
    storage = await opened(folder)
    assert [each.secrets for each in await storage.alerts.destinations()] == [(Secret(SECRET),)]
    await storage.aclose()


async def test_what_was_put_aside_after_a_crash_comes_back_with_its_newest_commits(
    folder: Path, tmp_path: Path
) -> None:
    make_backup(Settings(data=str(folder)), tmp_path / "b.tar", MASTER, secrets=True)
    with closing(sqlite3.connect(folder / DATABASE)) as crashed:
        crashed.execute("UPDATE source SET url='https://newest.example/'")
        crashed.commit()
        left = {name: (folder / name).read_bytes() for name in os.listdir(folder)}
    for name, data in left.items():
        (folder / name).write_bytes(data)
    assert left[DATABASE + "-wal"]
    aside = back(tmp_path / "b.tar", folder, replace=True).aside
    assert aside is not None
    back(aside / DATABASE, tmp_path / "new")
    with closing(sqlite3.connect(tmp_path / "new" / DATABASE)) as again:
        assert again.execute("SELECT url FROM source").fetchall() == [("https://newest.example/",)]


async def test_a_backup_of_an_earlier_schema_is_restored_with_its_secrets_sealed(tmp_path: Path) -> None:
    """Made by this program of an older database, and as an older program made it."""
    settings = Settings(data=str(tmp_path / "old"))
    path = written_by(5, tmp_path / "old")
    made = make_backup(settings, tmp_path / "b.tar", MASTER, secrets=True)
    assert made.database.schema == len(STEPS)
    with closing(sqlite3.connect(path)) as database:
        assert version_of(database) == 5
        seeds = {id: seed.hex() for id, seed in database.execute("SELECT key_id, seed FROM signing_key")}
        ((id, body),) = database.execute("SELECT id, body FROM destination").fetchall()
        record = json.loads(body)
        secrets = msgspec.json.encode({"seeds": seeds, "destinations": {id: record["secrets"]}})
        database.execute("UPDATE signing_key SET seed=zeroblob(0)")
        database.execute("UPDATE destination SET body=?", (json.dumps(record | {"secrets": []}).encode(),))
        database.commit()
    key = find_master_key(MASTER)
    assert key is not None
    (tmp_path / "sealed").write_bytes(key.seal(secrets, entropy(24)))
    pieces = [Piece(DATABASE, path), Piece("secrets.sealed", tmp_path / "sealed")]
    older = msgspec.structs.replace(made, database=examine(path), files=tuple(member(piece) for piece in pieces))
    write_archive(tmp_path / "older.tar", older, pieces)
    for name in ("b", "older"):
        assert back(tmp_path / f"{name}.tar", tmp_path / name).lost == NOTHING
        held = b"".join((tmp_path / name / file).read_bytes() for file in os.listdir(tmp_path / name))
        assert b"whsec_" not in held and b"s" * 32 not in held
        storage = await opened(tmp_path / name)
        assert [each.secrets for each in await storage.alerts.destinations()] == [(OLDER,)]
        assert {key.key_id: key.seed.hex() for key in await storage.keys.signing()} == seeds
        await storage.aclose()


async def test_a_restore_that_fails_leaves_nothing_that_was_not_there(folder: Path, tmp_path: Path) -> None:
    make_backup(Settings(data=str(folder)), tmp_path / "b.tar", MASTER, secrets=True)
    (tmp_path / "bad.tar").write_bytes(b"no backup")
    (tmp_path / "empty").mkdir()
    for new in ("new/of/it", "empty"):
        with pytest.raises(CommandFailed):
            back(tmp_path / "bad.tar", tmp_path / new)
    assert sorted(os.listdir(tmp_path)) == ["b.tar", "bad.tar", "data", "empty"]
    assert os.listdir(tmp_path / "empty") == []
    before = sorted(os.listdir(folder))
    with pytest.raises(CommandFailed):
        back(tmp_path / "bad.tar", folder, replace=True)
    assert sorted(os.listdir(folder)) == before and LOCK in before, "a lock that was there stays"


@pytest.mark.parametrize("room", [True, False])
async def test_without_hard_links_the_old_database_is_copied(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, room: bool
) -> None:
    def refused(*_: object, **_more: object) -> None:
        raise PermissionError(errno.EPERM, os.strerror(errno.EPERM))

    def full(*_: object, **_more: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    make_backup(Settings(data=str(folder)), tmp_path / "b.tar", MASTER, secrets=True)
    before, old = sorted(os.listdir(folder)), (folder / DATABASE).read_bytes()
    monkeypatch.setattr(os, "link", refused)
    if room:
        aside = back(tmp_path / "b.tar", folder, replace=True).aside
        assert aside is not None and (aside / DATABASE).read_bytes() == old
        assert (aside / DATABASE).stat().st_mode & 0o777 == 0o600
        return
    monkeypatch.setattr("sanderling.keeping.restoring.shutil.copy", full)
    with pytest.raises(CommandFailed, match="No space left"):
        back(tmp_path / "b.tar", folder, replace=True)
    assert sorted(os.listdir(folder)) == before and (folder / DATABASE).read_bytes() == old
