"""The entry point: `python -m sanderling`. `worker` starts the parent of the jailed workers, `browser-holder` a process
that holds a browser.
"""

from __future__ import annotations

import sys


def main() -> int:
    """Run a command and return its exit code. Workers are dispatched before any heavy import."""
    if sys.argv[1:2] == ["worker"]:
        from actors.jail.parent import main as work

        return work()
    if sys.argv[1:2] == ["browser-holder"]:
        from actors.browser.holder import main as hold

        return hold(sys.argv[2:])
    from sanderling.cli import run

    return run(sys.argv[1:])


if __name__ == "__main__":
    sys.exit(main())
