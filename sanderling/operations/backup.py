"""Backup and restore. A backup is one file: the database without its secrets, the secrets sealed with the owner's
master key, settings and templates. docs/backup.md describes the format: in an emergency `tar` unpacks it and
`sha256sum` checks it. Reading is strict: exactly the manifest's members, with its order, sizes and hashes, so no name
escapes the folder.

With or without a running service: copy -> check every page -> remove secrets -> seal them -> write -> read back ->
rename. The previous backup stays in place until the rename. While the copy contains secrets it stays in the data
folder, even after a crash, sealed by the database's key.

A restore replaces a data folder's content. The service must not run, and cannot start during it. Everything is unpacked
and checked next to the old files first. These then move to a folder `before-restore-...`, and one rename replaces the
database last: at every moment the folder has the old database or the new one.
"""

from __future__ import annotations

import base64
import hashlib
import io
import os
import re
import shutil
import tarfile
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from hmac import compare_digest
from io import BufferedReader
from pathlib import Path
from typing import IO, Final, Literal, NamedTuple

import click
import msgspec
from msgspec import Struct, structs

from actors.settings import Settings
from sanderling import __version__
from sanderling.client.lines import Cell
from sanderling.client.terminal import Listing
from sanderling.data_folder import FILE_VARIABLE, MasterKey, command_errors, find_master_key, named_vault, working_in
from sanderling.environment import FILE_NAME, environ
from sanderling.exits import CommandFailed, Exit
from sanderling.real_world import entropy, now
from storage.records.identity import Millis, rfc3339
from storage.records.secrecy import plain
from storage.secrets import Lost
from storage.sqlite import engine, upkeep
from storage.sqlite.engine import DATABASE, connect
from storage.sqlite.master_key import NEXT, OWN, make_own, own_keys, unlock
from storage.sqlite.ownership import as_owner, as_root, entrust_all, named_by_hand, sync

Standing = Literal["holds", "fails", "missing", "unchecked"]
"""The MAC's state: valid, invalid (altered, or another key), absent, or unchecked without a master key."""

FORMAT = 1
MANIFEST = "manifest.json"
ARCHIVED_DATABASE = "sanderling.db"
SECRETS = "secrets.sealed"
_NAMES = re.compile(r"sanderling\.db|secrets\.sealed|sanderling\.toml|templates/[\w][\w. -]*\.toml", re.ASCII)
_FORM = tarfile.GNU_FORMAT  # ustar is limited to 8 GiB per member
_CHUNK = 1 << 20
_MOST_MANIFEST = 1 << 20


class Member(Struct, frozen=True):
    """A file in a backup."""

    name: str
    size: int
    sha256: str


class Manifest(Struct, frozen=True):
    """secrets: included, sealed, or left out. mac: over all else, by the master key of that time; "" without one."""

    sanderling_backup: int
    version: str
    made_at: str
    secrets: Literal["sealed", "none"]
    database: upkeep.Content
    files: tuple[Member, ...]
    mac: str = ""

    def authenticated(self, master: MasterKey | None) -> Manifest:
        return self if master is None else structs.replace(self, mac=master.mac(self._spoken()))

    def standing(self, master: MasterKey | None) -> Standing:
        if not self.mac:
            return "missing"
        if master is None:
            return "unchecked"
        return "holds" if compare_digest(self.mac, master.mac(self._spoken())) else "fails"

    def _spoken(self) -> bytes:
        return msgspec.json.encode(structs.replace(self, mac=""))


VOUCHED: Mapping[Standing, str] = {
    "holds": "its MAC holds: it is as it was made with this master key",
    "fails": "its MAC is wrong: it was altered, or made with another master key",
    "missing": "it has no MAC, so changes to it can't be detected",
    "unchecked": "no master key is named, so its MAC was not checked",
}


class SourceFile(NamedTuple):
    """A source file for a backup."""

    name: str
    path: Path


def write_archive(target: Path, manifest: Manifest, pieces: Sequence[SourceFile]) -> None:
    """Write a backup (0600), fsync and verify it, then replace an older one atomically. Raises OSError."""
    partial = target.with_name(target.name + ".partial")
    with as_root():
        partial.unlink(missing_ok=True)
        fd = os.open(partial, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600)
    try:
        with open(fd, "wb") as out:
            with tarfile.open(fileobj=out, mode="w", format=_FORM) as tar:
                head = msgspec.json.format(msgspec.json.encode(manifest))
                tar.addfile(_info(MANIFEST, len(head)), io.BytesIO(head))
                for piece in pieces:
                    with _its_own(piece.path) as source:
                        tar.addfile(_info(piece.name, os.fstat(source.fileno()).st_size), source)
            out.flush()
            os.fsync(out.fileno())
        with as_root():
            verify(partial)
            os.replace(partial, target)
            sync(target.parent)
    finally:
        with as_root():
            partial.unlink(missing_ok=True)


