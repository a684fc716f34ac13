"""Agents."""

from __future__ import annotations

from api.openapi.operation import Operation

_TAG = "Agents"
OPERATIONS: dict[str, Operation] = {
    "POST /mcp": Operation(
        name="sendMcpMessage",
        tag=_TAG,
        explains="""\
The Model Context Protocol over HTTP: one message of JSON-RPC 2.0 a request. A request is answered with its result or \
its error, both as 200; a notification is taken (202). There is no session and no stream: `GET /mcp` is 405. What each \
tool may do is what the key may do on the operation behind it; each counts as a request of the key. docs/agents.md has \
the tools.""",
        asks={
            "The tools": {"jsonrpc": "2.0", "id": 1, "method": "tools/list"},
            "What changed in a day": {
                "jsonrpc": "2.0",
                "id": 2,
                "method": "tools/call",
                "params": {"name": "changes_since", "arguments": {"since": "24h"}},
            },
        },
        shows={
            200: {
                "jsonrpc": "2.0",
                "id": 2,
                "result": {
                    "content": [{"type": "text", "text": "Nothing new.\nnext: 2026-10-17T10:24:07.120Z"}],
                    "structuredContent": {"next": "2026-10-17T10:24:07.120Z", "more": False, "events": []},
                },
            }
        },
    ),
}
