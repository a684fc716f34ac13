"""`sanderling mcp`: the service as tools for an agent."""

from __future__ import annotations

import click

from sanderling.exits import Exit
from sanderling.flags import client_flags


@click.command()
@client_flags
def mcp(service: str | None, key_file: str | None) -> int:
    """Serve the Model Context Protocol on standard input and output, for agents.

    Add this command to the agent's settings. The key's scopes limit it: it needs stream:read and sources:read to
    read, alerts:read to try alerts, sources:write to add URLs.

    \b
    sanderling mcp --url https://sanderling.example.org --key-file ~/agent.key
    """
    import trio

    from extras.agents.stdio import Bridge, on_standard_streams
    from sanderling.client.api import client_here

    client = client_here(service, key_file)

    async def run() -> None:
        async with client:
            await on_standard_streams(Bridge(client))

    trio.run(run)
    return Exit.WELL