def holds(name: str) -> bool:
    return _NAMES.fullmatch(name) is not None


def member(piece: SourceFile) -> Member:
    """Raises OSError."""
    with _its_own(piece.path) as source:
        return Member(piece.name, os.fstat(source.fileno()).st_size, hashlib.file_digest(source, "sha256").hexdigest())


def _its_own(path: Path) -> BufferedReader:
    return open(os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW), "rb")


def read_manifest(path: Path) -> Manifest:
    """Raises CommandFailed if the file is no backup, or has a newer format."""
    with _opened(path) as tar:
        return _manifest(path, tar)


def verify(path: Path) -> Manifest:
    """Read and check a whole backup; return its manifest. Raises CommandFailed with the fault."""
    with _reading(path) as (manifest, files):
        for _file, chunks in files:
            for _chunk in chunks:
                pass
    return manifest


def unpack(path: Path, folder: Path) -> Manifest:
    """Unpack and check a backup into an empty folder; return its manifest. Raises CommandFailed, OSError."""
    with _reading(path) as (manifest, files):
        for file, chunks in files:
            target = folder / file.name
            target.parent.mkdir(mode=0o700, exist_ok=True)
            with open(os.open(target, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600), "wb") as out:
                for chunk in chunks:
                    out.write(chunk)
                out.flush()
                os.fsync(out.fileno())
    return manifest


def is_backup(path: Path) -> bool:
    try:
        read_manifest(path)
    except CommandFailed:
        return False
    return True


@contextmanager
def _reading(path: Path) -> Iterator[tuple[Manifest, Iterator[tuple[Member, Iterator[bytes]]]]]:
    with _opened(path) as tar:
        manifest = _manifest(path, tar)
        yield manifest, _members(path, tar, manifest)
        if tar.next() is not None:
            raise CommandFailed(f"{path}: was altered: it has more files than its manifest.")


def _members(path: Path, tar: tarfile.TarFile, manifest: Manifest) -> Iterator[tuple[Member, Iterator[bytes]]]:
    for file in manifest.files:
        if (found := tar.next()) is None:
            raise CommandFailed(f"{path}: is cut short: {file.name} is missing. Use another backup.")
        if found.name != file.name or not found.isfile() or found.size != file.size:
            raise CommandFailed(f"{path}: was altered: {found.name!r} differs from its manifest.")
        stream = tar.extractfile(found)
        assert stream is not None
        yield file, _checked(path, file, stream)


def _checked(path: Path, each: Member, stream: IO[bytes]) -> Iterator[bytes]:
    digest, size = hashlib.sha256(), 0
    while chunk := stream.read(_CHUNK):
        digest.update(chunk)
        size += len(chunk)
        yield chunk
    if size != each.size:
        raise CommandFailed(f"{path}: is cut short within {each.name}. Use another backup.")
    if digest.hexdigest() != each.sha256:
        raise CommandFailed(f"{path}: is damaged: {each.name} has another SHA-256 than its manifest says.")


@contextmanager
def _opened(path: Path) -> Iterator[tarfile.TarFile]:
    try:
        with named_by_hand(path) as raw, tarfile.open(fileobj=raw, mode="r:") as tar:
            yield tar
    except tarfile.ReadError as error:
        why = "is cut short" if "unexpected end" in str(error) else "is not a backup of Sanderling, or is damaged"
        raise CommandFailed(f"{path}: {why} ({error}).") from None
    except OSError as error:
        raise CommandFailed(f"{path}: cannot be read: {error.strerror or error}.") from None


def _manifest(path: Path, tar: tarfile.TarFile) -> Manifest:
    first = tar.next()
    if first is None or first.name != MANIFEST or not first.isfile() or first.size > _MOST_MANIFEST:
        raise CommandFailed(f"{path}: is not a backup of Sanderling: it does not begin with {MANIFEST}.")
    stream = tar.extractfile(first)
    assert stream is not None
    text = stream.read()
    try:
        version = msgspec.json.decode(text, type=_OfFormat).sanderling_backup
        if version > FORMAT:
            raise CommandFailed(f"{path}: was made by a newer Sanderling: use that one.", Exit.BAD_DATA)
        manifest = msgspec.json.decode(text, type=Manifest)
    except (msgspec.MsgspecError, UnicodeDecodeError) as error:
        raise CommandFailed(f"{path}: is not a backup of Sanderling: {MANIFEST}: {error}.") from None
    names = [each.name for each in manifest.files]
    if names[:1] != [ARCHIVED_DATABASE] or len(set(names)) < len(names) or not all(map(holds, names)):
        raise CommandFailed(f"{path}: was altered: its manifest names files that a backup never has.")
    if (SECRETS in names) != (manifest.secrets == "sealed"):
        raise CommandFailed(f"{path}: was altered: its manifest contradicts itself about secrets.")
    return manifest


