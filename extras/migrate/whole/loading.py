"""Load an export into an empty instance. The service must not run, and cannot start during it.

In a data folder, a new database is filled in the folder `.importing`, and one rename replaces the old one after the
last line was checked. Until then nothing changes; a folder with an interrupted import (`unfinished`) is not served, and
a new import starts over. A PostgreSQL database is filled in place, and marked incomplete until the end.
"""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Awaitable, Callable, Iterator
from contextlib import ExitStack, contextmanager
from functools import partial
from io import BufferedReader
from pathlib import Path
from typing import BinaryIO, assert_never

import click
import trio
from msgspec.structs import replace

from actors.settings import Settings
from actors.signatures import new_secret
from extras.migrate.whole import reading
from sanderling.client.terminal import print_json
from sanderling.data_folder import STAGE, named_vault, working_in
from sanderling.engines import Engine, engine_of
from sanderling.environment import environ, on_terminal, typed
from sanderling.exits import CommandFailed, Exit
from sanderling.real_world import entropy, wall
from storage.errors import StorageError
from storage.records.access import PublicKey
from storage.records.alert import Alert
from storage.records.destination import Hit
from storage.records.event import MATCHED, Stored
from storage.records.identity import START, Millis, Seq, seq_of
from storage.records.publication import Retraction
from storage.records.secrecy import plain
from storage.records.source import SourceState, TagDefaults
from storage.sql.storage import Storage
from storage.sqlite import open_sqlite
from storage.sqlite.engine import DATABASE, MARK, FolderLock
from storage.sqlite.master_key import OWN, own_keys
from storage.sqlite.ownership import entrust_all, sync
from storage.sqlite.upkeep import copy_database

SECRET_SIZE = 32
MOST_EVENTS, MOST_BYTES = 500, 4 << 20  # limits of one transaction
MOST_PUTS = 200
CLOSE_WITHIN = 30.0


class ImportResult:
    """speechless: sources paused without their greeting. keys: signing keys whose public halves are published, too."""

    head: reading.Head
    end: reading.End

    def __init__(self) -> None:
        self.speechless: list[str] = []
        self.keys: list[str] = []

    def note(self, line: reading.Checked) -> None:
        if isinstance(line, reading.Head):
            self.head = line
        elif isinstance(line, reading.End):
            self.end = line
        elif isinstance(line, reading.Watch) and line.greets:
            self.speechless.append(line.source.id)
        elif isinstance(line, reading.Key):
            self.keys.append(line.key_id)


def look_through(stream: BinaryIO, name: str) -> ImportResult:
    report = ImportResult()
    for line in reading.read(stream, name):
        report.note(line)
    return report


def load_into(stream: BinaryIO, name: str, settings: Settings, entropy: Callable[[int], bytes]) -> ImportResult:
    """Load an export into an empty instance, else unchanged; PostgreSQL is not served before. Raises CommandFailed."""
    engine = engine_of(settings)
    if not engine.elsewhere:
        return load(stream, name, Path(settings.data), entropy)
    with engine.command_errors():
        return trio.run(_fill_database, engine, reading.read(stream, name), entropy)


async def _fill_database(
    engine: Engine, lines: Iterator[reading.Checked], entropy: Callable[[int], bytes]
) -> ImportResult:
    async with engine.importing(wall) as storage:
        return await _filled(storage, lines, entropy)


def load(stream: BinaryIO, name: str, folder: Path, entropy: Callable[[int], bytes]) -> ImportResult:
    with working_in(folder):
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        lock = FolderLock(folder)
        lock.acquire()
        try:
            with staged(folder) as stage:
                loaded = trio.run(_fill, stage, folder, reading.read(stream, name), entropy)
                put_in_place(stage, folder)
                return loaded
        finally:
            lock.release()


async def _fill(
    stage: Path, folder: Path, lines: Iterator[reading.Checked], entropy: Callable[[int], bytes]
) -> ImportResult:
    storage = await open_sqlite(stage, clock=wall, owner="import", warn=lambda _: None, named=named_vault(environ()))
    try:
        await _refuse_unless_empty(storage, folder)
        return await _filled(storage, lines, entropy)
    finally:
        with trio.move_on_after(CLOSE_WITHIN, shield=True):
            await storage.aclose()


async def _filled(storage: Storage, lines: Iterator[reading.Checked], entropy: Callable[[int], bytes]) -> ImportResult:
    filling, report = _Filling(storage, entropy), ImportResult()
    for line in lines:
        await filling.take(line)
        report.note(line)
    return report


