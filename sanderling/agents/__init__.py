"""Agents: the service's `/mcp` on stdin and stdout (`sanderling mcp`), for programs that start a command."""
