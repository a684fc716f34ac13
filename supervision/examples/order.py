"""A database, a cache that needs it, a server that needs both: up in order, down in reverse, given up together.

Run it: `python -m supervision.examples.order`, or with the word `broken` to see it escalate and exit with code 70.
"""

# ruff: noqa: S311, T201  # an example prints its results, and its random numbers protect nothing

from __future__ import annotations

import random
import sys
from collections.abc import Awaitable, Callable

import trio

from supervision import Backoff, Child, ChildSpec, Escalate, Strategy, Supervisor

EX_SOFTWARE = 70
"""sysexits.h: an internal error, after which a service manager restarts the process."""


def part(name: str, *, broken: bool = False) -> Callable[[Child], Awaitable[None]]:
    """Return a child that prints when it starts and stops."""

    async def run(child: Child) -> None:
        await trio.sleep(0.01)
        child.ready()
        print("up  ", name)
        try:
            if broken:
                raise ConnectionError(f"{name} lost its disk")
            await child.stopping.wait()
        finally:
            print("down", name)

    return run


async def main(broken: bool) -> int:
    """Run the tree for a moment; return the exit code."""
    quick = Backoff(first=0.01, ceiling=0.01)
    specs = [
        ChildSpec("database", part("database"), ready_within=1),
        ChildSpec("cache", part("cache", broken=broken), ready_within=1, backoff=quick),
        ChildSpec("server", part("server"), ready_within=1),
    ]
    tree = Supervisor("root", specs, strategy=Strategy.REST_FOR_ONE, intensity=2, chance=random.Random(1))
    with trio.move_on_after(0.5):
        try:
            await tree.run()
        except Escalate as error:
            print("given up:", error)
            return EX_SOFTWARE
    return 0


if __name__ == "__main__":
    sys.exit(trio.run(main, sys.argv[1:] == ["broken"]))
