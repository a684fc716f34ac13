"""Databases of every earlier step, with data, are upgraded after a copy; the copy restores the old one."""

from __future__ import annotations

import json
import sqlite3
import stat
from contextlib import closing
from pathlib import Path

import msgspec
import pytest

from storage.errors import DiskFull, NewerSchema
from storage.records.destination import Secret
from storage.records.event import EVERYTHING
from storage.records.identity import COUNTER_BITS, START, Seq
from storage.records.source import SourceRuntime
from storage.secrets import Vault, mark, seal_plain
from storage.sql.stores.sources import encode_hot
from storage.sqlite import open_keys, open_sqlite, upkeep
from storage.sqlite.engine import DATABASE, STEPS, WRITER, connect, migrate, version_of
from storage.sqlite.master_key import OWN, make_own
from tests.storage.contract.builders import NOW, a_destination, a_signing_key, a_source, an_alert, an_api_key

pytestmark = pytest.mark.real
EARLIER = range(1, len(STEPS))
SEALED = 7
"""The step that introduced sealed secrets."""
SECRET = Secret("whsec_b2xk")
VAULT = Vault(b"v" * 32)


def written_by(step: int, folder: Path) -> Path:
    """Make a database as written at a step: the real steps up to it, with rows of that time."""
    folder.mkdir(mode=0o700, exist_ok=True)
    path = folder / DATABASE
    path.touch(mode=0o600)
    source, alert, key, signing = a_source(1), an_alert(), an_api_key(), a_signing_key("old")
    destination = a_destination(secrets=(SECRET,))
    encode = msgspec.json.encode
    with closing(connect(path, WRITER)) as database:
        migrate(database, STEPS[:step])
        database.execute("BEGIN")
        put = database.execute
        put("INSERT INTO source_key VALUES(1, ?)", (source.id,))
        put("INSERT INTO source(key, url, body) VALUES(1, ?, ?)", (source.url, encode(source)))
        put("INSERT INTO source_hot(key, body) VALUES(1, ?)", (encode_hot(SourceRuntime()),))
        put("INSERT INTO source_base VALUES(1, x'')")
        seq = Seq(NOW << COUNTER_BITS)
        put("INSERT INTO log VALUES(?, 1, 1, 0, ?)", (seq, json.dumps({"title": f"of step {step}"}).encode()))
        put(
            "INSERT INTO api_key(id, sha256, created_at, body) VALUES(?,?,?,?)",
            (key.id, key.sha256, key.created_at, encode(key)),
        )
        put("INSERT INTO signing_key VALUES(?,?,?,'active')", (signing.key_id, signing.seed, signing.created_at))
        put("INSERT INTO alert(id, created_at, body) VALUES(?,?,?)", (alert.id, alert.created_at, encode(alert)))
        put(
            "INSERT INTO destination(key, id, alert, created_at, body) VALUES(1,?,?,?,?)",
            (destination.id, alert.id, destination.created_at, encode(destination)),
        )
        put("INSERT INTO outbox VALUES(1, ?, 0, ?, ?, 0, NULL)", (seq, NOW, NOW))
        if step >= 3:
            put("INSERT INTO bin(id, token, created_at, expires_at) VALUES('bin', 'token', ?, ?)", (NOW, NOW + 1000))
        if step >= 4:
            put("INSERT INTO password VALUES(1, 'argon2', ?)", (NOW,))
        if step >= 6:
            put("INSERT INTO public_key VALUES('other', 'x', ?)", (NOW,))
        if step >= SEALED:
            vault = make_own(folder)
            mark(database, vault)
            seal_plain(database, vault)
        database.execute("COMMIT")
    return path


