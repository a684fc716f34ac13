"""`sanderling licences`: what comes with the program, under which licences."""

from __future__ import annotations

import click

from sanderling.exits import Exit


def _beginning(context: click.Context, parameter: click.Parameter, typed: str) -> list[str]:
    from sanderling.licences.command import names

    return names(typed)


@click.command()
@click.argument("name", required=False, shell_complete=_beginning)
@click.option("--all", "whole", is_flag=True, help="All texts, one after another.")
def licences(name: str | None, *, whole: bool) -> int:
    """List what comes with the program: version, licence (SPDX), where its text is. With a NAME, print the text.

    \b
    sanderling licences
    sanderling licences libxml2
    """
    from sanderling.licences.command import show

    click.echo(show(name, whole=whole))
    return Exit.WELL
