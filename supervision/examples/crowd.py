"""Ten thousand children, one of them hopeless: it is quarantined alone, and all stop within a second.

Run it: `python -m supervision.examples.crowd`. Its clock is virtual, so ten minutes take a moment.
"""

# ruff: noqa: ASYNC110, S311, T201  # an example prints its results, and its random numbers protect nothing

from __future__ import annotations

import random
import sys

import trio
from trio.testing import MockClock

from supervision import Child, ChildSpec, DynamicSupervisor


async def patient(child: Child) -> None:
    """Wake up every hour and do nothing."""
    while True:
        await trio.sleep(3600)


async def hopeless(child: Child) -> None:
    """Fail at every start."""
    raise RuntimeError("this will never work")


async def main() -> None:
    """Start them, let ten minutes pass, show the worst, stop."""
    crowd = DynamicSupervisor("crowd", chance=random.Random(1), stop_budget=1.0)
    async with trio.open_nursery() as nursery:
        nursery.start_soon(crowd.run)
        await crowd.wait_running()
        for number in range(10_000):
            crowd.start_child(ChildSpec(f"{number:05}", hopeless if number == 4321 else patient))
        await trio.sleep(600)
        picture = crowd.snapshot()
        worst = picture.page(0, 1)[0]
        print(picture)
        print(worst.path, worst.state, worst.crash)
        crowd.stop()
    print(len(crowd), "left")


if __name__ == "__main__":
    sys.exit(trio.run(main, clock=MockClock(autojump_threshold=0)))