class _OfFormat(Struct, frozen=True):
    sanderling_backup: int


def _info(name: str, size: int) -> tarfile.TarInfo:
    info = tarfile.TarInfo(name)
    info.size, info.mode = size, 0o600
    return info


def summary(manifest: Manifest) -> Mapping[str, object]:
    held = manifest.database
    return {
        "made_at": manifest.made_at,
        "version": manifest.version,
        "schema": held.schema,
        "events": held.events,
        "secrets": manifest.secrets,
        "bytes": sum(each.size for each in manifest.files),
        "files": [each.name for each in manifest.files],
    }


SCRATCH = ".backup-"
STALE_MS = 86_400_000
NO_MASTER_KEY = (
    "A backup holds no secret unsealed, and no master key is named. Make one, and keep a copy of it apart from "
    f"backups:\n\n  (umask 077; sanderling keys master > master.key)\n  export {FILE_VARIABLE}=$PWD/master.key\n\n"
    "Or leave the secrets out with --without-secrets: after a restore each destination then needs a new secret. The "
    "data folder's own master.key will do too, once you have put a copy of it elsewhere and named that."
)


def make_backup(settings: Settings, target: Path, variables: Mapping[str, str], *, secrets: bool) -> Manifest:
    """Back up a data folder to a file and return its manifest. Raises CommandFailed."""
    folder = Path(settings.data)
    master = find_master_key(variables)
    if secrets and master is None:
        raise CommandFailed(NO_MASTER_KEY, Exit.BAD_SETTING)
    with working_in(folder):
        if not (folder / ARCHIVED_DATABASE).is_file():
            raise CommandFailed(f"{folder}: there is no data folder of Sanderling; name it with --data.", Exit.BAD_DATA)
    try:
        _refuse(folder, target)
        for piece in _files(settings):
            if not holds(piece.name):
                raise CommandFailed(
                    f"{piece.path}: a backup can't hold a file of this name: rename it, with letters a to z, digits, "
                    "dots, spaces, - and _ only.",
                    Exit.BAD_SETTING,
                )
        with as_owner(folder):
            sweep(folder)
            with tempfile.TemporaryDirectory(prefix=SCRATCH, dir=folder) as scratch:
                return _make(settings, target, Path(scratch), master, secrets=secrets)
    except OSError as error:
        where = f" ({error.filename})" if error.filename else ""
        raise CommandFailed(f"{target}: cannot be written: {error.strerror or error}{where}.", Exit.TRY_AGAIN) from None


def _make(settings: Settings, target: Path, scratch: Path, master: MasterKey | None, *, secrets: bool) -> Manifest:
    folder = Path(settings.data)
    copy = scratch / ARCHIVED_DATABASE
    with command_errors(folder):
        content = upkeep.copy_database(folder / ARCHIVED_DATABASE, copy)
        taken = None
        if master is None or not secrets:
            upkeep.drop_secrets(copy)
        else:
            taken = upkeep.take_secrets(copy, folder, master.vault, password=True)
        if content.schema < len(engine.STEPS):
            content = upkeep.examine(copy)
    pieces = [SourceFile(ARCHIVED_DATABASE, copy)]
    if master is not None and taken is not None:
        sealed = scratch / SECRETS
        sealed.write_bytes(master.seal(msgspec.json.encode(taken), entropy(24)))
        pieces.append(SourceFile(SECRETS, sealed))
    pieces += _files(settings)
    files = tuple(map(member, pieces))
    made = Manifest(FORMAT, __version__, rfc3339(now()), "none" if taken is None else "sealed", content, files)
    manifest = made.authenticated(master)
    write_archive(target, manifest, pieces)
    return manifest


def _files(settings: Settings) -> Iterator[SourceFile]:
    own = Path(settings.data) / FILE_NAME
    if own.is_file():
        yield SourceFile(FILE_NAME, own)
    if settings.templates:
        for path in sorted(Path(settings.templates).glob("*.toml")):
            yield SourceFile(f"templates/{path.name}", path)


