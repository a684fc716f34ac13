"""The files beside the database: the folder's modes, the lock that keeps a second server out, and the head mark.

The head mark is the log's newest committed position in a file of its own. SQLite does not notice when its WAL has been
cut or deleted (the newest commits are just gone, and every check says ok), so something outside must know how
far it was.
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
from storage.sqlite.ownership import entrust
from storage.sqlite.secrets.own_key import NEXT, OWN

DATABASE = "sanderling.db"
LOCK = "sanderling.lock"
MARK = "sanderling.head"
_DIGITS = 20  # a position of 63 bits; the width is fixed, so that a new mark overwrites the old one within one sector


def prepare(folder: Path) -> Path:
    """Make the folder (0700) and an empty database file (0600) unless they exist; return the database's path.

    Raises Exposed when they stay open to others, OSError. SQLite gives its WAL and shared memory the database file's
    mode, so the file is made before SQLite sees it.
    """
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    with _open(folder, os.O_DIRECTORY) as fd:
        _restrict(fd, 0o700)
    database = folder / DATABASE
    _touch(database)
    _refuse(folder, 0o002)  # who may write here can put another database in; a mounted volume may be its group's
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
    """Return what tells a file from another one at the same path; None when there is none."""
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
        """Take the lock at once. Raises Locked when another process (or another engine of this one) holds it."""
        _touch(self._path)
        fd = os.open(self._path, os.O_RDWR | os.O_CLOEXEC | os.O_NOFOLLOW)
        try:
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            os.close(fd)
            raise Locked(
                f"another process serves from {self._path.parent}: stop it, or choose another folder"
            ) from None
        self._fd = fd

    def release(self) -> None:
        """Let go of the lock; nothing happens when it is not held."""
        if self._fd is not None:
            os.close(self._fd)
            self._fd = None


@contextmanager
def opening(folder: Path) -> Iterator[None]:
    """Let one process at a time open or make what is in the folder; the others wait for the moment that this takes."""
    fd = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        fcntl.flock(fd, fcntl.LOCK_EX)
        yield
    finally:
        os.close(fd)


class HeadMark:
    """The newest committed position as the file beside the database says; used by the writer thread only."""

    def __init__(self, folder: Path) -> None:
        self._path = folder / MARK
        self._fd: int | None = None
        self.written = START

    def read(self) -> Seq:
        """Open the file, made when missing, and return what it says: 0 for none. Raises ValueError when damaged."""
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
        """Write a position and sync it. Raises OSError."""
        assert self._fd is not None
        os.pwrite(self._fd, b"%0*d\n" % (_DIGITS, head), 0)
        os.fdatasync(self._fd)
        self.written = head

    def close(self) -> None:
        if self._fd is not None:
            os.close(self._fd)
            self._fd = None


def _touch(path: Path) -> None:
    """Make an empty file unless it is there. Raises OSError, also when a link lies there: it may lead to another's."""
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
    """Take rights away from others where there are any and the file is ours; a mounted volume may belong to root."""
    status = os.fstat(fd)
    if status.st_mode & 0o777 & ~mode and status.st_uid == os.geteuid():
        os.fchmod(fd, mode)
