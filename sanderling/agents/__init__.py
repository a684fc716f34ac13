"""Agents: the service's `/mcp` on standard input and output (`sanderling mcp`), for programs that start a command."""