def _refuse(folder: Path, target: Path) -> None:
    database = folder / ARCHIVED_DATABASE
    if target.is_dir():
        raise CommandFailed(f"{target}: is a folder; name the file to write, such as {target / 'sanderling.tar'}.")
    if target.exists() and not is_backup(target):
        raise CommandFailed(f"{target}: exists and is no backup, so it stays unchanged. Name another file.")
    if not target.parent.is_dir():
        raise CommandFailed(f"{target.parent}: there is no such folder.")
    wal = database.with_name(database.name + "-wal")
    size = database.stat().st_size + (wal.stat().st_size if wal.exists() else 0) + (1 << 20)
    one_disk = folder.stat().st_dev == target.parent.stat().st_dev
    for place, needed in ((folder, size), (target.parent, 2 * size if one_disk else size)):
        free = shutil.disk_usage(place).free
        if free < needed:
            raise CommandFailed(
                f"{place}: {free >> 20} MiB are free, and a backup needs up to {needed >> 20} MiB there. Free some"
                + (", or write it to another disk." if one_disk else "."),
                Exit.TRY_AGAIN,
            )


def sweep(folder: Path) -> None:
    for left in folder.glob(SCRATCH + "*"):
        with suppress(FileNotFoundError):  # another process may delete it now
            if left.stat().st_mtime * 1000 < now() - STALE_MS:
                shutil.rmtree(left, ignore_errors=True)


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

    content: upkeep.Content
    lost: Lost
    named: bool
    standing: Standing | None
    access_grants: upkeep.AccessGrants
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
            staged = _staged(file, folder, stage, variables, entropy, trusted=unverified)
            upkeep.mark_restored(stage / DATABASE)
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


def who_gets_in(found: upkeep.AccessGrants) -> Iterator[str]:
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
    lock_is_new = not (folder / engine.LOCK).exists()
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        with engine.FolderLock(folder):
            try:
                yield
            except BaseException:
                if lock_is_new:  # unlink it while locked: later it may be another process's
                    (folder / engine.LOCK).unlink(missing_ok=True)
                raise
    except BaseException:
        for path in missing:
            with suppress(OSError):  # not empty any more
                path.rmdir()
        raise


def _refuse_what_is_there(folder: Path, replace: bool) -> None:
    there = sorted(path.name for path in folder.iterdir() if path.name not in (engine.LOCK, OWN, STAGE, "lost+found"))
    if there and not replace:
        raise CommandFailed(
            f"{folder}: is not empty ({', '.join(there[:3])}{', ...' if len(there) > 3 else ''}). With --replace, "
            "Sanderling's files there are moved aside within it, and stay.",
            Exit.BAD_DATA,
        )


