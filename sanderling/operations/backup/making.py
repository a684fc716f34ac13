"""Make a backup, with or without a running service.

copy -> check every page -> remove secrets -> seal them -> write -> read back -> rename. The previous backup stays in
place until the rename. While the copy contains secrets it stays in the data folder, even after a crash. There the
database's key seals them; in the backup, the named master key, possibly the same.
"""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path

import msgspec

from actors.settings import Settings
from sanderling import __version__
from sanderling.data_folder import FILE_VARIABLE, MasterKey, command_errors, find_master_key, working_in
from sanderling.environment import FILE_NAME
from sanderling.exits import CommandFailed, Exit
from sanderling.operations.backup import archive
from sanderling.real_world import entropy, now
from storage.records.identity import rfc3339
from storage.sqlite.engine.migrations import STEPS
from storage.sqlite.ownership import as_owner
from storage.sqlite.upkeep.copying import copy_database, drop_secrets, examine, take_secrets

SCRATCH = ".backup-"
STALE_MS = 86_400_000
NO_MASTER_KEY = (
    "A backup holds no secret unsealed, and no master key is named. Make one, and keep a copy of it apart from "
    f"backups:\n\n  (umask 077; sanderling keys master > master.key)\n  export {FILE_VARIABLE}=$PWD/master.key\n\n"
    "Or leave the secrets out with --without-secrets: after a restore each destination then needs a new secret. The "
    "data folder's own master.key will do too, once you have put a copy of it elsewhere and named that."
)


def make_backup(settings: Settings, target: Path, variables: Mapping[str, str], *, secrets: bool) -> archive.Manifest:
    """Back up a data folder to a file and return its manifest. Raises CommandFailed."""
    folder = Path(settings.data)
    master = find_master_key(variables)
    if secrets and master is None:
        raise CommandFailed(NO_MASTER_KEY, Exit.BAD_SETTING)
    with working_in(folder):
        if not (folder / archive.DATABASE).is_file():
            raise CommandFailed(f"{folder}: there is no data folder of Sanderling; name it with --data.", Exit.BAD_DATA)
    try:
        _refuse(folder, target)
        for piece in _files(settings):
            if not archive.holds(piece.name):
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


def _make(
    settings: Settings, target: Path, scratch: Path, master: MasterKey | None, *, secrets: bool
) -> archive.Manifest:
    folder = Path(settings.data)
    copy = scratch / archive.DATABASE
    with command_errors(folder):
        content = copy_database(folder / archive.DATABASE, copy)
        taken = None
        if master is None or not secrets:
            drop_secrets(copy)
        else:
            taken = take_secrets(copy, folder, master.vault, password=True)
        if content.schema < len(STEPS):
            content = examine(copy)
    pieces = [archive.SourceFile(archive.DATABASE, copy)]
    if master is not None and taken is not None:
        sealed = scratch / archive.SECRETS
        sealed.write_bytes(master.seal(msgspec.json.encode(taken), entropy(24)))
        pieces.append(archive.SourceFile(archive.SECRETS, sealed))
    pieces += _files(settings)
    manifest = archive.Manifest(
        archive.FORMAT,
        __version__,
        rfc3339(now()),
        "none" if taken is None else "sealed",
        content,
        tuple(archive.member(piece) for piece in pieces),
    ).authenticated(master)
    archive.write_archive(target, manifest, pieces)
    return manifest


def _files(settings: Settings) -> Iterator[archive.SourceFile]:
    own = Path(settings.data) / FILE_NAME
    if own.is_file():
        yield archive.SourceFile(FILE_NAME, own)
    if settings.templates:
        for path in sorted(Path(settings.templates).glob("*.toml")):
            yield archive.SourceFile(f"templates/{path.name}", path)


def _refuse(folder: Path, target: Path) -> None:
    database = folder / archive.DATABASE
    if target.is_dir():
        raise CommandFailed(f"{target}: is a folder; name the file to write, such as {target / 'sanderling.tar'}.")
    if target.exists() and not archive.is_backup(target):
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
