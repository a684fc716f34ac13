"""Root's commands on another account's folder: they run as that account, and follow no link it planted."""

from __future__ import annotations

import os
import shutil
import sqlite3
import tarfile
import tempfile
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from actors.settings import Settings
from sanderling import keyring
from sanderling.exits import CommandFailed
from sanderling.operations import backup as upkeep
from sanderling.operations.backup import make_backup, sizes
from storage.sqlite.engine import DATABASE, LOCK, MARK
from storage.sqlite.ownership import as_owner, as_root
from tests.sanderling.operations.backup.test_backup import MASTER, back, filled, opened

pytestmark = [pytest.mark.real, pytest.mark.skipif(os.geteuid() != 0, reason="needs root")]
OTHER = 4_242


@pytest.fixture
def place() -> Iterator[Path]:
    """A folder that every account can walk through, unlike pytest's own."""
    path = Path(tempfile.mkdtemp(prefix="sanderling-as-owner-"))
    path.chmod(0o755)
    yield path
    shutil.rmtree(path)


@pytest.fixture
async def folder(place: Path) -> Path:
    """A data folder of another account, with some of everything."""
    storage = await opened(place / "data")
    await filled(storage)
    await storage.aclose()
    given_away(place / "data")
    return place / "data"


@pytest.fixture
def secret(place: Path) -> Path:
    """A file that only root may read."""
    path = place / "secret"
    path.write_text("of root alone")
    path.chmod(0o600)
    return path


def given_away(folder: Path) -> None:
    for path in (folder, *folder.rglob("*")):
        os.chown(path, OTHER, OTHER, follow_symlinks=False)


def held(folder: Path) -> bytes:
    return b"".join(path.read_bytes() for path in folder.rglob("*") if path.is_file() and not path.is_symlink())


def owners(folder: Path) -> set[tuple[int, int]]:
    return {(path.stat().st_uid, path.stat().st_gid) for path in folder.rglob("*")}


def kept(path: Path) -> tuple[str, int, int]:
    return path.read_text(), path.stat().st_uid, path.stat().st_mode & 0o777


async def test_a_restore_by_root_belongs_to_the_folders_owner(folder: Path, place: Path) -> None:
    make_backup(Settings(data=str(folder)), place / "b.tar", MASTER, secrets=True)
    back(place / "b.tar", folder, replace=True)
    (place / "new").mkdir()
    os.chown(place / "new", OTHER, OTHER)
    back(place / "b.tar", place / "new")
    assert owners(folder) | owners(place / "new") == {(OTHER, OTHER)}


async def test_s6_a_restore_copies_nothing_that_a_link_leads_to(folder: Path, secret: Path, place: Path) -> None:
    make_backup(Settings(data=str(folder)), place / "b.tar", MASTER, secrets=True)
    (folder / MARK).unlink(missing_ok=True)
    (folder / MARK).symlink_to(secret)
    given_away(folder)
    back(place / "b.tar", folder, replace=True)
    assert b"of root alone" not in held(folder)
    assert kept(secret) == ("of root alone", 0, 0o600)


@pytest.mark.parametrize("name", [LOCK, DATABASE, "master.key"])
async def test_s6_a_command_changes_nothing_that_a_link_leads_to(folder: Path, place: Path, name: str) -> None:
    target = place / "everybodys"
    target.write_text("readable")
    target.chmod(0o644)
    (folder / name).unlink(missing_ok=True)
    (folder / name).symlink_to(target)
    given_away(folder)
    with pytest.raises(CommandFailed):
        keyring.rotate_master(Settings(data=str(folder)), None, lost=True)
    assert kept(target) == ("readable", 0, 0o644)


@pytest.mark.parametrize("name", [LOCK, MARK, DATABASE])
async def test_s6_the_same_as_the_owner_itself(tmp_path: Path, name: str) -> None:
    storage = await opened(tmp_path / "data")
    await storage.aclose()
    (tmp_path / "else").write_text("0")
    (tmp_path / "else").chmod(0o644)
    (tmp_path / "data" / name).unlink(missing_ok=True)
    (tmp_path / "data" / name).symlink_to(tmp_path / "else")
    with pytest.raises(OSError, match="symbolic link"):
        await opened(tmp_path / "data")
    assert kept(tmp_path / "else") == ("0", 0, 0o644)


@pytest.mark.parametrize("mode", [0o600, 0o644], ids=["root's", "everybody's"])
async def test_s6_a_backup_takes_no_file_that_a_link_leads_to(
    folder: Path, secret: Path, place: Path, mode: int
) -> None:
    os.chmod(secret, mode)
    (folder / "sanderling.toml").symlink_to(secret)
    given_away(folder)
    with pytest.raises(CommandFailed):
        make_backup(Settings(data=str(folder)), place / "b.tar", MASTER, secrets=True)
    assert not (place / "b.tar").exists()


async def test_s6_an_upgrades_copy_that_is_a_link_opens_no_file_of_root(
    folder: Path, secret: Path, place: Path
) -> None:
    with closing(sqlite3.connect(secret.with_name("of-root.db"))) as database:
        database.execute("CREATE TABLE t(x)")
    secret.with_name("of-root.db").chmod(0o600)
    (folder / "before-upgrade-1.db").symlink_to(secret.with_name("of-root.db"))
    given_away(folder)
    with pytest.raises(CommandFailed, match="cannot be read"):
        back(folder / "before-upgrade-1.db", folder, replace=True)


async def test_s6_every_command_runs_as_the_owner_and_reads_files_named_by_root(folder: Path, place: Path) -> None:
    """The key's file, the backup and its folder belong to root."""
    settings = Settings(data=str(folder))
    (place / "roots").mkdir(mode=0o700)
    backup = place / "roots" / "b.tar"
    key = place / "roots" / "master.key"
    key.write_text(MASTER["SANDERLING_MASTER_KEY"])
    key.chmod(0o600)
    make_backup(settings, backup, {"SANDERLING_MASTER_KEY_FILE": str(key)}, secrets=True)
    assert backup.stat().st_uid == 0
    with tarfile.open(backup) as tar:
        assert DATABASE in tar.getnames()
    back(backup, folder, replace=True)
    assert keyring.every(settings)
    upkeep.need(folder)
    sizes(folder)
    assert owners(folder) == {(OTHER, OTHER)}
    assert (os.geteuid(), os.getegid()) == (0, 0)


async def test_s6_a_process_that_runs_as_the_owner_has_none_of_roots_groups(folder: Path, secret: Path) -> None:
    groups = os.getgroups()
    with as_owner(folder):
        assert (os.geteuid(), os.getegid(), os.getgroups()) == (OTHER, OTHER, [OTHER])
        with pytest.raises(PermissionError):
            kept(secret)
        with as_root():
            assert kept(secret)[0] == "of root alone"
        assert os.geteuid() == OTHER
    assert (os.geteuid(), os.getgroups()) == (0, groups)
