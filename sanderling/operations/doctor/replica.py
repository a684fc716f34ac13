"""Check the replica: reachable, writable, its owner and age."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence

import trio

from actors.replica.parts import CURRENT, OWNER, BadPart, key_that_made, read_current, read_owner
from sanderling.environment import typed
from sanderling.exits import CommandFailed
from sanderling.master_key import replica_keys
from sanderling.operations.backup.finding import Finding
from sanderling.operations.doctor.context import DoctorContext
from sanderling.real_world import now, wall
from sanderling.replica_place import S3, replica_of
from storage.errors import StorageError
from storage.objects import Objects, ObjectsAway
from storage.records.times import rfc3339

OLD_MS = 60_000
_TRIAL = "doctor"


async def replica(patient: DoctorContext) -> AsyncIterator[Finding]:
    """Check the location, writing and deleting a small object."""
    place = patient.settings.replica
    if not place or (patient.offline and place.startswith(S3)):
        return
    try:
        objects = replica_of(patient.settings, wall)
    except CommandFailed as error:
        yield Finding("fail", "replica", error.message, "docs/standby.md has an example.")
        return
    try:
        keys = replica_keys(patient.folder, patient.variables)
        yield await _looked_at(objects, place, keys, running=patient.running)
    except (CommandFailed, StorageError, OSError):
        return  # the master key has its own check
    except (ObjectsAway, BadPart) as error:
        yield Finding("fail", "replica", f"{error}", "The service goes on without it; docs/standby.md says how long.")
    finally:
        with trio.move_on_after(5, shield=True):
            await objects.aclose()


async def _looked_at(objects: Objects, place: str, keys: Sequence[bytes], *, running: bool) -> Finding:
    await objects.put(_TRIAL, b"")
    await objects.delete(_TRIAL)
    body, newest = await objects.get(OWNER), await objects.get(CURRENT)
    if body is None or newest is None:
        do = "" if running else "The service fills it from its next start on."
        return Finding("ok" if not running else "warn", "replica", f"{place}: nothing is there yet", do)
    owner = read_owner(body, key_that_made(body, OWNER, keys))
    current = read_current(newest, key_that_made(newest, CURRENT, keys))
    says = f"{place}: of {owner.by}, all up to {rfc3339(current.at)}"
    if running and now() - current.at > OLD_MS:
        return Finding("warn", "replica", says, f"{typed('status')} says what keeps it.")
    return Finding("ok", "replica", says)
