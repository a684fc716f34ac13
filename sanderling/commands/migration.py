"""`sanderling import`: move in from another program or another instance."""

from __future__ import annotations

from pathlib import Path
from typing import cast

import click

from sanderling.exits import CommandFailed, Exit
from sanderling.flags import client_flags, settings_flags
from sanderling.migration.kinds import KINDS, Kind


@click.command("import")
@click.argument("file")
@click.option("--from", "program", type=click.Choice(KINDS), help="Of which program it is; else its content says so.")
@click.option("--dry-run", is_flag=True, help="Only say what would be done; needs no service.")
@click.option("--yes", is_flag=True, help="Do it without asking.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object a line: what would be done, or what was.")
@client_flags
@settings_flags()
def move_in(
    file: str,
    program: str | None,
    service: str | None,
    key_file: str | None,
    *,
    dry_run: bool,
    yes: bool,
    as_json: bool,
    config: str | None,
) -> int:
    """Move in: FILE is what another program has exported, a list of addresses, or - for the standard input.

    It says first what becomes of each thing: exactly, approximately (and how), not at all (and why). Then, on a yes, it
    adds the rest through the running service; with --url the key needs the scopes
    sources:write, alerts:read, alerts:write and stream:read.
    What is there already stays as it is. Exit code: 0 all is there, 1 something was refused.

    What `sanderling export` wrote goes straight into the data folder of an empty instance (--data), whose service must
    not run.

    \b
    sanderling import feeds.opml
    sanderling import --dry-run changedetection-backup.zip
    sanderling import --yes --from urls list.txt
    sanderling import sanderling.ndjson --data /var/lib/sanderling
    """
    from sanderling.client.running import client_here
    from sanderling.flags import loaded, told_folder
    from sanderling.migration import moving_in
    from sanderling.migration.whole.taking_over import take_over, whole_instance

    if dry_run and yes:
        raise CommandFailed("--dry-run and --yes exclude each other.", Exit.USAGE)
    if program is None and Path(file).is_dir():
        program = "changedetection"
    with whole_instance(file, program) as stream:
        if stream is not None:
            settings = loaded(config, {"data": told_folder()}).settings
            return take_over(stream, file, settings, dry_run=dry_run, yes=yes, as_json=as_json)
    data = moving_in.bytes_of(file)
    kind = cast("Kind", program) if program else moving_in.found_kind(file, data)
    plan = moving_in.plan_of(file, data, kind)
    if dry_run:
        moving_in.show(plan, as_json=as_json)
        return Exit.WELL
    client = client_here(service, key_file)
    if not yes:
        moving_in.show(plan, as_json=as_json)
    if not moving_in.agreed(plan, client, yes=yes):
        return Exit.WELL
    return moving_in.do(plan, client, as_json=as_json)
