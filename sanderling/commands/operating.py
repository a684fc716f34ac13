"""`sanderling status` and `sanderling health`: the state of the service, for people and scripts."""

from __future__ import annotations

import click

from sanderling.environment import environ
from sanderling.flags import client_flags, json_flag, loaded, settings_flags


@click.command()
@click.option("--json", "as_json", is_flag=True, help="The figures and the worst parts as one JSON object.")
@click.option("--watch", is_flag=True, help="Again every 2 s, until Ctrl-C.")
@settings_flags()
@client_flags
def status(config: str | None, service: str | None, key_file: str | None, *, as_json: bool, watch: bool) -> int:
    """Show the running service on one screen: figures, and what is worst.

    It asks the admin socket in the data folder, or with --url a service elsewhere, with a key of the scope admin.
    Exit code: 0 ready, 1 not ready, 69 not reachable.

    \b
    sanderling status
    sanderling status --json | jq .sources.overdue
    """
    from sanderling.client.running import client_of, folder_here
    from sanderling.client.status import status as show

    folder = folder_here(config)
    return show(lambda: client_of(folder, service, key_file, environ()), as_json=as_json, watch=watch)


@click.command()
@settings_flags("data")
@click.option("--url", metavar="URL", help="The service's address, instead of its admin socket.")
@json_flag
def health(config: str | None, data: str | None, url: str | None, *, as_json: bool) -> int:
    """Ask whether the service is ready: one line, exit code 0 or 1. For health checks; needs no key.

    \b
    sanderling health
    sanderling health --url http://127.0.0.1:8080
    """
    from sanderling.client.health import health as ask

    return ask(loaded(config, {"data": data}).settings.data, url, as_json=as_json)
