"""Checks of PostgreSQL and of the replica by `sanderling doctor`, and of this build by `sanderling check`."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import closing
from importlib.resources import files

import trio

from extras.cluster.engine import INSTALL_IT, NO_LIBRARY, PostgresEngine
from extras.cluster.replica.log import Objects, ObjectsAway
from extras.cluster.replica.parts import CURRENT, OWNER, BadPart, key_that_made, read_current, read_owner
from extras.cluster.replica.place import S3, replica_keys, replica_of
from extras.cluster.settings import ClusterSettings
from sanderling.data_folder import named_vault
from sanderling.environment import typed
from sanderling.exits import CommandFailed
from sanderling.operations.doctor import gone_private
from sanderling.operations.findings import DoctorContext, Finding
from sanderling.operations.self_test import is_there
from sanderling.real_world import now, wall
from storage.errors import StorageError
from storage.records.identity import rfc3339

OLD_MS = 60_000
_TRIAL = "doctor"


def postgres(patient: DoctorContext) -> Iterator[Finding]:
    if not patient.settings.of(ClusterSettings).elsewhere:
        return
    try:
        engine = PostgresEngine(patient.settings)
    except CommandFailed as error:
        yield Finding("fail", "PostgreSQL", error.message, "docs/postgresql.md has an example.")
        return
    try:
        yield from _asked(patient, engine)
    except ImportError:
        yield Finding("fail", "PostgreSQL", NO_LIBRARY, INSTALL_IT)
    except StorageError as error:
        do = "Is the server up, and does it let this machine in? docs/postgresql.md"
        yield Finding("fail", "PostgreSQL", f"{engine.place}: {error}", do)


def _asked(patient: DoctorContext, engine: PostgresEngine) -> Iterator[Finding]:
    from psycopg import pq

    from extras.cluster.postgres import engine as connection
    from extras.cluster.postgres.engine import all_steps, examine

    found = examine(engine.address.url, wall, named_vault(patient.variables), listens=engine.listen is not None)
    yield Finding("ok", "PostgreSQL", f"{found.version} at {engine.place}")
    if pq.__impl__ == "python":
        says = "psycopg runs in Python, which takes a third more processor time for an event than C"
        yield Finding("warn", "PostgreSQL driver", says, "pip install 'sanderling[postgres]' brings the one in C.")
    for verdict in found.verdicts:
        yield Finding("fail" if verdict.refuses else "warn", "PostgreSQL", verdict.says, verdict.do)
    if found.schema is None:
        yield Finding("warn", "schema", "there is none yet", "The first start creates it.")
        return
    yield Finding("ok", "schema", str(found.schema))
    if found.schema == len(all_steps()):
        with closing(connection.connect(engine.address.url)) as opened, connection.translated():
            yield from gone_private(opened.execute)
    for member in found.inside:
        yield Finding("ok", "node", f"{member} is inside")
    if found.opened is None:
        do = "Name the file of the master key in SANDERLING_MASTER_KEY_FILE, the same one on every node."
        yield Finding("fail", "master key", "none is named, and with PostgreSQL no node makes one", do)
    elif found.opened:
        yield Finding("fail", "master key", found.opened, "Name the one that this database was made with.")
    else:
        yield Finding("ok", "master key", "opens every secret")


async def replica(patient: DoctorContext) -> AsyncIterator[Finding]:
    """Check the location, writing and deleting a small object."""
    place = patient.settings.of(ClusterSettings).replica
    if not place or (patient.offline and place.startswith(S3)):
        return
    try:
        objects = replica_of(patient.settings, wall)
    except CommandFailed as error:
        yield Finding("fail", "replica", error.message, "docs/standby.md has an example.")
        return
    try:
        yield await _looked_at(objects, place, replica_keys(patient.folder, patient.variables), running=patient.running)
    except (CommandFailed, StorageError, OSError):
        return  # the master key has its own check
    except (ObjectsAway, BadPart) as error:
        says = "The service continues without it; docs/standby.md says for how long."
        yield Finding("fail", "replica", f"{error}", says)
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
        return Finding("warn", "replica", says, f"{typed('status')} shows the reason.")
    return Finding("ok", "replica", says)


async def build() -> str:
    steps = [each for each in (files("extras.cluster.postgres") / "steps").iterdir() if each.name.endswith(".sql")]
    if not steps:
        raise LookupError("the steps that make its tables are not there")
    if not is_there("psycopg.pq"):
        return f"schema {len(steps)}; libpq is not on this machine"
    from psycopg import pq

    return f"schema {len(steps)}, libpq {pq.version() // 10000}.{pq.version() % 10000}, driver in {pq.__impl__}"
