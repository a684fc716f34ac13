"""`sanderling publications`: events without a key at a secret address, through the running service."""

from __future__ import annotations

from typing import Any

import click

from sanderling.flags import client_flags


@click.group()
def publications() -> None:
    """Publish events: as Atom, RSS and JSON Feed, and as a page, at addresses that nobody can guess.

    PUBLICATION is its id, its title or a part of that, or a part of its address.
    """


@publications.command("create")
@click.argument("title")
@click.option("--source", "sources", multiple=True, help="Events of this watched URL; repeatable.")
@click.option("--tag", "tags", multiple=True, help="Events with this tag; repeatable.")
@click.option("--alert", "alerts", multiple=True, help="What this alert matches; repeatable.")
@click.option("--channel", help="What a stream of this name carries.")
@click.option("--private", "private", multiple=True, help="Show this private source, too; repeatable.")
@click.option("--json", "as_json", is_flag=True, help="The service's own record.")
@client_flags
def create(title: str, service: str | None, key_file: str | None, **shown: Any) -> int:
    """Publish events under a TITLE, and print the addresses. Without options it shows all sources but private ones:
    those that are checked with headers, or in an opened network.

    \b
    sanderling publications create Prices --tag prices
    sanderling publications create "The ferry" --source ferry --alert prices
    """
    from sanderling.client import publications as acts
    from sanderling.client.running import client_here

    return acts.create(client_here(service, key_file), title, **shown)


@publications.command("list")
@click.option("--json", "as_json", is_flag=True, help="The service's own records, one a line.")
@client_flags
def listed(service: str | None, key_file: str | None, *, as_json: bool) -> int:
    """List the publications, oldest first: id, title, address of the page."""
    from sanderling.client import publications as acts
    from sanderling.client.running import client_here

    return acts.list_publications(client_here(service, key_file), as_json=as_json)


@publications.command("show")
@click.argument("name", metavar="PUBLICATION")
@click.option("--json", "as_json", is_flag=True, help="The service's own record.")
@client_flags
def show(name: str, service: str | None, key_file: str | None, *, as_json: bool) -> int:
    """Show what a publication shows, and its addresses."""
    from sanderling.client import publications as acts
    from sanderling.client.running import client_here

    return acts.show(client_here(service, key_file), name, as_json=as_json)


@publications.command("readdress")
@click.argument("name", metavar="PUBLICATION")
@click.option("--yes", is_flag=True, help="Don't ask.")
@client_flags
def readdress(name: str, service: str | None, key_file: str | None, *, yes: bool) -> int:
    """Give a publication another address. The old ones answer 404 from then on, for everybody."""
    from sanderling.client import publications as acts
    from sanderling.client.running import client_here

    return acts.readdress(client_here(service, key_file), name, sure=yes)


@publications.command("delete")
@click.argument("name", metavar="PUBLICATION")
@click.option("--yes", is_flag=True, help="Don't ask.")
@client_flags
def delete(name: str, service: str | None, key_file: str | None, *, yes: bool) -> int:
    """Delete a publication: its addresses answer 404. The events stay."""
    from sanderling.client import publications as acts
    from sanderling.client.running import client_here

    return acts.delete(client_here(service, key_file), name, sure=yes)
