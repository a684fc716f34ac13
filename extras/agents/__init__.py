"""The service as tools for agents (Model Context Protocol), at `POST /mcp` and as the command `sanderling mcp`.

Start with `tools.py` (an agent's tools), then `quoting.py` (page text as quoted data within a budget), `protocol.py`
(messages, without a network), `endpoint.py` (one message per request), `subscriptions.py` (clients and their
resources) and `stdio.py` (the command, a bridge to `/mcp`). No setting switches it: the service imports its routes
when it starts.
"""

from __future__ import annotations

from actors.extras import Extra, member, members

EXTRA = Extra(
    commands=members("extras.agents.commands", "mcp"),
    routes=lambda: {"agents": member("extras.agents.endpoint", "ROUTES")()},
)