async def _refuse_unless_empty(storage: Storage, folder: Path) -> None:
    held = {
        "sources": await storage.sources.page(None, 1),
        "alerts": await storage.alerts.all(),
        "events": (await storage.log.bounds()).newest > START,
    }
    if there := [word for word, found in held.items() if found]:
        raise CommandFailed(
            f"{folder}: this instance has {' and '.join(there)} already, and an import of a whole one needs an empty "
            "one. Name another folder with --data, or move this one away.",
            Exit.BAD_DATA,
        )


class _Filling:
    """Stores lines kind by kind, hundreds at once, so that they are committed together."""

    def __init__(self, storage: Storage, entropy: Callable[[int], bytes]) -> None:
        self._storage, self._entropy = storage, entropy
        self._floor = START
        self._matched: Seq | None = None
        self._hits: list[Hit] = []
        self._events: list[Stored] = []
        self._weight = 0
        self._puts: list[Callable[[], Awaitable[None]]] = []
        self._kind: type[reading.Checked] | None = None

    async def take(self, line: reading.Checked) -> None:
        """Raises StorageError."""
        if type(line) is not self._kind or len(self._puts) == MOST_PUTS:
            await self._put()
        self._kind = type(line)
        match line:
            case reading.Head():
                pass
            case reading.Log():
                self._floor = seq_of(line.forgotten)
                self._matched = None if line.matched is None else seq_of(line.matched)
                await self._storage.log.adopt((), self._floor, self._storage.lease)
            case reading.Key():
                await self._storage.keys.add_public([PublicKey(line.key_id, line.x, line.created_at)])
            case reading.Watch():
                self._watch(line)
            case reading.Query():
                self._query(line.alert, {reading.day_number(name): n for name, n in line.matched.items()})
            case reading.Hook():
                hook = reading.arrived(line.destination, new_secret(self._entropy(SECRET_SIZE)))
                self._puts.append(partial(self._storage.alerts.put_destination, hook))
            case reading.Tagged(defaults):
                self._puts.append(partial(self._tag, defaults))
            case reading.Address():
                self._puts.append(partial(self._storage.publications.put, line.publication))
            case reading.Withdrawn():
                retraction = Retraction(seq_of(line.event), line.event, line.at)
                self._puts.append(partial(self._storage.publications.retract, retraction))
            case reading.VerifiedEvent(stored):
                self._events.append(stored)
                self._weight += len(stored.body)
                if len(self._events) == MOST_EVENTS or self._weight > MOST_BYTES:
                    await self._adopt()
            case reading.End():
                await self._adopt()
                await self._match()
            case _:
                assert_never(line)

    async def _put(self) -> None:
        errors: list[StorageError] = []

        async def attempt(put: Callable[[], Awaitable[None]]) -> None:
            try:
                await put()
            except StorageError as error:
                errors.append(error)

        async with trio.open_nursery() as nursery:
            for put in self._puts:
                nursery.start_soon(attempt, put)
        self._puts = []
        if errors:
            raise errors[0]

    async def _tag(self, defaults: TagDefaults) -> None:
        await self._storage.tag_defaults.edit(defaults.tag, lambda _: defaults)

    def _watch(self, line: reading.Watch) -> None:
        source = replace(line.source, enabled=False) if line.greets else line.source
        # The record of past checks stays with the other instance, which knows when it ran.
        state = SourceState(source.id, replace(line.memory, tally=b"", cookies=""), line.base)
        self._puts.append(partial(self._storage.sources.add, source, state, self._storage.lease))

    def _query(self, alert: Alert, days: dict[int, int]) -> None:
        """Add an alert; recent matches are counted after the matching cursor is set."""
        before = alert.match_count - sum(days.values())
        self._puts.append(partial(self._storage.alerts.put, replace(alert, match_count=before)))
        for day in sorted(days):
            at = alert.last_match_at if day == reading.last_day(alert) else Millis(day * 86_400_000)
            assert at is not None
            self._hits.append(Hit(alert.id, days[day], at))

    async def _adopt(self) -> None:
        if self._events:
            await self._storage.log.adopt(self._events, self._floor, self._storage.lease)
        self._events, self._weight = [], 0

    async def _match(self) -> None:
        if self._matched is None:
            return
        work, lease, at = self._storage.outbox, self._storage.lease, self._matched
        await work.advance(MATCHED, await work.cursor(MATCHED), at, (), lease)
        for start in range(0, len(self._hits), MOST_EVENTS):
            await work.advance(MATCHED, at, at, (), lease, hits=self._hits[start : start + MOST_EVENTS])


_NEW = ".importing.new"


