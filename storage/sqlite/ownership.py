"""Whose the files are that root makes in a data folder: the folder's owner's, or the service could not open them.

A courtesy: where the system does not let root give files away (mapped users, some network disks), they stay as made.
"""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path


def entrust(fd: int, folder: Path) -> None:
    """Give an open file, just made, to the folder's owner."""
    if os.geteuid() == 0:
        with suppress(OSError):
            owner = folder.stat()
            os.fchown(fd, owner.st_uid, owner.st_gid)


def entrust_all(made: Path, folder: Path) -> None:
    """Give a folder that was made in a folder, with all that is in it, to the owner of that one."""
    if os.geteuid() == 0:
        with suppress(OSError):
            owner = folder.stat()
            # From within, and through no link: nobody else may put anything into it before all of it is given away.
            for _, _, files, at in os.fwalk(made, topdown=False):
                for name in files:
                    os.chown(name, owner.st_uid, owner.st_gid, dir_fd=at, follow_symlinks=False)
                os.fchown(at, owner.st_uid, owner.st_gid)
