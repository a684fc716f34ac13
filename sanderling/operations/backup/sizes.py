"""`sanderling sources sizes`: size of each source's events, from the data folder, even while the service runs."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import Final

import click
from msgspec import Struct, to_builtins

from sanderling.client.listing import Cell, for_a_person, print_list
from sanderling.data_folder import working_in
from sanderling.exits import CommandFailed, Exit
from sanderling.json_lines import print_json
from storage.records.secrecy import plain
from storage.sqlite.engine.connection import READER, connect, translated
from storage.sqlite.engine.folder import DATABASE

# SQLite takes the lengths from row headers, without reading the bodies.
_BY_SOURCE = """SELECT k.id, s.url, count(*), sum(length(l.body)) FROM log l
    JOIN source_key k ON k.key=l.source LEFT JOIN source s ON s.key=l.source GROUP BY l.source ORDER BY 4 DESC, 1"""


class Size(Struct, frozen=True):
    """A source's share of the log. url: None for deleted sources and the service's notices."""

    source_id: str
    url: str | None
    events: int
    bytes: int


def sizes(folder: Path) -> Sequence[Size]:
    """Return each source's share of the log, largest first. Raises CommandFailed."""
    database = folder / DATABASE
    if not database.is_file():
        raise CommandFailed(f"{folder}: there is no data folder of Sanderling; name it with --data.", Exit.BAD_DATA)
    with working_in(folder), closing(connect(database, READER)) as connection, translated():
        return [Size(*row) for row in connection.execute(_BY_SOURCE).fetchall()]


HEADS: Final = ("size", "share", "events", "source")


def tell(found: Sequence[Size], limit: int, *, as_json: bool) -> Exit:
    """Print the largest sources and the total."""
    whole = sum(size.bytes for size in found)
    rows = []
    for size in found[:limit]:
        if as_json:
            print_json(to_builtins(size))
            continue
        share = f"{100 * size.bytes / max(whole, 1):3.0f} %"
        where = plain(size.url or f"{size.source_id}, deleted or the service's own")
        rows.append((f"{size.bytes / (1 << 20):10.2f} MiB", share, f"{size.events:9,}", where))
    if for_a_person():
        print_list(HEADS, [(*(Cell(text.strip(), right=True) for text in row[:3]), row[3]) for row in rows])
    else:
        for weight, share, count, where in rows:
            click.echo(f"{weight}  {share}  {count} events  {where}")
    if not as_json:
        events = sum(size.events for size in found)
        click.echo(f"{whole / (1 << 20):10.2f} MiB in {events:,} events of {len(found)} sources")
    return Exit.WELL
