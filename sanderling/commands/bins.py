"""`sanderling bins`: destinations that show the requests they receive, through the running service."""

from __future__ import annotations

import click

from sanderling.flags import client_flags


@click.group()
def bins() -> None:
    """Make, list, read, follow and delete webhook bins: addresses of the service that keep what they are sent.

    BIN is a bin's id, its address or a part of its address; a week after it was made it ends.
    """


@bins.command("create")
@click.option("--json", "as_json", is_flag=True, help="The service's own record.")
@client_flags
def create(service: str | None, key_file: str | None, *, as_json: bool) -> int:
    """Make a bin, and print its address. Any method may be used on it, and any path behind it.

    \b
    sanderling alerts deliver prices "$(sanderling bins create)"
    """
    from sanderling.client import bins as acts
    from sanderling.client.running import client_here

    return acts.create(client_here(service, key_file), as_json=as_json)


@bins.command("list")
@click.option("--json", "as_json", is_flag=True, help="The service's own records, one a line.")
@client_flags
def listed(service: str | None, key_file: str | None, *, as_json: bool) -> int:
    """List the bins, oldest first: id, end, address."""
    from sanderling.client import bins as acts
    from sanderling.client.running import client_here

    return acts.list_bins(client_here(service, key_file), as_json=as_json)


@bins.command("show")
@click.argument("name", metavar="BIN")
@click.option("--limit", type=click.IntRange(1), default=10, show_default=True, help="How many captures, newest first.")
@click.option("--json", "as_json", is_flag=True, help="The captures, one a line, as `sanderling verify` reads them.")
@client_flags
def show(name: str, service: str | None, key_file: str | None, *, limit: int, as_json: bool) -> int:
    """Show what a bin was sent, newest first: request, headers, body, and whether both signatures hold.

    \b
    sanderling bins show 019a --limit 1
    sanderling bins show 019a --json > captured.jsonl
    """
    from sanderling.client import bins as acts
    from sanderling.client.running import client_here

    return acts.show(client_here(service, key_file), name, limit=limit, as_json=as_json)


@bins.command("tail")
@click.argument("name", metavar="BIN")
@click.option("--count", type=click.IntRange(1), help="Stop after this many captures.")
@click.option("--json", "as_json", is_flag=True, help="The captures, one a line, as `sanderling verify` reads them.")
@client_flags
def tail(name: str, service: str | None, key_file: str | None, *, count: int | None, as_json: bool) -> int:
    """Print what a bin is sent from now on, a line each, until Ctrl-C."""
    from sanderling.client import bins as acts
    from sanderling.client.running import client_here

    return acts.tail(client_here(service, key_file), name, count=count, as_json=as_json)


@bins.command("delete")
@click.argument("name", metavar="BIN")
@click.option("--yes", is_flag=True, help="Don't ask.")
@client_flags
def delete(name: str, service: str | None, key_file: str | None, *, yes: bool) -> int:
    """Delete a bin with what it was sent."""
    from sanderling.client import bins as acts
    from sanderling.client.running import client_here

    return acts.delete(client_here(service, key_file), name, sure=yes)
