"""`sanderling export`: move a whole instance out."""

from __future__ import annotations

from pathlib import Path

import click

from sanderling.environment import environ
from sanderling.exits import CommandFailed, Exit
from sanderling.flags import KEY_HELP, URL_HELP, loaded, settings_flags


@click.command("export")
@click.argument("file", required=False)
@click.option("--no-events", is_flag=True, help="Leave out the events: sources, alerts and destinations only.")
@click.option("--since", metavar="TIME|ID", help="Only the events from a time (RFC 3339), or after an event's id.")
@click.option("--schema", is_flag=True, help="Print the JSON Schema of the lines instead.")
@click.option("--as-config", metavar="DIR", help="Write the TOML files instead of which `sanderling apply` makes it.")
@click.option("--workspace", default="main", show_default=True, help="With --as-config: the name of these files.")
@click.option("--url", "service", metavar="URL", help=f"With --as-config: {URL_HELP}")
@click.option("--key-file", metavar="FILE", help=f"With --as-config: {KEY_HELP}")
@settings_flags("data")
def move_out(
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

    Sources with all that their watching remembers, alerts, destinations, events with their ids and signatures. The
    service may run. No secret travels: no API keys, password, webhook secrets or private keys (`sanderling backup`
    keeps those). `sanderling import` takes it over into an empty instance.

    \b
    sanderling export sanderling.ndjson
    sanderling export - --no-events | zstd > sources.ndjson.zst
    sanderling export --as-config watch/
    """
    from sanderling.migration.whole.lines import counted
    from sanderling.migration.whole.snapshot import snapshot_of
    from sanderling.migration.whole.writing import position_of, write_export

    if schema:
        from sanderling.migration.whole.schema import as_text

        click.echo(as_text(), nl=False)
        return Exit.WELL
    if as_config is not None:
        from sanderling.applying.exporting import export_files
        from sanderling.client.running import client_of

        if file is not None or no_events or since is not None:
            raise CommandFailed("--as-config stands without FILE, --no-events and --since.", Exit.USAGE)
        client = client_of(loaded(config, flags).settings.data, service, key_file, environ())
        return export_files(client, Path(as_config), workspace)
    if file is None:
        raise CommandFailed("Name the file to write, or - for the standard output.", Exit.USAGE)
    if no_events and since is not None:
        raise CommandFailed("--no-events and --since exclude each other.", Exit.USAGE)
    end = write_export(snapshot_of(loaded(config, flags).settings), file, position_of(since), events=not no_events)
    where = "" if file == "-" else f"{file}: "
    click.echo(f"{where}written: {counted(end)}, without secrets.", err=True)
    return Exit.WELL
