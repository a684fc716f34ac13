"""`sanderling sources show`, `check`, `enable`, `disable` and `delete`: one source, through the running service."""

from __future__ import annotations

import click

from sanderling.flags import client_flags


@click.command("show")
@click.argument("name", metavar="SOURCE")
@click.option("--json", "as_json", is_flag=True, help="The service's own record, with its status.")
@client_flags
def show(name: str, service: str | None, key_file: str | None, *, as_json: bool) -> int:
    """Show one source: what it is, how it does and why, when it is looked at. By its id, URL or a part of its URL.

    \b
    sanderling sources show example.org/news
    """
    from sanderling.asking import sources as acts
    from sanderling.running import client_here

    return acts.show(client_here(service, key_file), name, as_json=as_json)


@click.command("check")
@click.argument("name", metavar="SOURCE")
@client_flags
def check(name: str, service: str | None, key_file: str | None) -> int:
    """Look at a source now, within what politeness allows."""
    from sanderling.asking import sources as acts
    from sanderling.running import client_here

    return acts.check(client_here(service, key_file), name)


@click.command("enable")
@click.argument("name", metavar="SOURCE")
@client_flags
def enable(name: str, service: str | None, key_file: str | None) -> int:
    """Watch a source again."""
    from sanderling.asking import sources as acts
    from sanderling.running import client_here

    return acts.switch(client_here(service, key_file), name, on=True)


@click.command("disable")
@click.argument("name", metavar="SOURCE")
@client_flags
def disable(name: str, service: str | None, key_file: str | None) -> int:
    """Stop watching a source, and keep it."""
    from sanderling.asking import sources as acts
    from sanderling.running import client_here

    return acts.switch(client_here(service, key_file), name, on=False)


@click.command("delete")
@click.argument("name", metavar="SOURCE")
@click.option("--yes", is_flag=True, help="Don't ask.")
@client_flags
def delete(name: str, service: str | None, key_file: str | None, *, yes: bool) -> int:
    """Forget a source; its events stay in the log."""
    from sanderling.asking import sources as acts
    from sanderling.running import client_here

    return acts.delete(client_here(service, key_file), name, sure=yes)
