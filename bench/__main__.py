"""`python -m bench [NAME...]`: runs benchmarks, and prints or rewrites the page of figures.

`--page FILE` replaces the sections of what ran and keeps the others. `--short` only proves that all of them run.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from bench import page
from bench.one import Result, names, run


def main(arguments: Sequence[str]) -> int:
    """Return 1 if a benchmark failed, 2 for an unknown name."""
    parser = argparse.ArgumentParser(prog="python -m bench", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME")
    parser.add_argument("--short", action="store_true", help="tiny sizes, two at a time; goals are not judged")
    parser.add_argument("--page", type=Path, help="rewrite the sections of this file")
    asked = parser.parse_args(arguments)
    if not known(asked.names):
        return 2
    if asked.short:
        return short(asked.names or names())
    failed, sections = 0, {}
    for name in asked.names or names():
        print(f"bench: {name}...", file=sys.stderr, flush=True)
        before = os.getloadavg()[0]
        result = run(name, named=bool(asked.names))
        failed += told(name, result)
        if result.records and not result.error:
            sections[result.title] = page.section(result, before)
    if asked.page is not None:
        old = asked.page.read_text("utf-8") if asked.page.exists() else ""
        asked.page.write_text(page.rewritten(old, sections), "utf-8")
    else:
        print(page.rewritten("", sections), end="")
    return min(failed, 1)


def known(asked: Sequence[str]) -> bool:
    unknown = sorted(set(asked) - set(names()))
    if unknown:
        print(f"bench: no such benchmark: {', '.join(unknown)}; there are {', '.join(names())}", file=sys.stderr)
    return not unknown


def told(name: str, result: Result) -> bool:
    """Report an absent or failed benchmark; return whether it failed."""
    if result.absent:
        print(f"bench: {name}: absent: {result.absent}", file=sys.stderr)
    if result.error:
        print(f"bench: {name} failed:\n{result.error}", file=sys.stderr)
    return bool(result.error)


def short(wanted: Sequence[str]) -> int:
    failed = 0
    with ThreadPoolExecutor(2) as pool:
        for name, result in zip(wanted, pool.map(lambda name: run(name, short=True), wanted), strict=True):
            failed += told(name, result)
            print(f"bench: {name}: {len(result.records)} rows", flush=True)
    return min(failed, 1)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
