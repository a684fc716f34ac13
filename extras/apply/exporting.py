"""`sanderling export --as-config`: write a service as files that would recreate it."""

from __future__ import annotations

from pathlib import Path

import click
import msgspec
import trio

from extras.apply.attaching import state_of, templates_of
from extras.apply.reading import TABLES
from extras.apply.sides import State
from extras.apply.writing import write, written
from sanderling.client.api import Client, WaitingClient
from sanderling.exits import CommandFailed, Exit
from storage.records.identity import Workspace


def export_files(client: Client, folder: Path, workspace: str) -> int:
    """Write the files and report their contents. Raises CommandFailed."""
    try:
        msgspec.convert(workspace, Workspace)
    except msgspec.ValidationError:
        says = "--workspace: at most 63 of a-z, 0-9, - and _, with a letter or a digit first."
        raise CommandFailed(says, Exit.USAGE) from None

    async def read() -> State:
        async with client:
            patient = WaitingClient(client)
            state = await state_of(patient)
            return state._replace(templates=await templates_of(patient, state))

    made = written(trio.run(read), workspace)
    write(folder, made.files)
    nouns = {kind.id: kind.noun for kind in TABLES.values()}
    counts = [f"{count:,} {nouns[kind]}{'' if count == 1 else 's'}" for kind, count in made.counts.items() if count]
    click.echo(f"{folder}: written: {', '.join(counts) or 'nothing'}.", err=True)
    if made.variables:
        click.echo(f"The files name variables for what is secret: {', '.join(made.variables)}.", err=True)
    return Exit.WELL
