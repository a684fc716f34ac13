"""A backup holds everything but secrets; a restore returns all of it or changes nothing."""

from __future__ import annotations

import io
import json
import os
import sqlite3
import stat
import tarfile
from contextlib import closing
from pathlib import Path
from typing import IO

import pytest
import trio
from msgspec.structs import replace

from actors.settings import Settings
from sanderling.data_folder import find_master_key, named_vault
from sanderling.exits import CommandFailed, Exit
from sanderling.operations import backup
from sanderling.operations.backup import ARCHIVED_DATABASE as FIRST
from sanderling.operations.backup import (
    Manifest,
    Member,
    RestoreResult,
    SourceFile,
    make_backup,
    read_manifest,
    restore,
    verify,
    write_archive,
)
from sanderling.real_world import entropy
from storage.records.destination import Private, Secret
from storage.records.event import EVERYTHING
from storage.records.identity import START, Millis
from storage.secrets import Lost, written
from storage.sql.storage import Storage
from storage.sqlite import open_sqlite, upkeep
from storage.sqlite.engine import DATABASE, MARK, STEPS, FolderLock
from storage.sqlite.upkeep import Content, Secrets
from tests.storage.contract.builders import (
    CountingMint,
    a_destination,
    a_harvest,
    a_publication,
    a_signing_key,
    a_source,
    an_alert,
    an_api_key,
    stamp,
)

pytestmark = pytest.mark.real

MASTER = {"SANDERLING_MASTER_KEY": written(b"m" * 32)}
SECRET = "whsec_" + "c2VjcmV0" * 5
HELLO = '{"token": "of the feed"}'
NOTHING = Lost(0, 0, 0)
TOKEN = "t0ken of the chat"
AT = Millis(1_800_000_000_000)


async def opened(folder: Path, said: list[str] | None = None) -> Storage:
    warn = (said if said is not None else []).append
    return await open_sqlite(folder, clock=lambda: 1_800_000_000.0, owner="test", warn=warn, named=named_vault(MASTER))


async def filled(storage: Storage) -> None:
    await storage.sources.add(replace(a_source(1, type="push"), hello=HELLO), a_harvest(1).state, storage.lease)
    await storage.log.append([a_harvest(1, "one", "two")], storage.lease, CountingMint(), stamp)
    await storage.keys.add(an_api_key())
    await storage.keys.add_signing(a_signing_key("active"))
    await storage.alerts.put(an_alert())
    private = {"token": Private(TOKEN)}
    await storage.alerts.put_destination(
        a_destination(secrets=(Secret(SECRET),), private=private, private_names=("token",))
    )
    await storage.publications.put(a_publication())


@pytest.fixture
async def folder(tmp_path: Path) -> Path:
    """A data folder with some of everything that no service uses."""
    storage = await opened(tmp_path / "data")
    await filled(storage)
    await storage.aclose()
    (tmp_path / "data/sanderling.toml").write_text('contact = "me@example.org"\n')
    return tmp_path / "data"


def back(file: Path, folder: Path, *, replace: bool = False, master: bool = True) -> RestoreResult:
    return restore(file, folder, MASTER if master else {}, replace=replace, at=AT, entropy=entropy)


def rewritten(file: Path, **members: bytes) -> Path:
    """Return a copy of a backup with other content in some members."""
    other = file.with_name("other.tar")
    with tarfile.open(file) as old, tarfile.open(other, "w", format=tarfile.USTAR_FORMAT) as new:
        for info in old:
            stream = old.extractfile(info)
            assert stream is not None
            body = members.get(info.name.partition(".")[0], stream.read())
            info.size = len(body)
            new.addfile(info, io.BytesIO(body))
    return other


async def test_a_backup_of_a_running_service_restores_everything(tmp_path: Path) -> None:
    storage = await opened(tmp_path / "data")
    await filled(storage)
    file = tmp_path / "b.tar"
    await trio.to_thread.run_sync(
        lambda: make_backup(Settings(data=str(tmp_path / "data")), file, MASTER, secrets=True)
    )
    await storage.aclose()
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert sorted(os.listdir(tmp_path)) == ["b.tar", "data"]

    done = back(file, tmp_path / "new")
    assert done.lost == NOTHING and done.named
    again = await opened(tmp_path / "new")
    events = await again.log.read(START, 10, EVERYTHING, 100)
    assert len(events.events) == 2
    assert [key.name for key in await again.keys.all()] == ["key"]
    assert [key.seed for key in await again.keys.signing()] == [a_signing_key("active").seed]
    assert [each.secrets for each in await again.alerts.destinations()] == [(Secret(SECRET),)]
    assert [each.values for each in await again.alerts.destinations()] == [{"token": TOKEN}]
    (row,) = await again.sources.page(None, 10)
    assert row.source.hello == HELLO
    assert list(await again.publications.all()) == [a_publication()]
    await again.aclose()


