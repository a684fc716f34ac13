"""Check the machine: clock, limits, and whether workers start in their jail."""

from __future__ import annotations

import resource
from collections.abc import AsyncIterator, Iterator
from zoneinfo import ZoneInfo

import trio

from sanderling.operations import self_test as check
from sanderling.operations.backup.finding import Finding, Level
from sanderling.operations.doctor.context import DoctorContext
from sanderling.real_world import monotonic, wall

PACE = 0.3
"""Seconds over which wall clock and monotonic clock are compared."""
STEP = 0.2
BUILT = 1_760_000_000.0
"""An earlier wall clock was never set: the program is younger."""


async def clock(patient: DoctorContext) -> AsyncIterator[Finding]:
    """Check that the wall clock was set and keeps pace with the monotonic clock."""
    began = wall(), monotonic()
    await trio.sleep(PACE)
    drift = (wall() - began[0]) - (monotonic() - began[1])
    if wall() < BUILT:
        yield Finding("fail", "clock", "it was never set", "Set it: timedatectl set-ntp true")
    elif abs(drift) > STEP:
        do = "Something sets it in steps; use a service that slews it (chrony, systemd-timesyncd)."
        yield Finding("warn", "clock", f"it has just moved by {drift:+.2f} s", do)
    else:
        yield Finding("ok", "clock", "set, and steady")
    try:
        ZoneInfo("Europe/Stockholm")
    except LookupError:
        yield Finding("fail", "time zones", "there is no database of time zones", "Install tzdata.")


def limits(patient: DoctorContext) -> Iterator[Finding]:
    """Check that the limit of open files covers the allowed streams."""
    _soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    needed = patient.settings.max_streams + 1000
    unlimited = hard == resource.RLIM_INFINITY
    says = "no limit on open files" if unlimited else f"{hard} files may be open"
    if not unlimited and hard < needed:
        do = f"LimitNOFILE={needed} in the unit (ulimit -n), or a smaller max_streams."
        yield Finding("warn", "open files", f"{says}, max_streams is {patient.settings.max_streams}", do)
    else:
        yield Finding("ok", "open files", says)


async def worker(patient: DoctorContext) -> AsyncIterator[Finding]:
    """Check that a worker starts, parses, and is held by the kernel."""
    lacks = ""

    async def look() -> str:
        nonlocal lacks
        entries, memory_kib, lacks = await check.tried(patient.variables)
        return f"a feed of {entries} entries and a page read, {memory_kib >> 10} MiB"

    finding = await check.found("worker", look)
    if finding.level != "ok":
        do = "Does a security module or a container forbid processes, or too little memory? See worker_memory."
        yield Finding("fail", "worker", finding.says, do)
        return
    yield finding
    yield jail(lacks, demanded=patient.settings.jail == "demanded")


def jail(lacks: str, *, demanded: bool) -> Finding:
    """Return the finding for the jail's missing parts."""
    if not lacks:
        return Finding("ok", "jail", "Landlock and a system call filter hold the workers")
    do = "Linux 5.13 or later with Landlock on, and a container that allows landlock_* and seccomp (docs/security.md)."
    level: Level = "fail" if demanded else "warn"
    says = f"the kernel does not wholly hold the workers: {lacks}"
    return Finding(level, "jail", says + ("; jail = demanded, so nothing starts" if demanded else ""), do)
