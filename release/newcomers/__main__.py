"""Goes the ways: `python -m release.newcomers DIST [WAY ...]`, all of them without a name. Ends with 1 if one fails.

A way whose tool this machine has not is named and not gone, which is no failure.
"""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

from release.newcomers.journey import travel
from release.newcomers.place import Refused, a_place
from release.newcomers.ways import WAYS, Way

TOP = Path(__file__).parents[2]


def main(dist: Path, *names: str) -> int:
    """Go the named ways and print a row for each; return the exit code."""
    if unknown := set(names) - {way.name for way in WAYS}:
        print(f"no such way: {', '.join(sorted(unknown))}; there are: {', '.join(way.name for way in WAYS)}")
        return 2
    print(f"{'way':<16} {'install':>8} {'serving':>8} {'event':>8} {'stop':>8}   in seconds", flush=True)
    gone = [_gone(way, dist) for way in WAYS if not names or way.name in names]
    return 0 if all(gone) else 1


def _gone(way: Way, dist: Path) -> bool:
    if way.tool and shutil.which(way.tool) is None:
        print(f"{way.name:<16} not gone: {way.tool} is not on this machine", flush=True)
        return True
    lacks = [pattern for pattern in way.needs if not list(dist.glob(pattern))]
    if lacks:
        print(f"{way.name:<16} not gone: {dist} has no {', '.join(lacks)}", flush=True)
        return False
    try:
        with a_place(way, dist) as place:
            figures = travel(way, place, TOP)
    except Refused as error:
        print(f"{way.name:<16} FAILED: {error}", flush=True)
        return False
    print(f"{way.name:<16} {' '.join(f'{each:8.1f}' for each in figures)}", flush=True)
    return True


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]).resolve(), *sys.argv[2:]))