async def test_st15_a_backup_during_writes_is_one_moment_of_the_log(tmp_path: Path) -> None:
    """Events committed during the backup are in it up to some moment, without a gap, and the writer continues."""
    storage = await opened(tmp_path / "data")
    await filled(storage)
    mint = CountingMint(CountingMint().last + 1_000)
    done = trio.Event()
    written_in_all = 0

    async def write() -> None:
        nonlocal written_in_all
        while not done.is_set() or not written_in_all:
            await storage.log.append([a_harvest(1, str(written_in_all))], storage.lease, mint, stamp)
            written_in_all += 1

    async with trio.open_nursery() as nursery:
        nursery.start_soon(write)
        settings = Settings(data=str(tmp_path / "data"))
        await trio.to_thread.run_sync(lambda: make_backup(settings, tmp_path / "b.tar", MASTER, secrets=True))
        done.set()
    await storage.aclose()
    back(tmp_path / "b.tar", tmp_path / "new")
    again = await opened(tmp_path / "new")
    page = await again.log.read(START, 100_000, EVERYTHING, 100_000)
    titles = [json.loads(event.body)["title"] for event in page.events]
    assert titles == ["one", "two", *map(str, range(len(titles) - 2))]
    assert len(titles) - 2 <= written_in_all
    await again.aclose()


async def test_x20_no_secret_is_in_a_backup_unsealed(folder: Path, tmp_path: Path) -> None:
    for name, secrets in (("sealed.tar", True), ("without.tar", False)):
        manifest = make_backup(Settings(data=str(folder)), tmp_path / name, MASTER, secrets=secrets)
        body = (tmp_path / name).read_bytes()
        assert SECRET.encode() not in body and a_signing_key("active").seed not in body and HELLO.encode() not in body
        assert MASTER["SANDERLING_MASTER_KEY"].encode() not in body and b"m" * 32 not in body
        assert manifest.secrets == ("sealed" if secrets else "none")


async def test_x20_without_a_master_key_nothing_is_written_and_the_remedies_are_named(
    folder: Path, tmp_path: Path
) -> None:
    with pytest.raises(CommandFailed) as told:
        make_backup(Settings(data=str(folder)), tmp_path / "b.tar", {}, secrets=True)
    assert "keys master" in told.value.message and "--without-secrets" in told.value.message
    assert not (tmp_path / "b.tar").exists()


async def test_a_backup_without_secrets_leaves_destinations_disabled_and_no_signing_key(
    folder: Path, tmp_path: Path
) -> None:
    make_backup(Settings(data=str(folder)), tmp_path / "b.tar", {}, secrets=False)
    done = back(tmp_path / "b.tar", tmp_path / "new", master=False)
    assert done.lost == Lost(keys=1, destinations=1, sources=1) and not done.named
    storage = await opened(tmp_path / "new")
    (destination,) = await storage.alerts.destinations()
    assert not destination.enabled and destination.was_enabled and destination.secrets[0].value != SECRET
    assert destination.lost == ("token",) and not destination.private
    (row,) = await storage.sources.page(None, 10)
    assert not row.source.enabled and row.source.hello is None
    assert list(await storage.publications.all()) == [replace(a_publication(), token=None)]
    assert not await storage.keys.signing()
    await storage.aclose()


