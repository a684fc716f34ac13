"""Whose the files are that root makes in a data folder, and as whom root works in one: as the folder's owner.

What lies in a folder its owner chose, links to root's own files too, so root's rights must not reach through them. Root
therefore becomes the owner for as long as it works in there (`as_owner`), and itself again only for what somebody has
named on the command line (`as_root`).

Giving files away is a courtesy: where the system does not let root do so (mapped users, some network disks), they stay
as made.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO

ROOT = 0


@contextmanager
def as_owner(folder: Path) -> Iterator[None]:
    """Work as the owner of a folder, without any other group, if this is root and the folder another's.

    Nothing happens for one that is not there. Raises OSError when the system does not let root become that user.
    """
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
    """Be root again within `as_owner`, for a file that somebody named; nothing happens outside of it."""
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
    """Give an open file, just made, to the folder's owner."""
    if os.geteuid() == ROOT:
        with suppress(OSError):
            owner = folder.stat()
            os.fchown(fd, owner.st_uid, owner.st_gid)


def entrust_all(made: Path, folder: Path) -> None:
    """Give a folder that was made in a folder, with all that is in it, to the owner of that one."""
    if os.geteuid() == ROOT:
        with suppress(OSError):
            owner = folder.stat()
            # From within, and through no link: nobody else may put anything into it before all of it is given away.
            for _, _, files, at in os.fwalk(made, topdown=False):
                for name in files:
                    os.chown(name, owner.st_uid, owner.st_gid, dir_fd=at, follow_symlinks=False)
                os.fchown(at, owner.st_uid, owner.st_gid)


def named_by_hand(path: Path) -> IO[bytes]:
    """Open a file to read that somebody has named: with root's rights, unless its place is another's. Raises OSError.

    Whoever owns the place could have put a link there to a file that he may not read.
    """
    if os.geteuid() != ROOT and os.getuid() == ROOT and _placed_by(path) == ROOT:
        with as_root():
            return path.open("rb")
    return path.open("rb")


def _placed_by(path: Path) -> int:
    """Return who could have put there what is at a path: the first owner on the way to it that is not root."""
    with as_root():
        way = path.absolute()
        for place in (way.parent, *way.parent.parents):
            status = place.stat()
            if status.st_uid != ROOT:
                return status.st_uid
    return ROOT
