"""Restoring other files than a backup of today's schema, and their owner afterwards."""

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
from sanderling.data_folder import find_master_key
from sanderling.exits import CommandFailed, Exit
from sanderling.operations.backup import (
    SourceFile,
    make_backup,
    member,
    restore,
    taken_over,
    unpack,
    verify,
    write_archive,
)
from sanderling.real_world import entropy
from storage.records.destination import Secret
from storage.sqlite.engine import DATABASE, LOCK, STEPS, version_of
from storage.sqlite.upkeep import examine
from tests.sanderling.operations.backup.test_backup import AT, MASTER, NOTHING, SECRET, back, filled, opened
from tests.storage.sqlite.upkeep.test_upgrade import SECRET as OLDER
from tests.storage.sqlite.upkeep.test_upgrade import written_by

pytestmark = pytest.mark.real


@pytest.fixture
async def folder(tmp_path: Path) -> Path:
    """A data folder with some of everything that no service uses."""
    storage = await opened(tmp_path / "data")
    await filled(storage)
    await storage.aclose()
    return tmp_path / "data"


async def test_the_copy_that_an_upgrade_keeps_is_restored_like_a_backup(folder: Path, tmp_path: Path) -> None:
    """The way back: with secrets, as the older program left it."""
    (tmp_path / DATABASE).write_bytes((folder / DATABASE).read_bytes())
    kept = (tmp_path / DATABASE).rename(tmp_path / "before-upgrade-from-schema-1.db")
    with pytest.raises(CommandFailed, match="no master key is here") as told:
        back(kept, folder, replace=True, master=False)
    assert told.value.code is Exit.BAD_SETTING
    assert back(kept, folder, replace=True).content.events == 2
    storage = await opened(folder)
    assert [each.secrets for each in await storage.alerts.destinations()] == [(Secret(SECRET),)]
    await storage.aclose()


async def test_files_put_aside_after_a_crash_keep_their_newest_commits(folder: Path, tmp_path: Path) -> None:
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


@pytest.mark.parametrize("of", ["backup", "kept by an upgrade"])
async def test_a_restored_instance_records_the_time_after_the_backup_as_unknown(
    folder: Path, tmp_path: Path, of: str
) -> None:
    storage = await opened(folder)
    before = await storage.coverage.begin("", AT)
    await storage.coverage.save(before._replace(saved=AT, until=AT))
    await storage.aclose()
    if of == "backup":
        make_backup(Settings(data=str(folder)), tmp_path / "b.tar", MASTER, secrets=True)
        back(tmp_path / "b.tar", folder, replace=True)
    else:
        kept = tmp_path / "before-upgrade-from-schema-1.db"
        kept.write_bytes((folder / DATABASE).read_bytes())
        back(kept, folder, replace=True)
    storage = await opened(folder)
    assert (await storage.coverage.begin("", AT)).after == "restore"
    assert (await storage.coverage.begin("", AT)).after == "crash", "once, and not at every start"
    await storage.aclose()


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
    pieces = [SourceFile(DATABASE, path), SourceFile("secrets.sealed", tmp_path / "sealed")]
    sums = tuple(member(piece) for piece in pieces)
    older = msgspec.structs.replace(made, database=examine(path), files=sums, mac="")
    write_archive(tmp_path / "older.tar", older, pieces)
    for name in ("b", "older"):
        file, new = tmp_path / f"{name}.tar", tmp_path / name
        assert restore(file, new, MASTER, replace=False, at=AT, entropy=entropy, unverified=True).lost == NOTHING
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
    monkeypatch.setattr("sanderling.operations.backup.shutil.copy", full)
    with pytest.raises(CommandFailed, match="No space left"):
        back(tmp_path / "b.tar", folder, replace=True)
    assert sorted(os.listdir(folder)) == before and (folder / DATABASE).read_bytes() == old


def tampered(file: Path, *statements: str, mac: bool = True, **beside: bytes) -> Path:
    """Return a copy of a backup with a changed database and added files, its sums corrected; mac: it keeps its MAC."""
    place = file.with_suffix(".unpacked")
    place.mkdir()
    manifest = unpack(file, place)
    with closing(sqlite3.connect(place / DATABASE, isolation_level=None)) as database:
        for statement in statements:
            database.execute(statement)
    for name, data in beside.items():
        (place / f"{name}.toml").write_bytes(data)
    names = [each.name for each in manifest.files] + [f"{name}.toml" for name in beside]
    pieces = [SourceFile(name, place / name) for name in names]
    mended = msgspec.structs.replace(manifest, files=tuple(member(piece) for piece in pieces))
    if not mac:
        mended = msgspec.structs.replace(mended, mac="")
    write_archive(file.with_suffix(".evil"), mended, pieces)
    return file.with_suffix(".evil")


