"""An instance written line by line from one snapshot of its storage.

Only one page is in memory at a time. A file gets its name when it is complete and synced.

For SQLite a copy, as in a backup: a read transaction as long as a slow export would keep the write-ahead log from being
reused. The copy is private, so it may be opened as a storage and upgraded. For PostgreSQL one read transaction, which
keeps old rows until it ends.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import sys
import tempfile
from collections import Counter
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence, Set
from contextlib import AbstractAsyncContextManager, asynccontextmanager, contextmanager, nullcontext
from pathlib import Path
from typing import BinaryIO

import trio
from msgspec import Raw, Struct
from msgspec.structs import replace

from actors.settings import Settings
from actors.signatures import public_half
from extras.migrate.whole import reading
from sanderling import __version__
from sanderling.data_folder import named_vault, working_in
from sanderling.engines import engine_of
from sanderling.environment import environ
from sanderling.exits import CommandFailed, Exit
from sanderling.operations.backup import SCRATCH, sweep
from sanderling.real_world import now, wall
from storage.records.alert import KEPT_DAYS, Alert
from storage.records.destination import Destination
from storage.records.event import EVERYTHING, MATCHED
from storage.records.identity import START, Millis, Seq, id_of, parse_rfc3339, rfc3339, seq_at, seq_of
from storage.sql.storage import Storage
from storage.sqlite import open_sqlite
from storage.sqlite.engine import DATABASE
from storage.sqlite.ownership import sync
from storage.sqlite.upkeep import copy_database, key_of

PAGE = 100
LAST_SEQ = (1 << 63) - 1


class CannotWrite(Exception):
    """The output failed, not the data folder. error: the system's."""

    def __init__(self, error: OSError) -> None:
        super().__init__(str(error))
        self.error = error


class ExportWriter:
    """Writes lines, counts them, and digests all but the first and last. Raises CannotWrite."""

    def __init__(self, out: BinaryIO) -> None:
        self._out = out
        self._digest = hashlib.sha256()
        self._count: Counter[type[Struct]] = Counter()

    def head(self, head: reading.Head) -> None:
        self._write(reading.encode(head) + b"\n")

    def put(self, line: reading.Line) -> None:
        text = reading.encode(line) + b"\n"
        self._digest.update(text)
        self._count[type(line)] += 1
        self._write(text)

    def end(self) -> reading.End:
        counts = {name: self._count[kind] for name, kind in reading.COUNTED.items()}
        end = reading.End(**counts, sha256=self._digest.hexdigest())
        self._write(reading.encode(end) + b"\n")
        return end

    def _write(self, text: bytes) -> None:
        try:
            self._out.write(text)
        except OSError as error:
            raise CannotWrite(error) from None


def write_export(
    opened: AbstractAsyncContextManager[Storage], file: str, since: Seq | None, *, events: bool
) -> reading.End:
    """Export a snapshot to a file, `-` for stdout. Raises CommandFailed, and BrokenPipeError if the reader stops."""
    made_at = now()
    try:
        with fresh(Path(file)) if file != "-" else nullcontext(sys.stdout.buffer) as out:
            end = trio.run(lambda: export(opened, out, made_at, since, events=events))
            out.flush()
            return end
    except CannotWrite as failed:
        if isinstance(failed.error, BrokenPipeError):
            raise failed.error from None
        raise _unwritable(file, failed.error) from None


def position_of(since: str | None) -> Seq | None:
    """Return the log position before a time or event id. Raises CommandFailed."""
    if since is None:
        return None
    try:
        return seq_of(since)
    except ValueError:
        pass  # no event's id: a time
    try:
        return Seq(max(START, seq_at(parse_rfc3339(since)) - 1))
    except ValueError:
        says = f"{since!r} is neither a time, such as 2026-11-21T10:00:00Z, nor an event's id."
        raise CommandFailed(says, Exit.USAGE) from None


async def export(
    opened: AbstractAsyncContextManager[Storage],
    out: BinaryIO,
    made_at: Millis,
    since: Seq | None,
    *,
    events: bool = True,
) -> reading.End:
    """opened: a snapshot. since: only events after this position. Raises CommandFailed, CannotWrite."""
    span: reading.Span = "none" if not events else "all" if since is None else "since"
    async with opened as storage:
        floor, _, newest = await storage.log.bounds()
        begin = Seq(max(floor, newest if not events else min(since or START, newest)))
        matched = await storage.outbox.cursor(MATCHED)
        written = ExportWriter(out)
        written.head(reading.Head(reading.FORMAT, __version__, rfc3339(made_at), span, reading.left_out()))
        written.put(reading.Log(id_of(begin, 0), reading.named(matched)))
        await _keys(storage, written)
        await _sources(storage, written)
        await _alerts(storage, written)
        hooks = await storage.alerts.destinations()
        for destination in hooks:
            missed = await _missed_after(storage, destination, matched or START)
            written.put(reading.Hook(reading.moved(destination, missed)))
        await _tags(storage, written, {hook.id for hook in hooks})
        await _publications(storage, written)
        await _events(storage, written, begin)
        return written.end()


async def _keys(storage: Storage, written: ExportWriter) -> None:
    keys = {key.key_id: key for key in (*map(public_half, await storage.keys.signing()), *await storage.keys.public())}
    for key in sorted(keys.values(), key=lambda key: (key.created_at, key.key_id)):
        written.put(reading.Key(key.key_id, key.x, key.created_at))


