"""The entry point: `python -m sanderling`, with `worker` for the parent of those in the jail, and with `browser-holder`
for what keeps a browser.
"""

from __future__ import annotations

import sys


def main() -> int:
    """Run a command and return its exit code. A worker is dispatched before anything heavy is imported."""
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