PLANTED = """INSERT INTO api_key(id, sha256, created_at, last_used_at, body) SELECT 'planted', 'ab', created_at, NULL,
    CAST(replace(CAST(body AS TEXT), '"name":"', '"name":"planted ') AS BLOB) FROM api_key"""


@pytest.mark.parametrize("mac", [True, False], ids=["its MAC kept", "its MAC taken out"])
@pytest.mark.parametrize("secrets", [True, False])
async def test_s7_a_backup_with_an_added_key_is_refused(folder: Path, tmp_path: Path, mac: bool, secrets: bool) -> None:
    make_backup(Settings(data=str(folder)), tmp_path / "b.tar", MASTER, secrets=secrets)
    evil = tampered(tmp_path / "b.tar", PLANTED, mac=mac)
    assert verify(evil).standing(find_master_key(MASTER)) == ("fails" if mac else "missing")
    with pytest.raises(CommandFailed, match="MAC"):
        back(evil, tmp_path / "new")
    assert not (tmp_path / "new").exists()


async def test_s7_a_restore_confirms_the_mac_and_lists_the_keys_that_give_access(folder: Path, tmp_path: Path) -> None:
    make_backup(Settings(data=str(folder)), tmp_path / "b.tar", MASTER, secrets=True)
    done = back(tmp_path / "b.tar", tmp_path / "new")
    told = list(taken_over(done))
    assert (done.standing, told[0]) == ("holds", "Its MAC holds: it is as it was made with this master key.")
    assert told[1] == "Who gets in by it: 1 API key:"
    assert done.access_grants.keys[0][0] in told[2]
    assert told[3] == "And no password, no sessions."


async def test_s7_without_a_mac_it_is_taken_on_demand_and_a_planted_session_never(folder: Path, tmp_path: Path) -> None:
    make_backup(Settings(data=str(folder)), tmp_path / "b.tar", MASTER, secrets=True)
    session = "INSERT INTO session(id, sha256, created_at, seen_at, agent, address) VALUES('a', 'b', 1, 1, '', '')"
    evil = tampered(tmp_path / "b.tar", PLANTED, session, mac=False)
    done = restore(evil, tmp_path / "new", MASTER, replace=False, at=AT, entropy=entropy, unverified=True)
    told = list(taken_over(done))
    assert told[0].startswith("It has no MAC")
    assert any("planted" in line for line in told)
    assert done.access_grants.sessions == 0


async def test_s7_settings_in_a_backup_are_taken_over_on_demand_only(folder: Path, tmp_path: Path) -> None:
    (folder / "sanderling.toml").write_text('contact = "old"')
    make_backup(Settings(data=str(folder)), tmp_path / "b.tar", MASTER, secrets=True)
    (folder / "sanderling.toml").write_text('contact = "mine"')
    assert back(tmp_path / "b.tar", folder, replace=True).settings == "left"
    assert (folder / "sanderling.toml").read_text() == 'contact = "mine"'
    done = restore(tmp_path / "b.tar", tmp_path / "new", MASTER, replace=False, at=AT, entropy=entropy, settings=True)
    assert done.settings == "taken"
    assert (tmp_path / "new/sanderling.toml").read_text() == 'contact = "old"'


@pytest.mark.parametrize(
    "statement",
    [
        "CREATE TRIGGER extra AFTER INSERT ON log BEGIN DELETE FROM alert; END",
        "CREATE VIEW extra AS SELECT * FROM api_key",
        "CREATE TABLE extra(x)",
        "DROP INDEX log_source",
    ],
)
async def test_s17_a_database_with_a_foreign_schema_is_refused(folder: Path, tmp_path: Path, statement: str) -> None:
    make_backup(Settings(data=str(folder)), tmp_path / "b.tar", {}, secrets=False)
    with pytest.raises(CommandFailed, match="its schema is not Sanderling's"):
        back(tampered(tmp_path / "b.tar", statement), tmp_path / "new", master=False)
    with closing(sqlite3.connect(folder / DATABASE)) as kept:
        kept.execute(statement)
    (folder / DATABASE).rename(tmp_path / "before-upgrade.db")
    with pytest.raises(CommandFailed, match="its schema is not Sanderling's"):
        back(tmp_path / "before-upgrade.db", tmp_path / "new")