async def test_settings_and_templates_go_along(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine/team.toml").write_text("x = 1\n")
    (tmp_path / "mine/notes.txt").write_text("not a template")
    settings = Settings(data=str(folder), templates=str(tmp_path / "mine"))
    make_backup(settings, tmp_path / "b.tar", MASTER, secrets=True)
    done = restore(tmp_path / "b.tar", tmp_path / "new", MASTER, replace=False, at=AT, entropy=entropy, settings=True)
    assert done.templates == tmp_path / "new/templates"
    assert [path.name for path in done.templates.iterdir()] == ["team.toml"]
    assert "me@example.org" in (tmp_path / "new/sanderling.toml").read_text()


async def test_a_template_with_an_unusable_name_is_reported_before_the_copy(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine/team (2).toml").write_text("x = 1\n")
    settings = Settings(data=str(folder), templates=str(tmp_path / "mine"))
    with pytest.raises(CommandFailed, match="rename it"):
        make_backup(settings, tmp_path / "b.tar", MASTER, secrets=True)


def test_a_database_of_more_than_8_gib_fits(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The test neither reads nor writes its content."""

    def skim(source: IO[bytes], out: IO[bytes], length: int, **_: object) -> None:
        if length < 1 << 20:
            out.write(source.read(length))

    large, size = tmp_path / "large", 9 << 30
    large.touch()
    os.truncate(large, size)
    monkeypatch.setattr(tarfile, "copyfileobj", skim)
    monkeypatch.setattr(backup, "verify", read_manifest)
    files = (Member(FIRST, size, "0" * 64),)
    manifest = Manifest(1, "0", "2026-01-01T00:00:00.000Z", "none", Content(1, 1, START), files)
    write_archive(tmp_path / "b.tar", manifest, [SourceFile(FIRST, large)])
    with tarfile.open(tmp_path / "b.tar") as tar:
        manifested, database = tar.next(), tar.next()
    assert manifested is not None and database is not None and database.size == size


async def test_a_folder_in_use_or_not_empty_stays_as_it_is(folder: Path, tmp_path: Path) -> None:
    make_backup(Settings(data=str(folder)), tmp_path / "b.tar", MASTER, secrets=True)
    before = (folder / DATABASE).read_bytes()
    with pytest.raises(CommandFailed, match="not empty") as told:
        back(tmp_path / "b.tar", folder)
    assert told.value.code is Exit.BAD_DATA
    lock = FolderLock(folder)
    lock.acquire()
    with pytest.raises(CommandFailed, match="in use"):
        back(tmp_path / "b.tar", folder, replace=True)
    lock.release()
    assert (folder / DATABASE).read_bytes() == before


async def test_a_restore_puts_the_old_files_aside_and_reuses_no_positions(folder: Path, tmp_path: Path) -> None:
    make_backup(Settings(data=str(folder)), tmp_path / "b.tar", MASTER, secrets=True)
    storage = await opened(folder)
    mint = CountingMint(CountingMint().last + 1000)
    await storage.log.append([a_harvest(1, "lost by the restore")], storage.lease, mint, stamp)
    await storage.aclose()
    marked = (folder / MARK).read_bytes()

    aside = back(tmp_path / "b.tar", folder, replace=True).aside
    assert aside is not None
    assert (folder / MARK).read_bytes() == marked
    said: list[str] = []
    storage = await opened(folder, said)
    assert await storage.log.count() == 2
    assert "EVENTS ARE MISSING" in said[0]
    await storage.aclose()
    old = await opened(aside)
    assert await old.log.count() == 3
    await old.aclose()


@pytest.mark.parametrize("cut", [0, 100, 600, 5_000, 100_000])
async def test_a_backup_that_is_cut_short_is_refused_and_nothing_changes(
    folder: Path, tmp_path: Path, cut: int
) -> None:
    file = tmp_path / "b.tar"
    make_backup(Settings(data=str(folder)), file, MASTER, secrets=True)
    os.truncate(file, cut)
    before = (folder / DATABASE).read_bytes()
    for act in (lambda: verify(file), lambda: back(file, folder, replace=True)):
        with pytest.raises(CommandFailed, match=r"cut short|not a backup"):
            act()
    assert (folder / DATABASE).read_bytes() == before
    assert not (folder / ".restoring").exists()


async def test_an_altered_foreign_or_newer_backup_gets_a_clear_message(folder: Path, tmp_path: Path) -> None:
    file = tmp_path / "b.tar"
    make_backup(Settings(data=str(folder)), file, MASTER, secrets=True)
    with tarfile.open(file) as tar:
        stream = tar.extractfile("manifest.json")
        assert stream is not None
        manifest = json.load(stream)

    body = bytearray(file.read_bytes())
    body[50_000] ^= 1
    (tmp_path / "bit.tar").write_bytes(body)
    with pytest.raises(CommandFailed, match="SHA-256"):
        verify(tmp_path / "bit.tar")
    with pytest.raises(CommandFailed, match="newer"):
        verify(rewritten(file, manifest=json.dumps(manifest | {"sanderling_backup": 2}).encode()))
    with pytest.raises(CommandFailed, match=r"manifest\.json"):
        verify(
            rewritten(file, manifest=json.dumps(manifest).encode().replace(b"none", b"\xff").replace(b"seal", b"\xff"))
        )
    evil = json.loads(json.dumps(manifest).replace("sanderling.toml", "templates/../../x.toml"))
    with pytest.raises(CommandFailed, match="was altered"):
        verify(rewritten(file, manifest=json.dumps(evil).encode()))
    with pytest.raises(CommandFailed, match="another master key"):
        restore(
            file, tmp_path / "n", {"SANDERLING_MASTER_KEY": written(b"x" * 32)}, replace=False, at=AT, entropy=entropy
        )
    (tmp_path / "foreign").write_text("hello")
    with pytest.raises(CommandFailed, match="not a backup"):
        verify(tmp_path / "foreign")
    with closing(sqlite3.connect(tmp_path / "other.db")) as other:
        other.execute("CREATE TABLE mine(a)")
    with pytest.raises(CommandFailed, match="not one of Sanderling's"):
        back(tmp_path / "other.db", tmp_path / "n2")


async def test_a_database_of_a_newer_schema_is_refused_with_its_exit_code(folder: Path, tmp_path: Path) -> None:
    with closing(sqlite3.connect(folder / DATABASE)) as database:
        database.execute(f"PRAGMA user_version={len(STEPS) + 1}")
    with pytest.raises(CommandFailed, match="newer") as told:
        make_backup(Settings(data=str(folder)), tmp_path / "b.tar", MASTER, secrets=True)
    assert told.value.code is Exit.BAD_DATA


async def test_a_file_that_is_not_a_backup_is_not_overwritten(folder: Path, tmp_path: Path) -> None:
    precious = tmp_path / "thesis.tar"
    precious.write_text("precious")
    with pytest.raises(CommandFailed, match="is no backup"):
        make_backup(Settings(data=str(folder)), precious, MASTER, secrets=True)
    assert precious.read_text() == "precious"
    for _ in range(2):
        make_backup(Settings(data=str(folder)), tmp_path / "b.tar", MASTER, secrets=True)
    with pytest.raises(CommandFailed, match="cannot be written"):
        make_backup(Settings(data=str(folder)), tmp_path / ("b" * 300), MASTER, secrets=True)


async def test_x20_a_master_key_that_others_can_read_is_refused(tmp_path: Path, folder: Path) -> None:
    key = tmp_path / "key"
    key.write_text(written(b"m" * 32))
    key.chmod(0o644)
    with pytest.raises(CommandFailed, match="chmod 600"):
        make_backup(Settings(data=str(folder)), tmp_path / "b", {"SANDERLING_MASTER_KEY_FILE": str(key)}, secrets=True)
    (tmp_path / "sanderling.master-key").write_text(written(b"m" * 32))
    make_backup(Settings(data=str(folder)), tmp_path / "b", {"CREDENTIALS_DIRECTORY": str(tmp_path)}, secrets=True)
    assert back(tmp_path / "b", tmp_path / "new").lost == NOTHING


async def test_x20_the_copy_with_secrets_is_never_stored_next_to_the_backup(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A killed backup leaves its copy only in the data folder, and for a day."""
    (tmp_path / "nas").mkdir()
    seen: list[list[str]] = []

    def killed(copy: Path, *_: object, password: bool) -> None:
        seen.append(os.listdir(tmp_path / "nas"))
        assert copy.is_relative_to(folder)
        raise KeyboardInterrupt

    monkeypatch.setattr(upkeep, "take_secrets", killed)
    with pytest.raises(KeyboardInterrupt):
        make_backup(Settings(data=str(folder)), tmp_path / "nas/b.tar", MASTER, secrets=True)
    assert seen == [[]]
    (folder / f"{backup.SCRATCH}killed").mkdir()
    os.utime(folder / f"{backup.SCRATCH}killed", (0, 0))
    monkeypatch.undo()
    make_backup(Settings(data=str(folder)), tmp_path / "nas/b.tar", MASTER, secrets=True)
    assert not [name for name in os.listdir(folder) if name.startswith(backup.SCRATCH)]


def test_x20_no_repr_shows_a_secret() -> None:
    key = find_master_key(MASTER)
    shown = repr([key, Secrets({"id": "5eed"}, {"d": [{"value": SECRET}]}), Secret(SECRET), a_signing_key("k")])
    for secret in (SECRET, "5eed", MASTER["SANDERLING_MASTER_KEY"], repr(a_signing_key("k").seed)):
        assert secret not in shown
