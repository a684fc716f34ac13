"""The scripts that make shells complete our commands. They ask the program itself, so they are never behind it."""

from __future__ import annotations

from click.shell_completion import ShellComplete, get_completion_class

VARIABLE = "_SANDERLING_COMPLETE"
"""What click looks for under this program's name."""


def script(shell: str) -> str:
    """Return the script for bash, zsh or fish, in its own syntax."""
    from sanderling.cli import main

    kind = get_completion_class(shell)
    if kind is None:
        raise ValueError(f"no completion for {shell}")
    # Not kind.source(): for bash that starts a bash to learn its version, and where a package is built may be none.
    return ShellComplete.source(kind(main, {}, "sanderling", VARIABLE)).rstrip("\n") + "\n"
