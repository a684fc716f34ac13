"""The service as tools for agents (Model Context Protocol), at `POST /mcp`.

Start with `tools.py` (an agent's tools), then `quoting.py` (page text as quoted data within a budget), `protocol.py`
(messages, without a network) and `endpoint.py` (one message per request).
"""
