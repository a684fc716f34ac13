"""`sanderling apply`: make a service match the files of a folder."""

from __future__ import annotations

from pathlib import Path

import click

from sanderling.exits import CommandFailed, Exit
from sanderling.flags import client_flags


@click.command("apply")
@click.argument("folder", metavar="DIR", required=False)
@click.option("--plan", "only_plan", is_flag=True, help="Show what would be done, and do nothing.")
@click.option("--exit-code", is_flag=True, help="With --plan: exit code 3 when something is to be done, else 0.")
@click.option("--yes", is_flag=True, help="Don't ask.")
@click.option("--adopt", is_flag=True, help="Take over what is there already and no files manage.")
@click.option("--no-delete", is_flag=True, help="Keep what no file has any more.")
@click.option("--allow-deletions", is_flag=True, help="Delete also more than a quarter of what the files manage.")
@click.option("--workspace", help="The name of these files, where none of them says it.")
@click.option("--json", "as_json", is_flag=True, help="The plan as one object, then each act that is done.")
@click.option("--schema", is_flag=True, help="Print the JSON Schema of the files, for editors, and do nothing else.")
@client_flags
def apply_folder(
    folder: str | None,
    service: str | None,
    key_file: str | None,
    *,
    only_plan: bool,
    exit_code: bool,
    yes: bool,
    adopt: bool,
    no_delete: bool,
    allow_deletions: bool,
    workspace: str | None,
    as_json: bool,
    schema: bool,
) -> int:
    """Make the service as the TOML files in DIR say: sources, alerts, destinations, tags, publications, by name.

    What the files do not name is not touched. Of a secret they say where it is: { env = "NAME" }. A second run has
    nothing to do. With --url the key needs sources:read, sources:write, alerts:read, alerts:write, publications:read,
    publications:write and stream:read. Exit code: 0 all is done, 1 something is wrong or was refused.

    \b
    sanderling apply --plan watch/
    sanderling apply --yes watch/
    sanderling export --as-config watch/
    """
    from extras.apply.command import Asked, apply
    from sanderling.client.api import client_here

    if schema:
        from extras.apply.schema import as_text

        click.echo(as_text(), nl=False)
        return Exit.WELL
    if folder is None:
        raise CommandFailed("Name the folder of the files: sanderling apply DIR.", Exit.USAGE)
    if not Path(folder).is_dir():
        raise CommandFailed(f"{folder}: there is no such folder.", Exit.USAGE)
    if only_plan and yes:
        raise CommandFailed("--plan and --yes exclude each other.", Exit.USAGE)
    if exit_code and not only_plan:
        raise CommandFailed("--exit-code needs --plan.", Exit.USAGE)
    asked = Asked(only_plan, yes, exit_code, adopt, not no_delete, allow_deletions, workspace, as_json)
    return apply(client_here(service, key_file), Path(folder), asked)
