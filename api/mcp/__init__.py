"""Agents: the service as tools of the Model Context Protocol, at `POST /mcp`.

Start with `tools.py` (what an agent can do), then `quoting.py` (what pages say, as quoted data within a budget),
`protocol.py` (messages, without a network) and `endpoint.py` (one message a request).
"""
