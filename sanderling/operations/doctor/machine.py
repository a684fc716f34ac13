"""The data folder and the machine: permissions, disk, clock, limits, workers in their jail."""

from __future__ import annotations

import os
import resource
import shutil
import stat
from collections.abc import AsyncIterator, Iterator
from statistics import median
from zoneinfo import ZoneInfo

from sanderling.data_folder import STAGE, unfinished
from sanderling.operations import self_test
from sanderling.operations.findings import DoctorContext, Finding, Level
from sanderling.real_world import entropy, monotonic, wall
from storage.sqlite.engine.folder import DATABASE
from storage.sqlite.master_key import NEXT, OWN

LITTLE, HARDLY_ANY = 512 << 20, 64 << 20
SYNCS = 15
SLOW_MS = 30.0
"""Ordinary disks take 0.2 to 10 ms. A harvest waits for one fsync, so 30 ms still allow 30 commits a second."""
BUILT = 1_760_000_000.0
"""An earlier wall clock was never set: the program is younger."""


def permissions(patient: DoctorContext) -> Iterator[Finding]:
    folder = patient.folder
    if not folder.exists():
        yield Finding(
            "warn", "folder", f"{folder} does not exist", "The first start creates it. Or choose another with --data."
        )
        return
    if not folder.is_dir() or not os.access(folder, os.R_OK | os.W_OK | os.X_OK):
        do = f"Run this as the service's user, or: chown -R USER {folder}"
        yield Finding("fail", "folder", f"{folder} is not readable and writable for user {os.geteuid()}", do)
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
        yield Finding(level, "folder", f"other users can access {path} (mode {mode:04o})", do)  # type: ignore[arg-type]  # a Level
    if not open_to_others:
        yield Finding("ok", "folder", f"{folder.absolute()}: for its owner only")


def half_an_import(patient: DoctorContext) -> Iterator[Finding]:
    if unfinished(patient.folder):
        do = f"If none is running: run `sanderling import` again, or delete {patient.folder / STAGE}"
        yield Finding("fail", "import", "an import into the folder was interrupted: the service does not start", do)


def room(patient: DoctorContext) -> Iterator[Finding]:
    folder = next(path for path in (patient.folder.absolute(), *patient.folder.absolute().parents) if path.is_dir())
    free = shutil.disk_usage(folder).free
    database = patient.folder / DATABASE
    size = database.stat().st_size if database.exists() else 0
    says = f"{free >> 20} MiB free, the database takes {size >> 20} MiB"
    do = "Free some space, move the folder, or keep less (retention_days, retention_events)."
    if free < HARDLY_ANY:
        yield Finding("fail", "disk room", says, do)
    elif free < max(LITTLE, size):
        yield Finding("warn", "disk room", says + "; an upgrade copies the database first", do)
    else:
        yield Finding("ok", "disk room", says)
    files = os.statvfs(folder)
    if files.f_files and files.f_favail < 1000:
        yield Finding(
            "fail", "disk room", f"{files.f_favail} more files can be created", "Delete files that are not needed."
        )


def speed(patient: DoctorContext) -> Iterator[Finding]:
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
        yield Finding("warn", "disk speed", says, "Every commit waits for it. Put the folder on a local disk.")
    else:
        yield Finding("ok", "disk speed", says)


def clock(patient: DoctorContext) -> Iterator[Finding]:
    if wall() < BUILT:
        yield Finding("fail", "clock", "it was never set", "Set it: timedatectl set-ntp true")
    else:
        yield Finding("ok", "clock", "set")
    try:
        ZoneInfo("Europe/Stockholm")
    except LookupError:
        yield Finding("fail", "time zones", "no time zone database was found", "Install tzdata.")


def limits(patient: DoctorContext) -> Iterator[Finding]:
    _soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    needed = patient.settings.max_streams + 1000
    unlimited = hard == resource.RLIM_INFINITY
    says = "no limit on open files" if unlimited else f"up to {hard} open files"
    if not unlimited and hard < needed:
        do = f"LimitNOFILE={needed} in the unit (ulimit -n), or a smaller max_streams."
        yield Finding("warn", "open files", f"{says}, max_streams is {patient.settings.max_streams}", do)
    else:
        yield Finding("ok", "open files", says)


async def worker(patient: DoctorContext) -> AsyncIterator[Finding]:
    lacks = ""

    async def look() -> str:
        nonlocal lacks
        entries, memory_kib, lacks = await self_test.tried(patient.variables)
        return f"a feed of {entries} entries and a page read, {memory_kib >> 10} MiB"

    finding = await self_test.found("worker", look)
    if finding.level != "ok":
        do = "Check that no security module or container forbids new processes, and check worker_memory."
        yield Finding("fail", "worker", finding.says, do)
        return
    yield finding
    yield jail(lacks, demanded=patient.settings.jail == "demanded")


def jail(lacks: str, *, demanded: bool) -> Finding:
    if not lacks:
        return Finding("ok", "jail", "Landlock and a system call filter confine the workers")
    do = "Linux 5.13 or later with Landlock on, and a container that allows landlock_* and seccomp (docs/security.md)."
    level: Level = "fail" if demanded else "warn"
    says = f"the kernel does not fully confine the workers: {lacks}"
    return Finding(level, "jail", says + ("; with jail = demanded the service does not start" if demanded else ""), do)
