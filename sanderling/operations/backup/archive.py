"""The file of a backup: a plain tar whose first member, `manifest.json`, lists the others.

In an emergency `tar` unpacks it and `sha256sum` checks it. Reading is strict: exactly the manifest's members, with its
order, sizes and hashes, so no name escapes the folder. docs/backup.md describes the format.
"""

from __future__ import annotations

import hashlib
import io
import os
import re
import tarfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from hmac import compare_digest
from io import BufferedReader
from pathlib import Path
from typing import IO, Literal, NamedTuple

import msgspec
from msgspec import Struct, structs

from sanderling.data_folder import MasterKey
from sanderling.exits import CommandFailed, Exit
from storage.sqlite.ownership import as_root, named_by_hand, sync
from storage.sqlite.upkeep.copying import Content

Standing = Literal["holds", "fails", "missing", "unchecked"]
"""The MAC's state: valid, invalid (altered, or another key), absent, or unchecked without a master key."""

FORMAT = 1
MANIFEST = "manifest.json"
DATABASE = "sanderling.db"
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
    database: Content
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
        found = tar.next()
        if found is None:
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
    if names[:1] != [DATABASE] or len(set(names)) < len(names) or not all(map(holds, names)):
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
