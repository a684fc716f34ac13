"""Replace a data folder's content by a backup. The service must not run, and cannot start during it.

Everything is unpacked and checked next to the old files first. These then move to a folder `before-restore-...`, and
one rename replaces the database last: at every moment the folder has the old database or the new one.
"""

from __future__ import annotations

import base64
import os
import shutil
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Literal, NamedTuple

import msgspec

from sanderling.data_folder import FILE_VARIABLE, command_errors, find_master_key, named_vault, working_in
from sanderling.environment import FILE_NAME
from sanderling.exits import CommandFailed, Exit
from sanderling.operations.backup.archive import DATABASE, SECRETS, VOUCHED, Manifest, Standing, unpack
from storage.records.identity import Millis, rfc3339
from storage.records.secrecy import plain
from storage.secrets.sealing import Lost
from storage.sqlite.engine.folder import LOCK, MARK, FolderLock
from storage.sqlite.engine.migrations import check_schema
from storage.sqlite.master_key import NEXT, OWN, make_own, own_keys
from storage.sqlite.ownership import entrust_all, named_by_hand, sync
from storage.sqlite.upkeep.copying import (
    AccessGrants,
    Content,
    Secrets,
    access_grants,
    examine,
    key_of,
    mark_restored,
    put_secrets,
)

STAGE = ".restoring"
MOST_KEYS = 100
TEMPLATES = "templates"
_SQLITE = b"SQLite format 3\0"
_WAL = "-wal"
_BESIDE = (DATABASE + _WAL, DATABASE + "-shm")


class RestoreResult(NamedTuple):
    """The result of a restore. aside: the folder with the previous files. lost: records that lost their secrets. named:
    the service needs the named master key. access_grants: API keys, password and sessions in the backup. standing: its
    MAC's state, None for a database kept by an upgrade. settings: "taken", "left" in the backup, or "none" in it.
    """

    content: Content
    lost: Lost
    named: bool
    standing: Standing | None
    access_grants: AccessGrants
    aside: Path | None = None
    templates: Path | None = None
    settings: Literal["taken", "left", "none"] = "none"


def restore(
    file: Path,
    folder: Path,
    variables: Mapping[str, str],
    *,
    replace: bool,
    at: Millis,
    entropy: Callable[[int], bytes],
    settings: bool = False,
    unverified: bool = False,
) -> RestoreResult:
    """Raises CommandFailed, nothing changed. settings: take them over too. unverified: accept a missing MAC."""
    with working_in(folder), _held(folder):
        _refuse_what_is_there(folder, replace)
        stage = folder / STAGE
        if stage.exists():  # left by an interrupted restore
            shutil.rmtree(stage)
        stage.mkdir(mode=0o700)
        try:
            staged = _staged(file, folder, stage, variables, entropy, unverified=unverified)
            mark_restored(stage / DATABASE)
            return _swapped(folder, stage, at, staged, settings=settings)
        finally:
            shutil.rmtree(stage, ignore_errors=True)


def taken_over(done: RestoreResult) -> Iterator[str]:
    if done.standing is not None:
        yield f"{VOUCHED[done.standing].capitalize().replace('mac', 'MAC')}."
    yield from who_gets_in(done.access_grants)
    if done.settings == "left":
        yield f"The settings in it ({FILE_NAME}) are left out; --with-settings takes them over, too."
    elif done.settings == "taken":
        yield f"Its settings are taken over ({FILE_NAME}): check them before you start it."


def who_gets_in(found: AccessGrants) -> Iterator[str]:
    yield f"Who gets in by it: {_counted(len(found.keys), 'API key')}{':' if found.keys else '.'}"
    for prefix, name, scopes in found.keys[:MOST_KEYS]:
        yield plain(f"  {prefix}...  {name}  {','.join(scopes)}")
    if len(found.keys) > MOST_KEYS:
        yield f"  and {len(found.keys) - MOST_KEYS} more: `sanderling keys list`"
    password = "the dashboard's password" if found.password else "no password"
    link = ", a set-up link" if found.link else ""
    people = f", {found.people} people with accounts" if found.people else ""
    yield f"And {password}, {_counted(found.sessions, 'session')}{link}{people}."


def _counted(number: int, thing: str) -> str:
    return f"{number or 'no'} {thing}{'' if number == 1 else 's'}"


@contextmanager
def _held(folder: Path) -> Iterator[None]:
    """Lock a folder, created if missing. On failure, remove the folders and the lock that were new."""
    missing = [path for path in (folder, *folder.parents) if not path.exists()]
    lock, lock_is_new = FolderLock(folder), not (folder / LOCK).exists()
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        lock.acquire()
        try:
            yield
        except BaseException:
            if lock_is_new:  # unlink it while locked: later it may be another process's
                (folder / LOCK).unlink(missing_ok=True)
            raise
        finally:
            lock.release()
    except BaseException:
        for path in missing:
            with suppress(OSError):  # not empty any more
                path.rmdir()
        raise


