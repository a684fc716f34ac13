"""`sanderling licences`: bundled software and its licences."""

from __future__ import annotations

import click

from sanderling.exits import Exit
from sanderling.flags import json_flag


def _beginning(context: click.Context, parameter: click.Parameter, typed: str) -> list[str]:
    from sanderling.licences import names

    return names(typed)


@click.command()
@click.argument("name", required=False, shell_complete=_beginning)
@click.option("--all", "whole", is_flag=True, help="All texts, one after another.")
@json_flag
def licences(name: str | None, *, whole: bool, as_json: bool) -> int:
    """List what comes with the program: version, licence (SPDX), where its text is. With a NAME, print the text.

    \b
    sanderling licences
    sanderling licences libxml2
    """
    from sanderling.json_lines import print_json
    from sanderling.licences import records, show

    if as_json:
        for record in records(name):
            print_json(record)
        return Exit.WELL
    click.echo(show(name, whole=whole))
    return Exit.WELL
