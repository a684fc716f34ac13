"""`sanderling import` from another program or instance, and `sanderling export` of a whole instance."""

from __future__ import annotations

from pathlib import Path
from typing import cast

import click

from actors.extras import TABLE, extra
from extras.migrate.drafting import KINDS, Kind
from sanderling.environment import environ
from sanderling.exits import CommandFailed, Exit
from sanderling.flags import KEY_HELP, URL_HELP, client_flags, loaded, settings_flags, told_folder


@click.command("import")
@click.argument("file")
@click.option("--from", "program", type=click.Choice(KINDS), help="Program of the file; detected by default.")
@click.option("--dry-run", is_flag=True, help="Only print the plan; needs no service.")
@click.option("--yes", is_flag=True, help="Do it without asking.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object per line: the plan, or the results.")
@client_flags
@settings_flags()
def import_command(
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
    """Import FILE: another program's export, a list of addresses, or - for the standard input.

    It first prints a plan: each item is imported exactly, approximately (and how), or not at all (and why). After a
    confirmation it adds the items through the running service; with --url the key needs the scopes sources:write,
    alerts:read, alerts:write and stream:read. Existing objects stay unchanged. Exit code: 0 everything is imported, 1
    something was refused.

    An export by `sanderling export` goes straight into the data folder of an empty instance (--data); its service
    must not run.

    \b
    sanderling import feeds.opml
    sanderling import --dry-run changedetection-backup.zip
    sanderling import --yes --from urls list.txt
    sanderling import sanderling.ndjson --data /var/lib/sanderling
    """
    from extras.migrate import importing
    from extras.migrate.whole.loading import take_over, whole_instance
    from sanderling.client.api import client_here

    if dry_run and yes:
        raise CommandFailed("--dry-run and --yes exclude each other.", Exit.USAGE)
    if program is None and Path(file).is_dir():
        program = "changedetection"
    with whole_instance(file, program) as stream:
        if stream is not None:
            settings = loaded(config, {"data": told_folder()}).settings
            return take_over(stream, file, settings, dry_run=dry_run, yes=yes, as_json=as_json)
    plan = importing.plan_of(file, importing.bytes_of(file), cast("Kind | None", program))
    if dry_run:
        importing.show(plan, as_json=as_json)
        return Exit.WELL
    client = client_here(service, key_file)
    if not yes:
        importing.show(plan, as_json=as_json)
    if not importing.confirmed(plan, client, yes=yes):
        return Exit.WELL
    return importing.do(plan, client, as_json=as_json)


@click.command("export")
@click.argument("file", required=False)
@click.option("--no-events", is_flag=True, help="Leave out the events: sources, alerts and destinations only.")
@click.option("--since", metavar="TIME|ID", help="Only the events from a time (RFC 3339), or after an event's id.")
@click.option("--schema", is_flag=True, help="Print the JSON Schema of the lines instead.")
@click.option("--as-config", metavar="DIR", help="Write TOML files for `sanderling apply` instead.")
@click.option("--workspace", default="main", show_default=True, help="With --as-config: name of the workspace.")
@click.option("--url", "service", metavar="URL", help=f"With --as-config: {URL_HELP}")
@click.option("--key-file", metavar="FILE", help=f"With --as-config: {KEY_HELP}")
@settings_flags("data")
def export_command(
    config: str | None,
    file: str | None,
    *,
    no_events: bool,
    since: str | None,
    schema: bool,
    as_config: str | None,
    workspace: str,
    service: str | None,
    key_file: str | None,
    **flags: str | None,
) -> int:
    """Write a whole instance to FILE as documented JSON, one object a line; - is the standard output.

    It has sources with their state, alerts, destinations, and events with their ids and signatures. The
    service may run. No secret is exported: no API keys, password, webhook secrets or private keys (`sanderling backup`
    keeps those). `sanderling import` loads it into an empty instance.

    \b
    sanderling export sanderling.ndjson
    sanderling export - --no-events | zstd > sources.ndjson.zst
    sanderling export --as-config watch/
    """
    from extras.migrate.whole.reading import counted
    from extras.migrate.whole.writing import position_of, snapshot_of, write_export

    if schema:
        from extras.migrate.whole.reading import as_text

        click.echo(as_text(), nl=False)
        return Exit.WELL
    if as_config is not None:
        from sanderling.client.api import client_of

        as_files = next((found for module in TABLE if (found := extra(module).as_files) is not None), None)
        if file is not None or no_events or since is not None:
            raise CommandFailed("--as-config can't be combined with FILE, --no-events or --since.", Exit.USAGE)
        if as_files is None:
            raise CommandFailed("--as-config needs the extra extras/apply, which this program lacks.", Exit.USAGE)
        client = client_of(loaded(config, flags).settings.data, service, key_file, environ())
        return as_files(client, Path(as_config), workspace)
    if file is None:
        raise CommandFailed("Name the file to write, or - for the standard output.", Exit.USAGE)
    if no_events and since is not None:
        raise CommandFailed("--no-events and --since exclude each other.", Exit.USAGE)
    end = write_export(snapshot_of(loaded(config, flags).settings), file, position_of(since), events=not no_events)
    where = "" if file == "-" else f"{file}: "
    click.echo(f"{where}written: {counted(end)}, without secrets.", err=True)
    return Exit.WELL
