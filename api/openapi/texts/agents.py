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
its error, both as 200; a notification is taken (202). The answer to `initialize` names a session (`Mcp-Session-Id`), \
which only who subscribes needs. What each tool may do is what the key may do on the operation behind it; each counts \
as a request of the key. docs/agents.md has the tools.""",
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
    "GET /mcp": Operation(
        name="followMcpNotifications",
        tag=_TAG,
        explains="""\
The notifications of a session as Server-Sent Events: `notifications/resources/updated` names a resource that has \
changed, once for each stretch of the log; read it, or ask `changes_since`. The `id` of a frame is a position of the \
log: with it as `Last-Event-ID` a stream goes on there, in any session. A second stream of a session takes over. A \
session that is not known here (after a restart, at another node) is 404: begin anew with `initialize`.""",
        shows={
            200: {
                "text/event-stream": "event: message\n"
                'data: {"jsonrpc":"2.0","method":"notifications/resources/updated",'
                '"params":{"uri":"sanderling://changes"}}\n'
                "id: 019db0a4-6a10-7000-8000-000000000000\n\n"
            }
        },
    ),
    "DELETE /mcp": Operation(
        name="endMcpSession", tag=_TAG, explains="Ends a session, and forgets what it has subscribed to."
    ),
}
