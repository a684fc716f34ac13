"""The entry point: `python -m sanderling`. `worker` starts the parent of the jailed workers, an extra may
have another role.
"""

from __future__ import annotations

import sys
from contextlib import nullcontext


def main() -> int:
    """Run a command and return its exit code. Workers are dispatched before any heavy import."""
    if sys.argv[1:2] == ["worker"]:
        from actors.jail.parent import main as work

        return work()
    from actors.extras import role

    if (start := role(*sys.argv[1:2])) is not None:
        return start(sys.argv[2:])
    from sanderling import without_unused

    with without_unused() if sys.argv[1:2] == ["serve"] else nullcontext():
        from sanderling.cli import run
    return run(sys.argv[1:])


if __name__ == "__main__":
    sys.exit(main())
