"""Check the data folder: owner, permissions, disk space, disk speed."""

from __future__ import annotations

import os
import shutil
import stat
from collections.abc import Iterator
from statistics import median

from sanderling.operations.backup.finding import Finding
from sanderling.operations.doctor.context import DoctorContext
from sanderling.operations.import_stage import STAGE, unfinished
from sanderling.real_world import entropy, monotonic
from storage.sqlite.engine.folder import DATABASE
from storage.sqlite.master_key import NEXT, OWN

LITTLE, HARDLY_ANY = 512 << 20, 64 << 20
SYNCS = 15
SLOW_MS = 30.0
"""Ordinary disks take 0.2 to 10 ms. A harvest waits for one fsync, so 30 ms still allow 30 commits a second."""


def permissions(patient: DoctorContext) -> Iterator[Finding]:
    """Check that the folder exists, is ours, and is closed to others."""
    folder = patient.folder
    if not folder.exists():
        yield Finding("warn", "folder", f"{folder} is not there", "The first start makes it; or name another: --data.")
        return
    if not folder.is_dir() or not os.access(folder, os.R_OK | os.W_OK | os.X_OK):
        do = f"Run this as the service's user, or: chown -R USER {folder}"
        yield Finding("fail", "folder", f"{folder} can't be read and written by user {os.geteuid()}", do)
        return
    open_to_others = []
    for path in (folder, *sorted(folder.iterdir())):
        status = path.lstat()
        if stat.S_ISLNK(status.st_mode):
            continue
        if status.st_uid not in (os.geteuid(), folder.stat().st_uid):
            do = f"chown {folder.stat().st_uid} {path}"
            yield Finding("warn", "folder", f"{path} belongs to another user ({status.st_uid})", do)
        if status.st_mode & 0o077:
            open_to_others.append(path)
    for path in open_to_others:
        mode = stat.S_IMODE(path.stat().st_mode)
        level = "fail" if path == folder or path.name.startswith((DATABASE, OWN, NEXT)) else "warn"
        do = f"chmod go-rwx {path}"
        yield Finding(level, "folder", f"others may use {path} (mode {mode:04o})", do)  # type: ignore[arg-type]  # a Level
    if not open_to_others:
        yield Finding("ok", "folder", f"{folder.absolute()}: for its owner only")


def half_an_import(patient: DoctorContext) -> Iterator[Finding]:
    """Report an import of a whole instance that was cut off; silent otherwise."""
    if unfinished(patient.folder):
        do = f"If none is under way: run `sanderling import` again, or delete {patient.folder / STAGE}"
        yield Finding("fail", "import", "an import into the folder was cut off: the service does not start", do)


def room(patient: DoctorContext) -> Iterator[Finding]:
    """Check the disk space for log, backup and upgrade."""
    folder = next(path for path in (patient.folder.absolute(), *patient.folder.absolute().parents) if path.is_dir())
    free = shutil.disk_usage(folder).free
    database = patient.folder / DATABASE
    size = database.stat().st_size if database.exists() else 0
    says = f"{free >> 20} MiB free, the database has {size >> 20} MiB"
    do = "Free some, move the folder, or keep less: retention_days, retention_events."
    if free < HARDLY_ANY:
        yield Finding("fail", "disk room", says, do)
    elif free < max(LITTLE, size):
        yield Finding("warn", "disk room", says + "; an upgrade copies it first", do)
    else:
        yield Finding("ok", "disk room", says)
    files = os.statvfs(folder)
    if files.f_files and files.f_favail < 1000:
        yield Finding("fail", "disk room", f"{files.f_favail} more files can be made", "Delete files nobody needs.")


def speed(patient: DoctorContext) -> Iterator[Finding]:
    """Measure how long an fsync of 4 KiB takes; each commit waits for one."""
    if not patient.folder.is_dir() or not os.access(patient.folder, os.W_OK):
        return
    path = patient.folder / f".doctor-{entropy(6).hex()}"
    took = []
    fd = os.open(path, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600)
    try:
        for number in range(SYNCS):
            started = monotonic()
            os.pwrite(fd, b"x" * 4096, number * 4096)
            os.fsync(fd)
            took.append((monotonic() - started) * 1000)
    finally:
        os.close(fd)
        path.unlink()
    says = f"an fsync takes {median(took):.1f} ms (the longest of {SYNCS}: {max(took):.0f} ms)"
    if median(took) > SLOW_MS:
        yield Finding("warn", "disk speed", says, "Commits wait for it: put the folder on a local disk.")
    else:
        yield Finding("ok", "disk speed", says)