def _staged(
    file: Path, folder: Path, stage: Path, variables: Mapping[str, str], draw: Callable[[int], bytes], *, trusted: bool
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
            engine.check_schema(database)
            content = upkeep.examine(database)
            key = upkeep.key_of(database, folder, named)
            is_named = key is not None and key == named
            return RestoreResult(content, Lost(0, 0, 0), is_named, None, upkeep.access_grants(database))
    manifest = unpack(file, stage)
    secrets = _opened_secrets(file, stage, manifest, variables)
    standing = manifest.standing(find_master_key(variables))
    if standing == "fails":
        raise CommandFailed(f"{file}: {VOUCHED[standing]}.", Exit.BAD_DATA)
    if standing == "missing" and named and not trusted:
        raise CommandFailed(
            f"{file}: {VOUCHED[standing]}. It was made without a master key or by an earlier version, or the MAC was "
            "removed. If you trust its origin, restore it with --unverified.",
            Exit.BAD_DATA,
        )
    vault = own_keys(folder).get(OWN) or named or make_own(stage)
    with command_errors(file):
        engine.check_schema(database)
        content = upkeep.examine(database)
        lost = upkeep.put_secrets(database, secrets, vault, lambda: "whsec_" + base64.b64encode(draw(32)).decode())
        return RestoreResult(content, lost, vault == named, standing, upkeep.access_grants(database))


def _opened_secrets(file: Path, stage: Path, manifest: Manifest, variables: Mapping[str, str]) -> upkeep.Secrets | None:
    if manifest.secrets == "none":
        return None
    if (master := find_master_key(variables)) is None:
        raise CommandFailed(
            f"{file}: its secrets are sealed. Name the file of the master key in {FILE_VARIABLE}.", Exit.BAD_SETTING
        )
    sealed = stage / SECRETS
    if (opened := master.open(sealed.read_bytes())) is None:
        raise CommandFailed(f"{file}: was sealed with another master key than this one.", Exit.BAD_SETTING)
    sealed.unlink()
    return msgspec.json.decode(opened, type=upkeep.Secrets)


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
    if templates := (stage / TEMPLATES).is_dir():
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
    for name in (engine.MARK, OWN, NEXT):  # also stay: positions are never reused, and the key opens both databases
        if (folder / name).exists():
            shutil.copy(folder / name, aside / name, follow_symlinks=False)


def _copy(file: Path, target: Path) -> None:
    with named_by_hand(file) as source, open(os.open(target, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600), "wb") as out:
        shutil.copyfileobj(source, out)


# SQLite takes the lengths from row headers, without reading the bodies.
_BY_SOURCE = """SELECT k.id, s.url, count(*), sum(length(l.body)) FROM log l
    JOIN source_key k ON k.key=l.source LEFT JOIN source s ON s.key=l.source GROUP BY l.source ORDER BY 4 DESC, 1"""
HEADS: Final = ("size", "share", "events", "source")


class Need(Struct, frozen=True):
    """The needs of an upgrade. copied: the database must be copied to shrink later. needed, free: bytes on disk."""

    schema: int
    newest: int
    copied: bool
    needed: int
    free: int

    @property
    def nothing(self) -> bool:
        return self.schema == self.newest and not self.copied


def need(folder: Path) -> Need:
    """Inspect a database, possibly in use. Raises CommandFailed."""
    database = folder / DATABASE
    if not database.is_file() or not database.stat().st_size:
        raise CommandFailed(
            f"{folder}: there is no database of Sanderling; name its folder with --data.", Exit.BAD_DATA
        )
    with working_in(folder), closing(connect(database, engine.COMMAND)) as connection, engine.translated():
        schema, copied = engine.version_of(connection), not engine.gives_back(connection)
        used = engine.room_of(connection).used
    needed = used + upkeep.SPARE if copied or schema < len(engine.STEPS) else 0
    return Need(schema, len(engine.STEPS), copied, needed, shutil.disk_usage(folder).free)


def sentences(found: Need) -> Iterator[str]:
    if found.nothing:
        yield f"Schema {found.schema} is up to date: nothing to do."
        return
    if found.copied:
        yield "The database is copied to a new file, which can return space to the disk."
    if found.schema < found.newest:
        yield f"A copy is kept: {upkeep.copy_name(found.schema)}."
        yield f"Schema {found.schema} becomes {found.newest}, step by step; each step succeeds or changes nothing."
    yield f"This needs {found.needed >> 20} MiB temporarily; {found.free >> 20} MiB are free."


def migrate(folder: Path) -> Need:
    """Upgrade a folder without a running service; return the steps. Raises CommandFailed."""
    found, database = need(folder), folder / DATABASE
    if found.nothing:
        return found
    named = named_vault(environ())
    with working_in(folder), engine.opening(folder), engine.FolderLock(folder):
        if found.copied and not upkeep.rebuild(database):
            raise CommandFailed(
                f"{database} could not be copied: {found.needed >> 20} MiB are needed and {found.free >> 20} free, "
                "without other readers. Nothing has changed; try again.",
                Exit.TRY_AGAIN,
            )
        with closing(connect(database, engine.WRITER)) as connection, engine.translated():
            upkeep.upgrade(connection, database, unlock(connection, folder, named).vault)
            upkeep.scrub(connection)
    return found


class Size(Struct, frozen=True):
    """A source's share of the log. url: None for deleted sources and the service's notices."""

    source_id: str
    url: str | None
    events: int
    bytes: int


def sizes(folder: Path) -> Sequence[Size]:
    """Raises CommandFailed."""
    database = folder / DATABASE
    if not database.is_file():
        raise CommandFailed(f"{folder}: there is no data folder of Sanderling; name it with --data.", Exit.BAD_DATA)
    with working_in(folder), closing(connect(database, engine.READER)) as connection, engine.translated():
        return [Size(*row) for row in connection.execute(_BY_SOURCE).fetchall()]


def tell(found: Sequence[Size], limit: int, *, as_json: bool) -> Exit:
    whole = sum(size.bytes for size in found)

    def row(size: Size) -> Sequence[Cell | str]:
        return (
            Cell(f"{size.bytes / (1 << 20):.2f} MiB", right=True),
            Cell(f"{100 * size.bytes / max(whole, 1):.0f} %", right=True),
            Cell(f"{size.events:,}", right=True),
            size.url or f"{size.source_id}, deleted or the service's own",
        )

    Listing(HEADS, row).show(found[:limit], as_json=as_json)
    if not as_json:
        events = sum(size.events for size in found)
        click.echo(f"{whole / (1 << 20):10.2f} MiB in {events:,} events of {len(found)} sources")
    return Exit.WELL
