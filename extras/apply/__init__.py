"""Configuration as files: `sanderling apply` makes a service match the files of a folder, and changes nothing else.

`reading.py` parses the files, `attaching.py` fetches the service's records, `planning.py` compares the two and decides
(pure), `acting.py` executes, `showing.py` prints. `kinds/` has one file and table row per kind of record. `writing.py`
goes from service to files. See docs/decisions/managed-records.md. No setting switches it on: its command runs when
typed.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from actors.extras import Extra

if TYPE_CHECKING:
    import click

    from sanderling.client.api import Client


def _commands() -> tuple[click.Command, ...]:
    from extras.apply.commands import apply_folder

    return (apply_folder,)


def _as_files(client: Client, folder: Path, workspace: str) -> int:
    from extras.apply.exporting import export_files

    return export_files(client, folder, workspace)


EXTRA = Extra(commands=_commands, as_files=_as_files)
