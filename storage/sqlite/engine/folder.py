"""The files of the data folder: its modes, the lock that keeps a second server out, and the head mark.

The head mark is a file with the log's newest committed position. SQLite does not notice if its WAL was cut or deleted
(the newest commits are just gone, and every check says ok), so a second file must hold the last position.
"""

from __future__ import annotations

import fcntl
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from storage.errors import Exposed, Locked
from storage.records.identity import START, Seq
from storage.sqlite.master_key import NEXT, OWN
from storage.sqlite.ownership import entrust

DATABASE = "sanderling.db"
LOCK = "sanderling.lock"
MARK = "sanderling.head"
_DIGITS = 20  # a 63-bit position at fixed width, so that a new mark overwrites the old one within one sector


def prepare(folder: Path) -> Path:
    """Make folder (0700) and database (0600) before SQLite copies its mode to the WAL. Raises Exposed, OSError."""
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    with _open(folder, os.O_DIRECTORY) as fd:
        _restrict(fd, 0o700)
    database = folder / DATABASE
    _touch(database)
    _refuse(folder, 0o002)  # with write access, others could replace the database; a mounted volume may have a group
    for path in (database, *(folder / name for name in (OWN, NEXT) if (folder / name).exists())):
        with _open(path, os.O_NOFOLLOW) as fd:
            _restrict(fd, 0o600)
        _refuse(path, 0o077)
    return database


@contextmanager
def _open(path: Path, flags: int) -> Iterator[int]:
    fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC | flags)
    try:
        yield fd
    finally:
        os.close(fd)


def identity(path: Path) -> tuple[int, int] | None:
    """Return the device and inode of a file, which differ for another file at the same path; None if missing."""
    try:
        status = path.stat()
    except OSError:
        return None
    return status.st_dev, status.st_ino


class FolderLock:
    """An exclusive lock on a folder, held until `release` or the end of the process, however it ends."""

    def __init__(self, folder: Path) -> None:
        self._path = folder / LOCK
        self._fd: int | None = None

    def acquire(self) -> None:
        """Take the lock at once. Raises Locked if another process (or another engine of this one) holds it."""
        _touch(self._path)
        fd = os.open(self._path, os.O_RDWR | os.O_CLOEXEC | os.O_NOFOLLOW)
        try:
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            os.close(fd)
            folder = self._path.parent
            raise Locked(f"another process serves from {folder}: stop it, or choose another folder") from None
        self._fd = fd

    def release(self) -> None:
        if self._fd is not None:
            os.close(self._fd)
            self._fd = None


@contextmanager
def opening(folder: Path) -> Iterator[None]:
    """Let one process at a time open or create the folder's contents; others wait for that moment."""
    with _open(folder, os.O_DIRECTORY) as fd:
        fcntl.flock(fd, fcntl.LOCK_EX)
        yield


class HeadMark:
    """The newest committed position in a file. Used by the writer thread only."""

    def __init__(self, folder: Path) -> None:
        self._path = folder / MARK
        self._fd: int | None = None
        self.written = START

    def read(self) -> Seq:
        """Open the file, created if missing, and return its position, 0 for none. Raises ValueError if damaged."""
        _touch(self._path)
        self._fd = os.open(self._path, os.O_RDWR | os.O_CLOEXEC | os.O_NOFOLLOW)
        text = os.pread(self._fd, _DIGITS + 1, 0)
        if not text:
            return START
        if len(text) != _DIGITS + 1 or not text[:_DIGITS].isdigit():
            raise ValueError(f"{self._path} does not hold a position: {text[:40]!r}")
        self.written = Seq(int(text))
        return self.written

    def write(self, head: Seq) -> None:
        """Raises OSError."""
        assert self._fd is not None
        os.pwrite(self._fd, b"%0*d\n" % (_DIGITS, head), 0)
        os.fdatasync(self._fd)
        self.written = head

    def close(self) -> None:
        if self._fd is not None:
            os.close(self._fd)
            self._fd = None


def _touch(path: Path) -> None:
    """Create an empty file if missing. Raises OSError, also for a link, which may lead to another user's file."""
    try:
        fd = os.open(path, os.O_CREAT | os.O_EXCL | os.O_RDWR | os.O_CLOEXEC, 0o600)
        entrust(fd, path.parent)
    except FileExistsError:
        fd = os.open(path, os.O_CREAT | os.O_RDWR | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
    try:
        _restrict(fd, 0o600)
    finally:
        os.close(fd)


def _refuse(path: Path, forbidden: int) -> None:
    mode = stat.S_IMODE(path.stat().st_mode)
    if mode & forbidden:
        raise Exposed(path, mode)


def _restrict(fd: int, mode: int) -> None:
    """Remove other users' rights from a file of ours. A mounted volume may belong to root."""
    status = os.fstat(fd)
    if status.st_mode & 0o777 & ~mode and status.st_uid == os.geteuid():
        os.fchmod(fd, mode)
