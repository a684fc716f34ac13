"""The arguments of `python -m tests.simulation`."""

from __future__ import annotations

import argparse
import sys

from bench.page import git
from tests.simulation.command import ONLY, simulate, simulate_deliveries, walk


def main() -> int:
    parser = argparse.ArgumentParser(
        prog="python -m tests.simulation",
        description="Run the whole service in a simulated world that SEED determines, and check its promises.",
    )
    parser.add_argument(
        "seed", nargs="?", default="1", help="with --only also a range such as 1..1000: then only what broke is shown"
    )
    parser.add_argument("--days", type=float, default=1.0, help="simulated days")
    parser.add_argument("--sources", type=int, default=10, help="simulated sources")
    parser.add_argument("--verbose", "-v", action="store_true", help="the whole timeline, instead of its ends")
    parser.add_argument("--only", choices=list(ONLY), help="a world that is about one thing; sets its own days")
    parser.add_argument(
        "--walk", type=int, metavar="N", help="N worlds of all kinds, drawn by the commit that is checked out"
    )
    given = parser.parse_args()
    if given.walk is not None:
        return walk(given.walk, git("rev-parse", "HEAD"))
    if given.only is not None:
        return simulate_deliveries(given.seed, ONLY[given.only], verbose=given.verbose)
    return simulate(given.seed, days=given.days, sources=given.sources, verbose=given.verbose)


if __name__ == "__main__":
    sys.exit(main())
