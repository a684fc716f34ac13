"""`python -m bench [NAME...]`: runs the benchmarks of this folder and prints one table of them.

A benchmark is a module beside this one with a function `rows()`. It measures its limit (a peer, or the bare machinery)
and the product in the same run on the same machine, and returns rows: dicts of figure, goal, limit, ours, ratio (ours
to the limit, or None) and met. The ratio is what counts; the absolute numbers only give the scale.
"""

from __future__ import annotations

import platform
import sys
from collections.abc import Mapping
from datetime import date
from importlib import import_module
from pathlib import Path
from typing import Any

COLUMNS = ("figure", "goal", "limit", "ours", "ratio", "met")


def names() -> list[str]:
    """Return the benchmarks of this folder."""
    return sorted(path.stem for path in Path(__file__).parent.glob("[a-z]*.py") if "\ndef rows(" in path.read_text())


def cells(row: Mapping[str, Any]) -> list[str]:
    """Return a row as texts, in the order of the columns."""
    ratio = "" if row["ratio"] is None else f"{float(row['ratio']):.2f}"
    return [*(str(row[name]) for name in COLUMNS[:4]), ratio, "yes" if row["met"] else "NO"]


def markdown(rows: list[list[str]]) -> str:
    """Return rows as a Markdown table whose columns stand in line."""
    table = [list(COLUMNS), *rows]
    wide = [max(len(row[column]) for row in table) for column in range(len(COLUMNS))]
    lines = ["| " + " | ".join(f"{cell:<{wide[n]}}" for n, cell in enumerate(row)) + " |" for row in table]
    return "\n".join([lines[0], "|" + "|".join("-" * (n + 2) for n in wide) + "|", *lines[1:]])


def main(wanted: list[str]) -> int:
    """Run the benchmarks, print the table; return 2 for an unknown name."""
    unknown = sorted(set(wanted) - set(names()))
    if unknown:
        print(f"bench: no such benchmark: {', '.join(unknown)}; there are {', '.join(names())}", file=sys.stderr)
        return 2
    rows: list[list[str]] = []
    for name in wanted or names():
        print(f"bench: {name}...", file=sys.stderr)
        rows += [cells(row) for row in import_module(f"bench.{name}").rows()]
    print(f"{date.today()}, Python {platform.python_version()}, {platform.machine()}\n\n{markdown(rows)}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
