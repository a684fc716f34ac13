"""`sanderling console`: the running service as a full-screen terminal application."""

from __future__ import annotations

from functools import partial
from importlib.util import find_spec
from pathlib import Path

import click

from sanderling.environment import environ, on_terminal
from sanderling.exits import CommandFailed, Exit
from sanderling.flags import client_flags, settings_flags


@click.command()
@click.option("--flat", is_flag=True, help="Begin with the list, worst first, instead of the tree.")
@settings_flags()
@client_flags
def console(config: str | None, service: str | None, key_file: str | None, *, flat: bool) -> int:
    """Watch and operate the running service on the whole terminal: `?` shows the keys.

    It asks the admin socket in the data folder, or with --url a service elsewhere, with a key of the scope admin
    (and stream:read, alerts:read and alerts:write for events and deliveries).

    \b
    sanderling console
    sanderling console --url https://sanderling.example.org --key-file ~/.sanderling.key
    """
    if find_spec("textual") is None:
        raise CommandFailed("The console needs Textual: pip install textual==8.2.8", Exit.USAGE)
    if not (on_terminal(0) and on_terminal(1)):
        raise CommandFailed("The console needs a terminal; for scripts there is `sanderling status`.", Exit.USAGE)
    from sanderling import ADMIN_SOCKET
    from sanderling.client.running import client_of, folder_here
    from sanderling.client.speaking import asked
    from sanderling.console.app import run

    folder, variables = folder_here(config), environ()
    where = service or variables.get("SANDERLING_URL") or str(Path(folder) / ADMIN_SOCKET)
    first = client_of(folder, service, key_file, variables)
    asked(first, partial(first.ask, "GET", "/healthz"))  # report a wrong address before taking over the screen
    return run(client_of(folder, service, key_file, variables), where, flat=flat)