@contextmanager
def staged(folder: Path) -> Iterator[Path]:
    """Yield a folder with a copy of the present database, then delete it. Clears leftovers of a cut import."""
    stage, new, database = folder / STAGE, folder / _NEW, folder / DATABASE
    for left in (stage, new):
        shutil.rmtree(left, ignore_errors=True)
    new.mkdir(mode=0o700)
    try:
        if database.exists() and database.stat().st_size:
            copy_database(database, new / DATABASE)
        else:
            (new / DATABASE).touch(mode=0o600)
        for name in own_keys(folder):
            shutil.copy(folder / name, new / name)
        new.rename(stage)
        yield stage
    finally:
        for left in (stage, new):
            shutil.rmtree(left, ignore_errors=True)


def put_in_place(stage: Path, folder: Path) -> None:
    """Replace the database by one rename. The copy already includes the old WAL and key."""
    sync(stage / DATABASE)
    entrust_all(stage, folder)
    for suffix in ("-wal", "-shm"):
        (folder / (DATABASE + suffix)).unlink(missing_ok=True)
    if (stage / OWN).exists():  # before the database that it opens
        os.replace(stage / OWN, folder / OWN)
    os.replace(stage / DATABASE, folder / DATABASE)
    if (stage / MARK).exists():
        os.replace(stage / MARK, folder / MARK)
    sync(folder)


BEGINNING = 4096
MOST_KEYS = 20  # maximum keys listed one by one


@contextmanager
def whole_instance(file: str, program: str | None) -> Iterator[BinaryIO | None]:
    """Yield a file (`-`: stdin) if it is an export, by content or `program`, else None. Raises CommandFailed."""
    if program not in (None, "sanderling"):
        yield None
        return
    with ExitStack() as undo:
        try:
            stream = _standard_input() if file == "-" else undo.enter_context(Path(file).open("rb"))
            found = program is not None or reading.begins_export(stream.peek(BEGINNING))
        except OSError as error:
            raise CommandFailed(f"{file}: cannot be read: {error.strerror or error}.", Exit.USAGE) from None
        yield stream if found else None


def _standard_input() -> BufferedReader:
    stream = sys.stdin.buffer
    assert isinstance(stream, BufferedReader)
    return stream


def take_over(stream: BinaryIO, name: str, settings: Settings, *, dry_run: bool, yes: bool, as_json: bool) -> int:
    """Load an export; return the exit code. Without `yes` it is read first, so seekable. Raises CommandFailed."""
    if dry_run:
        _tell(look_through(stream, name), "in it", as_json=as_json)
        return Exit.WELL
    place = engine_of(settings).place
    if not yes:
        if not on_terminal(0) or not stream.seekable():
            says = "There is no terminal to confirm on: add --yes, or --dry-run to see the plan."
            raise CommandFailed(says, Exit.USAGE)
        _tell(look_through(stream, name), "in it", as_json=False)
        if not click.confirm(f"Take all of it over into {place}?", default=False, err=True):
            return Exit.WELL
        stream.seek(0)
    loaded = load_into(stream, name, settings, entropy)
    _tell(loaded, f"now in {place}", as_json=as_json)
    if not as_json:
        _tell_what_is_left_to_do(loaded, Path(settings.data))
    return Exit.WELL


def _tell(loaded: ImportResult, where: str, *, as_json: bool) -> None:
    head, end = loaded.head, loaded.end
    if as_json:
        print_json({"head": head, "end": end, "without_greeting": loaded.speechless, "keys": loaded.keys})
        return
    of = plain(f"an instance of Sanderling {head.version[:40]}, {head.made_at[:40]}")
    click.echo(f"{reading.counted(end)}: {where}, of {of}.", err=True)
    if loaded.keys:
        shown = ", ".join(loaded.keys[:MOST_KEYS]) + (" ..." if len(loaded.keys) > MOST_KEYS else "")
        click.echo(
            plain(
                "Its events were signed with these keys, which /.well-known/jwks.json publishes from then on: "
                f"{shown}. "
                "Whoever has their private halves can then sign in this instance's name; take one out again with "
                "`sanderling keys signing --forget KEY_ID`."
            ),
            err=True,
        )


def _tell_what_is_left_to_do(loaded: ImportResult, folder: Path) -> None:
    if loaded.end.destinations:
        click.echo(
            "Its destinations are paused, because an export has no secrets: for each, make a new one, give it to the "
            "receiver, and resume it. You can then replay the events that they missed.",
            err=True,
        )
    if loaded.speechless:
        click.echo(
            "Paused, because `hello` and `headers` may be secret and are not exported (set them, then resume): "
            f"{', '.join(loaded.speechless[:20])}"
            f"{' ...' if len(loaded.speechless) > 20 else ''}",
            err=True,
        )
    click.echo("API keys and the password are this instance's own. Stop the old service first.", err=True)
    click.echo(f"Start it: {typed('serve', str(folder))}", err=True)
