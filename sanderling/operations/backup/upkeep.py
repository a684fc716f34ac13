"""Upkeep of a data folder: `sanderling migrate` and `sanderling sources sizes`."""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Sequence
from contextlib import closing
from pathlib import Path
from typing import Final

import click
from msgspec import Struct

from sanderling.client.lines import Cell
from sanderling.client.terminal import Listing
from sanderling.data_folder import named_vault, working_in
from sanderling.environment import environ
from sanderling.exits import CommandFailed, Exit
from storage.sqlite.engine.connection import COMMAND, READER, WRITER, connect, gives_back, room_of, translated
from storage.sqlite.engine.folder import DATABASE, FolderLock, opening
from storage.sqlite.engine.migrations import STEPS, version_of
from storage.sqlite.master_key import unlock
from storage.sqlite.upkeep.upgrade import SPARE, copy_name, rebuild, scrub, upgrade

# SQLite takes the lengths from row headers, without reading the bodies.
_BY_SOURCE = """SELECT k.id, s.url, count(*), sum(length(l.body)) FROM log l
    JOIN source_key k ON k.key=l.source LEFT JOIN source s ON s.key=l.source GROUP BY l.source ORDER BY 4 DESC, 1"""
HEADS: Final = ("size", "share", "events", "source")


class Need(Struct, frozen=True):
    """What an upgrade needs. copied: the database must be copied to be able to shrink. needed, free: bytes on disk."""

    schema: int
    newest: int
    copied: bool
    needed: int
    free: int

    @property
    def nothing(self) -> bool:
        return self.schema == self.newest and not self.copied


def need(folder: Path) -> Need:
    """Inspect a database, possibly in use. Raises CommandFailed."""
    database = folder / DATABASE
    if not database.is_file() or not database.stat().st_size:
        raise CommandFailed(
            f"{folder}: there is no database of Sanderling; name its folder with --data.", Exit.BAD_DATA
        )
    with working_in(folder), closing(connect(database, COMMAND)) as connection, translated():
        schema, copied, room = version_of(connection), not gives_back(connection), room_of(connection)
    behind = schema < len(STEPS)
    needed = (room.used + SPARE) if copied or behind else 0
    return Need(schema, len(STEPS), copied, needed, shutil.disk_usage(folder).free)


def sentences(found: Need) -> Iterator[str]:
    if found.nothing:
        yield f"Schema {found.schema} is up to date: nothing to do."
        return
    if found.copied:
        yield "The database is copied to a new file, which can return space to the disk."
    if found.schema < found.newest:
        yield f"A copy is kept: {copy_name(found.schema)}."
        yield f"Schema {found.schema} becomes {found.newest}, step by step; each step succeeds or changes nothing."
    yield f"This needs {found.needed >> 20} MiB temporarily; {found.free >> 20} MiB are free."


def migrate(folder: Path) -> Need:
    """Upgrade a folder without a running service; return the steps. Raises CommandFailed."""
    found, database = need(folder), folder / DATABASE
    if found.nothing:
        return found
    lock, named = FolderLock(folder), named_vault(environ())
    with working_in(folder), opening(folder):
        lock.acquire()
        try:
            if found.copied and not rebuild(database):
                raise CommandFailed(
                    f"{database} could not be copied: {found.needed >> 20} MiB are needed and {found.free >> 20} free, "
                    "without other readers. Nothing has changed; try again.",
                    Exit.TRY_AGAIN,
                )
            with closing(connect(database, WRITER)) as connection, translated():
                upgrade(connection, database, unlock(connection, folder, named).vault)
                scrub(connection)
        finally:
            lock.release()
    return found


class Size(Struct, frozen=True):
    """A source's share of the log. url: None for deleted sources and the service's notices."""

    source_id: str
    url: str | None
    events: int
    bytes: int


def sizes(folder: Path) -> Sequence[Size]:
    """Raises CommandFailed."""
    database = folder / DATABASE
    if not database.is_file():
        raise CommandFailed(f"{folder}: there is no data folder of Sanderling; name it with --data.", Exit.BAD_DATA)
    with working_in(folder), closing(connect(database, READER)) as connection, translated():
        return [Size(*row) for row in connection.execute(_BY_SOURCE).fetchall()]


def tell(found: Sequence[Size], limit: int, *, as_json: bool) -> Exit:
    whole = sum(size.bytes for size in found)

    def row(size: Size) -> Sequence[Cell | str]:
        return (
            Cell(f"{size.bytes / (1 << 20):.2f} MiB", right=True),
            Cell(f"{100 * size.bytes / max(whole, 1):.0f} %", right=True),
            Cell(f"{size.events:,}", right=True),
            size.url or f"{size.source_id}, deleted or the service's own",
        )

    Listing(HEADS, row).show(found[:limit], as_json=as_json)
    if not as_json:
        events = sum(size.events for size in found)
        click.echo(f"{whole / (1 << 20):10.2f} MiB in {events:,} events of {len(found)} sources")
    return Exit.WELL
