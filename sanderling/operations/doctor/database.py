"""Check the database: integrity, schema, head mark, free space."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import closing
from functools import partial
from sqlite3 import Connection

from msgspec.json import decode

from sanderling.operations.backup.finding import Finding
from sanderling.operations.doctor.context import DoctorContext
from sanderling.real_world import now, wall
from storage.errors import Corrupt, NewerSchema
from storage.records.alert import Alert
from storage.records.identity import START, Seq, millis_of
from storage.records.publication import Publication
from storage.records.secrecy import plain
from storage.records.source import Source, SourceRuntime
from storage.records.times import rfc3339
from storage.retention import too_roomy
from storage.sql.stores import scan
from storage.sql.stores.sources import decode_hot
from storage.sqlite.engine.connection import COMMAND, READER, connect, gives_back, room_of, translated
from storage.sqlite.engine.folder import DATABASE, MARK
from storage.sqlite.engine.migrations import STEPS, version_of

RESTORE = "Stop the service and restore a backup: sanderling restore FILE --replace"
LARGE_WAL = 64 << 20
AHEAD_MS = 60_000
A_DAY = 86_400.0


def database(patient: DoctorContext) -> Iterator[Finding]:
    """Check the database, possibly in use."""
    path = patient.folder / DATABASE
    if not path.exists() or not path.stat().st_size:
        yield Finding("warn", "database", "there is none yet", "The first start makes it.")
        return
    ahead = path.stat().st_mtime - wall()
    if ahead > A_DAY:
        says = f"it says a time {ahead / A_DAY:,.0f} days before the database was last written"
        yield Finding("fail", "clock", says, "Set the clock: timedatectl set-ntp true")
    try:
        with closing(connect(path, COMMAND)) as connection, translated():
            yield from _integrity(connection)
            schema = version_of(connection)
            if schema < len(STEPS):
                yield Finding("ok", "schema", f"{schema}; the next start brings it to {len(STEPS)}, after a copy")
            else:
                yield Finding("ok", "schema", f"{schema}, as this program's")
            if schema:
                yield from _log(patient, connection)
    except Corrupt as error:
        yield Finding("fail", "database", str(error), RESTORE)
    except NewerSchema as error:
        do = "Use the newer program, or restore the copy that its upgrade has kept (docs/upgrade.md)."
        yield Finding("fail", "schema", str(error), do)
    wal = path.with_name(path.name + "-wal")
    if wal.exists() and wal.stat().st_size > LARGE_WAL:
        says = f"the write-ahead log has {wal.stat().st_size >> 20} MiB"
        yield Finding("warn", "database", says, "Somebody reads the database for long; end that, or restart.")


def private_sources(patient: DoctorContext) -> Iterator[Finding]:
    """Which sources have become private, and so left publications and alerts, since somebody last set these."""
    path = patient.folder / DATABASE
    if not path.exists() or not path.stat().st_size:
        return
    with closing(connect(path, READER)) as connection, translated():
        if version_of(connection) != len(STEPS):
            return
        rows = connection.execute("SELECT s.body, h.body FROM source s JOIN source_hot h ON h.key=s.key")
        since = ((body, hot) for body, stored in rows if (hot := decode_hot(stored)).private_since)
        watched = [(decode(body, type=Source), hot) for body, hot in since]
        alerts = [decode(body, type=Alert) for (body,) in connection.execute("SELECT body FROM alert")]
        published = [decode(body, type=Publication) for (body,) in connection.execute("SELECT body FROM publication")]
    faces: list[tuple[str, Callable[[Source, SourceRuntime], bool]]]
    faces = [(f"the alert {one.name}", one.has_left) for one in alerts]
    faces += [(f"the publication {one.title}", partial(one.has_left, alerts=alerts)) for one in published]
    for face, has_left in faces:
        gone = (each.called for each, hot in watched if each.deleted_at is None and has_left(each, hot))
        if names := ", ".join(map(plain, gone)):
            do = "Include them by name or leave them out, on its page in the dashboard."
            yield Finding("warn", "private", f"{plain(face)} leaves out sources that became private: {names}", do)


def _integrity(connection: Connection) -> Iterator[Finding]:
    (said,) = connection.execute("PRAGMA quick_check(1)").fetchone()
    if said != "ok":
        raise Corrupt(f"the database is damaged: {said.splitlines()[-1]}")
    room = room_of(connection)
    says = f"whole, {room.whole >> 20} MiB, {100 * room.free // max(room.whole, 1)} % of it free for new events"
    if too_roomy(room) and not gives_back(connection):
        do = "It can't give that back to the disk as it is: stop the service, and run: sanderling migrate"
        yield Finding("warn", "database", says, do)
    else:
        yield Finding("ok", "database", says + ("; some of it goes back to the disk" if too_roomy(room) else ""))


def _log(patient: DoctorContext, connection: Connection) -> Iterator[Finding]:
    newest = scan.bounds(connection, START).newest
    mark = patient.folder / MARK
    text = mark.read_text("ascii", "replace").strip() if mark.exists() else ""
    if text and not text.isdigit():
        yield Finding("warn", "head mark", f"{mark} is damaged", "The next start makes it anew.")
    elif text and int(text) > newest:
        says = f"events up to {rfc3339(millis_of(Seq(int(text))))} had been committed and are not there"
        do = "The write-ahead log was lost, or a backup restored. New ids go on above them; nothing else is wrong."
        yield Finding("warn", "head mark", says, do)
    if newest and millis_of(newest) > now() + AHEAD_MS:
        says = f"the newest event is of {rfc3339(millis_of(newest))}, which is in the future"
        yield Finding("fail", "clock", says, "Set the clock (timedatectl set-ntp true); ids wait until it gets there.")