def _refuse_what_is_there(folder: Path, replace: bool) -> None:
    there = sorted(path.name for path in folder.iterdir() if path.name not in (LOCK, OWN, STAGE, "lost+found"))
    if there and not replace:
        raise CommandFailed(
            f"{folder}: is not empty ({', '.join(there[:3])}{', ...' if len(there) > 3 else ''}). With --replace, "
            "Sanderling's files there are moved aside within it, and stay.",
            Exit.BAD_DATA,
        )


def _staged(
    file: Path,
    folder: Path,
    stage: Path,
    variables: Mapping[str, str],
    entropy: Callable[[int], bytes],
    *,
    unverified: bool,
) -> RestoreResult:
    try:
        with named_by_hand(file) as opened:
            kept_by_upgrade = opened.read(len(_SQLITE)) == _SQLITE
    except OSError as error:
        raise CommandFailed(f"{file}: cannot be read: {error.strerror or error}.") from None
    database, named = stage / DATABASE, named_vault(variables)
    if kept_by_upgrade:
        _copy(file, database)
        with suppress(FileNotFoundError):  # a database put aside after a crash has its newest commits here
            _copy(file.with_name(file.name + _WAL), stage / (DATABASE + _WAL))
        with command_errors(file):
            check_schema(database)
            content = examine(database)
            key = key_of(database, folder, named)
            is_named = key is not None and key == named
            return RestoreResult(content, Lost(0, 0, 0), is_named, None, access_grants(database))
    manifest = unpack(file, stage)
    secrets = _opened_secrets(file, stage, manifest, variables)
    standing = manifest.standing(find_master_key(variables))
    if standing == "fails":
        raise CommandFailed(f"{file}: {VOUCHED[standing]}.", Exit.BAD_DATA)
    if standing == "missing" and named and not unverified:
        raise CommandFailed(
            f"{file}: {VOUCHED[standing]}. It was made without a master key or by an earlier version, or the MAC was "
            "removed. If you trust its origin, restore it with --unverified.",
            Exit.BAD_DATA,
        )
    vault = own_keys(folder).get(OWN) or named or make_own(stage)
    with command_errors(file):
        check_schema(database)
        content = examine(database)
        lost = put_secrets(database, secrets, vault, lambda: "whsec_" + base64.b64encode(entropy(32)).decode())
        return RestoreResult(content, lost, vault == named, standing, access_grants(database))


def _opened_secrets(file: Path, stage: Path, manifest: Manifest, variables: Mapping[str, str]) -> Secrets | None:
    if manifest.secrets == "none":
        return None
    master = find_master_key(variables)
    if master is None:
        raise CommandFailed(
            f"{file}: its secrets are sealed. Name the file of the master key in {FILE_VARIABLE}.", Exit.BAD_SETTING
        )
    sealed = stage / SECRETS
    opened = master.open(sealed.read_bytes())
    if opened is None:
        raise CommandFailed(f"{file}: was sealed with another master key than this one.", Exit.BAD_SETTING)
    sealed.unlink()
    return msgspec.json.decode(opened, type=Secrets)


def _swapped(folder: Path, stage: Path, at: Millis, staged: RestoreResult, *, settings: bool) -> RestoreResult:
    there = (stage / FILE_NAME).exists()
    taken = (FILE_NAME,) if settings and there else ()
    aside = folder / f"before-restore-{rfc3339(at).replace(':', '')}"
    old = [folder / name for name in (DATABASE, *_BESIDE, *taken, TEMPLATES) if (folder / name).exists()]
    if old:
        aside.mkdir(mode=0o700)
        try:
            _keep_both(folder, aside)
        except BaseException:
            shutil.rmtree(aside, ignore_errors=True)
            raise
        for path in old:
            if path.name != DATABASE:
                path.rename(aside / path.name)
        entrust_all(aside, folder)
    entrust_all(stage, folder)
    templates = (stage / TEMPLATES).is_dir()
    if templates:
        (stage / TEMPLATES).rename(folder / TEMPLATES)
    if there and settings:
        (stage / FILE_NAME).rename(folder / FILE_NAME)
    if (stage / OWN).exists():  # before the database that it opens
        (stage / OWN).rename(folder / OWN)
    sync(stage / DATABASE)
    os.replace(stage / DATABASE, folder / DATABASE)
    sync(folder)
    return staged._replace(
        aside=aside if old else None,
        templates=folder / TEMPLATES if templates else None,
        settings="none" if not there else "taken" if settings else "left",
    )


def _keep_both(folder: Path, aside: Path) -> None:
    if (folder / DATABASE).exists():
        try:
            os.link(folder / DATABASE, aside / DATABASE, follow_symlinks=False)
        except OSError:  # exFAT and some network file systems lack hard links
            part = aside / f"{DATABASE}.part"
            shutil.copy(folder / DATABASE, part, follow_symlinks=False)
            sync(part)
            part.rename(aside / DATABASE)
    for name in (MARK, OWN, NEXT):  # these also stay: positions are never reused, and the key opens both databases
        if (folder / name).exists():
            shutil.copy(folder / name, aside / name, follow_symlinks=False)


def _copy(file: Path, target: Path) -> None:
    with named_by_hand(file) as source, open(os.open(target, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600), "wb") as out:
        shutil.copyfileobj(source, out)
