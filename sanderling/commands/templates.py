"""`sanderling templates`: list the templates, and check the user's own files."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from sanderling.exits import CommandFailed, Exit
from sanderling.flags import json_flag, loaded, settings_flags

if TYPE_CHECKING:
    from actors.catalogue.catalogue import Catalogue
    from actors.templates.template import Template


@click.group()
def templates() -> None:
    """List, show and check templates: groups of sources with suggested alerts, attached in one call."""


@templates.command("list")
@json_flag
@settings_flags("templates")
def listed(config: str | None, *, as_json: bool, **flags: str | None) -> int:
    """List the built-in templates and those of your own folder."""
    from sanderling.client.listing import for_a_person, print_list
    from sanderling.client.template_pages import TEMPLATE_HEADS, as_line, as_record, as_row
    from sanderling.json_lines import print_json
    from sanderling.notifications import templates_of

    found = templates_of(loaded(config, flags).settings.templates)
    entries = found.entries()
    if for_a_person() and not as_json:
        print_list(TEMPLATE_HEADS, [as_row(entry) for entry in entries])
        entries = ()
    for entry in entries:
        if as_json:
            print_json(as_record(entry))
        else:
            click.echo(as_line(entry))
    _tell_flaws(found)
    return Exit.WELL


@templates.command("show")
@click.argument("name", metavar="ID")
@json_flag
@settings_flags("templates")
def show(name: str, config: str | None, *, as_json: bool, **flags: str | None) -> int:
    """Show one template: what it takes, attaches and suggests.

    \b
    sanderling templates show gtm-competitor-watch
    """
    from sanderling.client.template_pages import as_page, as_record
    from sanderling.json_lines import print_json
    from sanderling.notifications import templates_of

    found = templates_of(loaded(config, flags).settings.templates)
    entry = next((entry for entry in found.entries() if entry.record.id == name), None)
    if entry is None:
        raise CommandFailed(f"{name}: there is no such template; `sanderling templates list` shows them.", Exit.USAGE)
    if as_json:
        print_json(as_record(entry))
    else:
        click.echo(as_page(entry))
    return Exit.WELL


@templates.command("check")
@click.argument("folder", type=click.Path(path_type=Path))
@json_flag
def check(folder: Path, *, as_json: bool) -> int:
    """Check the *.toml files of a FOLDER as the service would read them. The exit code is 1 when any is wrong.

    \b
    sanderling templates check ./my-templates
    """
    from actors.catalogue.catalogue import BUILT_IN
    from sanderling.client.template_pages import print_check
    from sanderling.notifications import templates_of

    found = templates_of(str(folder))
    mine = [entry for entry in found.entries() if entry.origin != BUILT_IN]
    if as_json:
        print_check(((entry.origin, entry.record.id) for entry in mine), found.flaws)
        return Exit.FAILED if found.flaws else Exit.WELL
    for entry in mine:
        click.echo(f"{entry.origin}: {entry.record.id}, version {entry.record.version}, is well")
    for flaw in found.flaws:
        click.echo(str(flaw))
    if not mine and not found.flaws:
        click.echo(f"There is no *.toml file in {folder}.", err=True)
    return Exit.FAILED if found.flaws else Exit.WELL


def _tell_flaws(found: Catalogue[Template]) -> None:
    for flaw in found.flaws:
        click.echo(f"sanderling: {flaw}", err=True)