async def _sources(storage: Storage, written: ExportWriter) -> None:
    after = None
    while page := await storage.sources.page(after, PAGE):
        for source, hot, base in ((each.source, each.hot, each.base) for each in page):
            memory = replace(hot.without_secret, tally=b"")  # the tally counts this instance's own checks
            written.put(reading.Watch(source.without_secret, source.secret is not None, memory, base))
        after = page[-1].source.id


async def _alerts(storage: Storage, written: ExportWriter) -> None:
    alerts = await storage.alerts.all()
    newest = max((day for alert in alerts if (day := reading.last_day(alert)) is not None), default=0)
    days = range(newest - KEPT_DAYS + 1, newest + 1)
    for start in range(0, len(alerts), PAGE):
        page: Sequence[Alert] = alerts[start : start + PAGE]
        met = await storage.alerts.matched([alert.id for alert in page], days)
        for alert in page:
            written.put(reading.Query(alert, _days(alert, met.get(alert.id, {}))))


def _days(alert: Alert, met: Mapping[int, int]) -> Mapping[str, int]:
    """Return an alert's matches of recent days; nothing if a clock step left them in disorder."""
    newest = reading.last_day(alert)
    if newest is None or newest not in met:
        return {}
    return {reading.day_name(day): met[day] for day in sorted(met) if newest - KEPT_DAYS < day <= newest}


async def _missed_after(storage: Storage, destination: Destination, matched: Seq) -> Seq | None:
    """Return after what matches may be undelivered: pending ones do not travel, so resuming offers a replay."""
    if not destination.enabled or destination.state == "disabled":
        return destination.missed_after
    first = await storage.outbox.first_waiting(destination.id)
    return destination.missing(matched if first is None else min(matched, Seq(first - 1))).missed_after


async def _tags(storage: Storage, written: ExportWriter, hooks: Set[str]) -> None:
    for defaults in await storage.tag_defaults.all():
        known = tuple(id for id in defaults.destinations if id in hooks)
        written.put(reading.Tagged(replace(defaults, destinations=known)))


async def _publications(storage: Storage, written: ExportWriter) -> None:
    for publication in await storage.publications.all():
        written.put(reading.Address(replace(publication, token=None)))
    before = Seq(LAST_SEQ)
    while page := await storage.publications.retracted(START, before, PAGE):
        for retraction in page:
            written.put(reading.Withdrawn(retraction.id, retraction.at))
        before = page[-1].seq


async def _events(storage: Storage, written: ExportWriter, after: Seq) -> None:
    while True:
        page = await storage.log.read(after, PAGE, EVERYTHING)
        for event in page.events:
            written.put(reading.EventLine(reading.KIND_NAMES[event.kind], Raw(event.body)))
        if page.scanned >= page.head:
            return
        after = page.scanned


@contextmanager
def fresh(target: Path) -> Iterator[BinaryIO]:
    """Open a file (0600) that gets its name when complete and synced. Raises CommandFailed."""
    partial = target.with_name(target.name + ".partial")
    try:
        _refuse(target)
        partial.unlink(missing_ok=True)
        try:
            with open(os.open(partial, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600), "wb") as out:
                yield out
                out.flush()
                os.fsync(out.fileno())
            os.replace(partial, target)
            sync(target.parent)
        finally:
            partial.unlink(missing_ok=True)
    except OSError as error:
        raise _unwritable(str(target), error) from None


def _unwritable(target: str, error: OSError) -> CommandFailed:
    return CommandFailed(f"{target}: cannot be written: {error.strerror or error}.", Exit.TRY_AGAIN)


def _refuse(target: Path) -> None:
    if target.is_dir():
        raise CommandFailed(f"{target}: is a folder; name the file to write, such as {target / 'sanderling.ndjson'}.")
    if target.exists() and not reading.is_export(target):
        raise CommandFailed(f"{target}: exists and is no export, so it stays unchanged. Name another file.")
    if not target.parent.is_dir():
        raise CommandFailed(f"{target.parent}: there is no such folder.")


CLOSE_WITHIN = 10.0


@asynccontextmanager
async def snapshot_of(settings: Settings) -> AsyncIterator[Storage]:
    engine = engine_of(settings)
    with engine.command_errors():
        async with engine.snapshot() if engine.elsewhere else snapshot(Path(settings.data)) as storage:
            yield storage


@asynccontextmanager
async def snapshot(folder: Path) -> AsyncIterator[Storage]:
    """Open a copy of a data folder's database, made inside the folder and deleted afterwards. Raises CommandFailed."""
    database = folder / DATABASE
    if not database.is_file():
        raise CommandFailed(f"{folder}: there is no data folder of Sanderling; name it with --data.", Exit.BAD_DATA)
    with working_in(folder):
        sweep(folder)
        _refuse_without_room(folder, database)
    with working_in(folder), tempfile.TemporaryDirectory(prefix=SCRATCH, dir=folder) as scratch:
        copy_database(database, Path(scratch) / DATABASE)
        vault = key_of(Path(scratch) / DATABASE, folder, named_vault(environ()))
        storage = await open_sqlite(Path(scratch), clock=wall, owner="export", warn=lambda _: None, named=vault)
        try:
            yield storage
        finally:
            with trio.move_on_after(CLOSE_WITHIN, shield=True):
                await storage.aclose()


def _refuse_without_room(folder: Path, database: Path) -> None:
    wal = database.with_name(database.name + "-wal")
    needed = database.stat().st_size + (wal.stat().st_size if wal.exists() else 0) + (16 << 20)
    free = shutil.disk_usage(folder).free
    if free < needed:
        raise CommandFailed(
            f"{folder}: {free >> 20} MiB are free, and an export needs {needed >> 20} MiB there for a copy of the "
            "database while it lasts. Free some.",
            Exit.TRY_AGAIN,
        )
