"""The storage: SQLite's database, and the master key that opens it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import closing
from functools import partial
from sqlite3 import Connection
from typing import Any

from msgspec.json import decode

from sanderling.data_folder import named_vault
from sanderling.operations.findings import DoctorContext, Finding
from sanderling.real_world import now, wall
from storage.errors import Corrupt, NewerSchema, NoKey, Unopened
from storage.records.alert import Alert
from storage.records.identity import START, Seq, millis_of, rfc3339
from storage.records.publication import Publication
from storage.records.secrecy import plain
from storage.records.source import Source
from storage.retention import too_roomy
from storage.sql.stores import scan
from storage.sql.stores.sources import decode_hot
from storage.sqlite.engine.connection import COMMAND, READER, connect, gives_back, room_of, translated
from storage.sqlite.engine.folder import DATABASE, MARK
from storage.sqlite.engine.migrations import STEPS, version_of
from storage.sqlite.master_key import OTHER
from storage.sqlite.upkeep.copying import key_of

RESTORE = "Stop the service and restore a backup: sanderling restore FILE --replace"
LARGE_WAL = 64 << 20
AHEAD_MS = 60_000
A_DAY = 86_400.0
NAME_IT = (
    "Name the one that the service has in SANDERLING_MASTER_KEY_FILE (a unit's credential is often "
    "/etc/sanderling/master.key), or put the folder's own back. If it is lost: sanderling keys rotate-master --lost"
)
MAKE_ONE = "Make one: (umask 077; sanderling keys master > FILE), and name it in SANDERLING_MASTER_KEY_FILE."


def database(patient: DoctorContext) -> Iterator[Finding]:
    path = patient.folder / DATABASE
    if not path.exists() or not path.stat().st_size:
        yield Finding("warn", "database", "there is none yet", "The first start creates it.")
        return
    ahead = path.stat().st_mtime - wall()
    if ahead > A_DAY:
        says = f"it is {ahead / A_DAY:,.0f} days behind the last write to the database"
        yield Finding("fail", "clock", says, "Set the clock: timedatectl set-ntp true")
    try:
        with closing(connect(path, COMMAND)) as connection, translated():
            yield _integrity(connection)
            schema = version_of(connection)
            later = f"; the next start upgrades it to {len(STEPS)}, after making a copy"
            yield Finding("ok", "schema", f"{schema}{later if schema < len(STEPS) else ', up to date'}")
            if schema:
                yield from _log(patient, connection)
    except Corrupt as error:
        yield Finding("fail", "database", str(error), RESTORE)
    except NewerSchema as error:
        do = "Use the newer version, or restore the copy that its upgrade kept (docs/upgrade.md)."
        yield Finding("fail", "schema", str(error), do)
    wal = path.with_name(path.name + "-wal")
    if wal.exists() and wal.stat().st_size > LARGE_WAL:
        says = f"the write-ahead log takes {wal.stat().st_size >> 20} MiB"
        yield Finding("warn", "database", says, "A long read keeps it from shrinking. End that reader, or restart.")


def private_sources(patient: DoctorContext) -> Iterator[Finding]:
    path = patient.folder / DATABASE
    if not path.exists() or not path.stat().st_size:
        return
    with closing(connect(path, READER)) as connection, translated():
        if version_of(connection) == len(STEPS):
            yield from gone_private(connection.execute)


def gone_private(execute: Callable[[str], Any]) -> Iterator[Finding]:
    """Yield the faces that sources left as they became private. execute: of a connection of either engine."""
    rows = execute("SELECT s.body, h.body FROM source s JOIN source_hot h ON h.key=s.key").fetchall()
    watched = [(decode(body, type=Source), hot) for body, stored in rows if (hot := decode_hot(stored)).private_since]
    alerts = [decode(body, type=Alert) for (body,) in execute("SELECT body FROM alert").fetchall()]
    published = [decode(body, type=Publication) for (body,) in execute("SELECT body FROM publication").fetchall()]
    faces: list[tuple[str, Callable[..., bool]]] = [(f"the alert {one.name}", one.has_left) for one in alerts]
    faces += [(f"the publication {one.title}", partial(one.has_left, alerts=alerts)) for one in published]
    for face, has_left in faces:
        gone = (each.called for each, hot in watched if each.deleted_at is None and has_left(each, hot))
        if names := ", ".join(map(plain, gone)):
            do = "Include them by name or leave them out, on its page in the dashboard."
            yield Finding("warn", "private", f"{plain(face)} leaves out sources that became private: {names}", do)


def _integrity(connection: Connection) -> Finding:
    (said,) = connection.execute("PRAGMA quick_check(1)").fetchone()
    if said != "ok":
        raise Corrupt(f"the database is damaged: {said.splitlines()[-1]}")
    room = room_of(connection)
    says = f"whole, {room.whole >> 20} MiB, {100 * room.free // max(room.whole, 1)} % of it free for new events"
    if too_roomy(room) and not gives_back(connection):
        do = "To return that to the disk, stop the service and run: sanderling migrate"
        return Finding("warn", "database", says, do)
    return Finding("ok", "database", says + ("; some of it returns to the disk" if too_roomy(room) else ""))


def _log(patient: DoctorContext, connection: Connection) -> Iterator[Finding]:
    newest = scan.bounds(connection, START).newest
    mark = patient.folder / MARK
    text = mark.read_text("ascii", "replace").strip() if mark.exists() else ""
    if text and not text.isdigit():
        yield Finding("warn", "head mark", f"{mark} is damaged", "The next start rewrites it.")
    elif text and int(text) > newest:
        says = f"events up to {rfc3339(millis_of(Seq(int(text))))} were committed and are missing"
        do = "The write-ahead log was lost or a backup restored. New ids continue above them; nothing else is affected."
        yield Finding("warn", "head mark", says, do)
    if newest and millis_of(newest) > now() + AHEAD_MS:
        says = f"the newest event is of {rfc3339(millis_of(newest))}, which is in the future"
        yield Finding("fail", "clock", says, "Set the clock (timedatectl set-ntp true); ids wait until it gets there.")


def master_key(patient: DoctorContext) -> Iterator[Finding]:
    named = named_vault(patient.variables)
    database = patient.folder / DATABASE
    try:
        there = database.exists() and database.stat().st_size > 0
        key = key_of(database, patient.folder, named) if there else None
    except NoKey as error:
        yield Finding("fail", "master key", f"the secrets are sealed, and {error}", NAME_IT)
        return
    except Unopened as error:
        yield Finding("fail", "master key", str(error), "Restore a backup: sanderling restore FILE --replace")
        return
    if named is None:
        says = "none is named, so backups can't hold the secrets"
        yield Finding("warn", "master key", says + ("; the folder's own opens them" if key else ""), MAKE_ONE)
    elif key is not None and key != named:
        yield Finding("warn", "master key", OTHER.partition(":")[0], OTHER.partition(": ")[2])
    else:
        yield Finding("ok", "master key", "for its owner only" + ("; opens every secret" if key else ""))
