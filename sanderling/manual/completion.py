"""Completion scripts for shells. They ask the program itself, so they never go out of date."""

from __future__ import annotations

from click.shell_completion import ShellComplete, get_completion_class

VARIABLE = "_SANDERLING_COMPLETE"
"""The variable that Click reads for this program name."""


def script(shell: str) -> str:
    """shell: bash, zsh or fish."""
    from sanderling.cli import main

    kind = get_completion_class(shell)
    if kind is None:
        raise ValueError(f"no completion for {shell}")
    # Not kind.source(): for bash it starts bash to read its version, and a build machine may lack bash.
    return ShellComplete.source(kind(main, {}, "sanderling", VARIABLE)).rstrip("\n") + "\n"
