"""Files in a data folder: made durable, and owned by the folder's owner also if root creates them.

The owner chose a folder's contents, including links to root's own files, so root's rights must not reach through them.
Root therefore works there as the owner (`as_owner`), and as itself only on files named on the command line (`as_root`).

Changing the owner of files is a courtesy: if the system does not allow it (mapped users, some network disks), files
keep the owner that they were made with.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO

ROOT = 0


@contextmanager
def opened(path: Path, flags: int = 0) -> Iterator[int]:
    fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC | flags)
    try:
        yield fd
    finally:
        os.close(fd)


def sync(path: Path) -> None:
    """Make a file or a folder's names durable: a power cut could bring back a replaced file. Raises OSError."""
    with opened(path) as fd:
        os.fsync(fd)


@contextmanager
def as_owner(folder: Path) -> Iterator[None]:
    """Work as a folder's owner if root does; nothing for a missing folder. Raises OSError if root may not."""
    try:
        owner = folder.stat()
    except OSError:
        owner = None
    if owner is None or os.geteuid() != ROOT or owner.st_uid == ROOT:
        yield
        return
    groups, group = os.getgroups(), os.getegid()
    try:
        os.setgroups([owner.st_gid])
        os.setegid(owner.st_gid)
        os.seteuid(owner.st_uid)
        yield
    finally:
        os.seteuid(ROOT)
        os.setegid(group)
        os.setgroups(groups)


@contextmanager
def as_root() -> Iterator[None]:
    """Be root again within `as_owner`, for a file named on the command line; do nothing elsewhere."""
    user, group = os.geteuid(), os.getegid()
    if user == ROOT or os.getuid() != ROOT:
        yield
        return
    os.seteuid(ROOT)
    os.setegid(os.getgid())
    try:
        yield
    finally:
        os.setegid(group)
        os.seteuid(user)


def entrust(fd: int, folder: Path) -> None:
    if os.geteuid() == ROOT:
        with suppress(OSError):  # a file system without owners, or one that maps root
            owner = folder.stat()
            os.fchown(fd, owner.st_uid, owner.st_gid)


def entrust_all(made: Path, folder: Path) -> None:
    """Give a folder created inside `folder`, with its contents, to the owner of `folder`."""
    if os.geteuid() == ROOT:
        with suppress(OSError):  # a file system without owners, or one that maps root
            owner = folder.stat()
            # Depth first, and never through a link: no other user may add a file before all are given away.
            for _, _, files, at in os.fwalk(made, topdown=False):
                for name in files:
                    os.chown(name, owner.st_uid, owner.st_gid, dir_fd=at, follow_symlinks=False)
                os.fchown(at, owner.st_uid, owner.st_gid)


def named_by_hand(path: Path) -> IO[bytes]:
    """Open a file with root's rights, unless its folder is another user's, for fear of links. Raises OSError."""
    if os.geteuid() != ROOT and os.getuid() == ROOT and _placed_by(path) == ROOT:
        with as_root():
            return path.open("rb")
    return path.open("rb")


def _placed_by(path: Path) -> int:
    """Return the user who could have put the file at a path: the first owner that is not root, from its folder up."""
    with as_root():
        way = path.absolute()
        for place in (way.parent, *way.parent.parents):
            status = place.stat()
            if status.st_uid != ROOT:
                return status.st_uid
    return ROOT
