"""`sanderling kinds`: list the kinds of destinations, and check the user's own files."""

from __future__ import annotations

from pathlib import Path

import click

from sanderling.exits import CommandFailed, Exit
from sanderling.flags import json_flag, loaded, settings_flags


@click.group()
def kinds() -> None:
    """List, show and check kinds of destinations: chats, phones, on-call services, programs."""


@kinds.command("list")
@json_flag
@settings_flags("kinds")
def listed(config: str | None, *, as_json: bool, **flags: str | None) -> int:
    """List the kinds of destinations, built-in ones and those of your own folder."""
    from actors.destination_kinds.table import NO_MAIL, kinds_of
    from sanderling.client.kind_pages import as_record
    from sanderling.client.listing import for_a_person, print_list
    from sanderling.json_lines import print_json
    from sanderling.notifications import messengers_of
    from storage.records.secrecy import plain

    found = messengers_of(loaded(config, flags).settings.kinds)
    rows = []
    for kind in kinds_of(found, NO_MAIL).values():
        if as_json:
            print_json(as_record(kind))
            continue
        asks = ", ".join(field.name for field in kind.fields) or "-"
        rows.append((kind.id, kind.family, plain(kind.label), asks))
    if for_a_person():
        print_list(("kind", "for", "name", "asks for"), rows)
    else:
        for id, family, label, asks in rows:
            click.echo(f"{id:<16}  {family:<8}  {label:<18}  {asks}")
    for flaw in found.flaws:
        click.echo(f"sanderling: {flaw}", err=True)
    return Exit.WELL


@kinds.command("show")
@click.argument("name", metavar="KIND")
@json_flag
@settings_flags("kinds")
def show(name: str, config: str | None, *, as_json: bool, **flags: str | None) -> int:
    """Show one kind: where to get what it asks for, and the command that makes such a destination.

    \b
    sanderling kinds show ntfy
    """
    from actors.destination_kinds.table import NO_MAIL, kinds_of
    from sanderling.client.kind_pages import as_page, as_record
    from sanderling.json_lines import print_json
    from sanderling.notifications import messengers_of

    kind = kinds_of(messengers_of(loaded(config, flags).settings.kinds), NO_MAIL).get(name)
    if kind is None:
        raise CommandFailed(f"{name}: there is no such kind; `sanderling kinds list` shows them.", Exit.USAGE)
    if as_json:
        print_json(as_record(kind))
    else:
        click.echo(as_page(kind))
    return Exit.WELL


@kinds.command("check")
@click.argument("folder", type=click.Path(path_type=Path))
@json_flag
def check(folder: Path, *, as_json: bool) -> int:
    """Check the *.toml files of a FOLDER as the service would read them. The exit code is 1 when any is wrong.

    \b
    sanderling kinds check ./my-kinds
    """
    from actors.catalogue.catalogue import BUILT_IN
    from sanderling.client.template_pages import print_check
    from sanderling.notifications import messengers_of

    found = messengers_of(str(folder))
    mine = [entry for entry in found.entries() if entry.origin != BUILT_IN]
    if as_json:
        print_check(((entry.origin, entry.record.id) for entry in mine), found.flaws)
        return Exit.FAILED if found.flaws else Exit.WELL
    for entry in mine:
        click.echo(f"{entry.origin}: {entry.record.id} ({entry.record.label}) is well")
    for flaw in found.flaws:
        click.echo(str(flaw))
    if not mine and not found.flaws:
        click.echo(f"There is no *.toml file in {folder}.", err=True)
    return Exit.FAILED if found.flaws else Exit.WELL
