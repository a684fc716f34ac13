"""The service as tools for agents (Model Context Protocol), at `POST /mcp` and as the command `sanderling mcp`.

Start with `tools.py` (an agent's tools), then `quoting.py` (page text as quoted data within a budget), `protocol.py`
(messages, without a network), `endpoint.py` (one message per request) and `stdio.py` (the command, a bridge to `/mcp`).
No setting switches it: the service imports its routes when it starts.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from actors.extras import Extra

if TYPE_CHECKING:
    import click

    from api.route import Route


def _commands() -> tuple[click.Command, ...]:
    from extras.agents.commands import mcp

    return (mcp,)


def _routes() -> Mapping[str, Sequence[Route]]:
    from extras.agents.endpoint import ROUTES

    return {"agents": ROUTES}


EXTRA = Extra(commands=_commands, routes=_routes)