async def all_of_it(folder: Path, title: str) -> None:
    """Assert that this release finds all data of `written_by`."""
    storage = await open_sqlite(folder, clock=lambda: 1_800_000_000.0, owner="test", warn=lambda _: None)
    try:
        page = await storage.log.read(START, 10, EVERYTHING, 100)
        assert [json.loads(event.body)["title"] for event in page.events] == [title]
        assert [row.source.url for row in await storage.sources.page(None, 10)] == [a_source(1).url]
        assert [key.id for key in await storage.keys.all()] == [an_api_key().id]
        assert [key.seed for key in await storage.keys.signing()] == [a_signing_key("old").seed]
        assert [alert.id for alert in await storage.alerts.all()] == [an_alert().id]
        assert [each.secrets for each in await storage.alerts.destinations()] == [(SECRET,)]
    finally:
        await storage.aclose()


@pytest.mark.parametrize("step", EARLIER)
async def test_a_database_of_each_earlier_step_is_upgraded_with_its_content(step: int, tmp_path: Path) -> None:
    path = written_by(step, tmp_path / "data")
    await all_of_it(tmp_path / "data", f"of step {step}")
    with closing(sqlite3.connect(path)) as database:
        assert version_of(database) == len(STEPS)
        assert database.execute("SELECT destination, first_due FROM outbox").fetchall() == [(1, NOW)]


@pytest.mark.parametrize("step", EARLIER)
async def test_the_copy_of_an_upgrade_equals_the_old_database(step: int, tmp_path: Path) -> None:
    written_by(step, tmp_path / "data")
    await all_of_it(tmp_path / "data", f"of step {step}")
    (copy,) = upkeep.kept(tmp_path / "data")
    assert stat.S_IMODE(copy.stat().st_mode) == 0o600
    with closing(sqlite3.connect(copy)) as database:
        assert version_of(database) == step
        assert database.execute("SELECT count(*) FROM log").fetchone() == (1,)
    copy.rename(tmp_path / DATABASE)
    if step >= SEALED:
        (tmp_path / "data" / OWN).rename(tmp_path / OWN)
    await all_of_it(tmp_path, f"of step {step}")


async def test_an_alert_from_before_there_was_a_choice_goes_on_with_the_whole_page(tmp_path: Path) -> None:
    path = written_by(max(EARLIER), tmp_path)
    body = msgspec.json.decode(msgspec.json.encode(an_alert()))
    del body["match"]
    with closing(connect(path, WRITER)) as database:
        database.execute("UPDATE alert SET body=?", (msgspec.json.encode(body),))
    storage = await open_sqlite(tmp_path, clock=lambda: 1_800_000_000.0, owner="test", warn=lambda _: None)
    try:
        assert [alert.match for alert in await storage.alerts.all()] == ["page"]
    finally:
        await storage.aclose()


async def test_a_folder_of_today_and_a_new_one_are_not_copied(tmp_path: Path) -> None:
    for _ in range(2):
        with open_keys(tmp_path):
            pass
    assert upkeep.kept(tmp_path) == []


def test_the_copies_of_the_last_two_upgrades_stay(tmp_path: Path) -> None:
    for step in EARLIER:
        path = written_by(step, tmp_path)
        with closing(connect(path, WRITER)) as database:
            upkeep.upgrade(database, path, VAULT)
        path.unlink()
    newest = [f"before-upgrade-from-schema-{step}.db" for step in reversed(EARLIER)]
    assert [copy.name for copy in upkeep.kept(tmp_path)] == newest[:2]


def test_without_room_for_the_copy_nothing_is_changed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = written_by(1, tmp_path)
    monkeypatch.setattr(upkeep, "SPARE", 1 << 60)
    with closing(connect(path, WRITER)) as database:
        with pytest.raises(DiskFull, match="copies the database first"):
            upkeep.upgrade(database, path, VAULT)
        assert version_of(database, STEPS) == 1
    assert upkeep.kept(tmp_path) == []


def test_a_newer_schema_is_neither_copied_nor_touched(tmp_path: Path) -> None:
    path = written_by(len(STEPS), tmp_path)
    with closing(connect(path, WRITER)) as database:
        database.execute(f"PRAGMA user_version={len(STEPS) + 1}")
        with pytest.raises(NewerSchema):
            upkeep.upgrade(database, path, VAULT)
    assert upkeep.kept(tmp_path) == []
