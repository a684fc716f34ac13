"""`python -m bench.compare BASE NAME...`: benchmarks of another commit and of this tree in turns, A B A B.

Base is unpacked into a folder of its own. Its own benchmarks run there if they print records, else this tree's do.
"""

from __future__ import annotations

import argparse
import io
import shutil
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from statistics import median
from typing import NamedTuple

from bench.__main__ import known
from bench.one import run
from bench.page import git, table
from bench.topic import MATERIAL, ROOT, Record

WORSE = 0.05
COLUMNS = ("row", "base", "ours", "ratio", "spread", "")
REQUIREMENTS = ("requirements/uv.txt", "requirements/test.txt")


class Checkout(NamedTuple):
    """A tree with a suitable Python. is_current: whether its benchmarks are this tree's."""

    root: Path
    python: str
    is_current: bool = True


class Comparison(NamedTuple):
    """One row of both sides. spread: the wider side's range relative to its median. worse: of ours, relatively."""

    figure: str
    base: str
    ours: str
    ratio: float
    spread: float
    worse: float

    def cells(self) -> list[str]:
        mark = "**worse**" if round(self.worse, 9) > WORSE else ""
        return [self.figure, self.base, self.ours, f"{self.ratio:.2f}", f"{100 * self.spread:.0f} %", mark]


def compared(base: Sequence[Record], ours: Sequence[Record]) -> Comparison:
    (old, new), one = ([record.ours for record in side] for side in (base, ours)), ours[0]
    before, after = median(old), median(new)
    spread = max((max(side) - min(side)) / (abs(median(side)) or 1.0) for side in (old, new))
    ratio = after / before if before else 1.0 if after == before else float("inf")
    worse = (1 - ratio if one.rises else ratio - 1) if ratio else float(one.rises)
    return Comparison(one.figure, one.text(before), one.text(after), ratio, spread, worse)


@contextmanager
def unpacked(commit: str) -> Iterator[Checkout]:
    """Yield a commit's tree, with the shared material next to it. Raises CalledProcessError for an unknown commit."""
    git("rev-parse", "--verify", "--quiet", f"{commit}^{{commit}}")
    archive = subprocess.run(["git", "archive", commit], cwd=ROOT, capture_output=True, check=True).stdout
    with tempfile.TemporaryDirectory(prefix="bench-compare-") as folder:
        root = Path(folder, "project")
        with tarfile.open(fileobj=io.BytesIO(archive)) as files:
            files.extractall(root, filter="data")
        if MATERIAL.parent.exists():
            Path(folder, "shared").symlink_to(MATERIAL.parent)
        is_current = not (root / "bench/one.py").exists()
        if is_current:
            shutil.rmtree(root / "bench", ignore_errors=True)
            shutil.copytree(ROOT / "bench", root / "bench", ignore=shutil.ignore_patterns("__pycache__"))
        yield Checkout(root, _python(root), is_current)


def _python(root: Path) -> str:
    """Return this interpreter if the tree has the same requirements, else set up a new one."""
    if all((root / name).read_bytes() == (ROOT / name).read_bytes() for name in REQUIREMENTS):
        return sys.executable
    subprocess.run([root / "bin/setup", "test"], check=True, stdout=sys.stderr)
    return str(root / ".venv/bin/python")


def measured(
    name: str, sides: Mapping[str, Checkout], rounds: int, *, short: bool
) -> tuple[list[Comparison], Sequence[str]]:
    """Run a benchmark on both sides in turns; return its rows and errors."""
    found: dict[str, dict[str, list[Record]]] = {side: {} for side in sides}
    for _ in range(rounds):
        for side, checkout in sides.items():
            print(f"bench: {name}, {side}...", file=sys.stderr, flush=True)
            result = run(name, root=checkout.root, python=checkout.python, short=short)
            if result.error:
                return [], [f"{name} does not run on {side}: {result.error.strip().splitlines()[-1]}"]
            for record in result.records:
                found[side].setdefault(record.figure, []).append(record)
    base, ours = found.values()
    lonely = [f"{name}: only one side has the row: {figure}" for figure in base.keys() ^ ours.keys()]
    return [compared(base[figure], ours[figure]) for figure in ours if figure in base], sorted(lonely)


def main(arguments: Sequence[str]) -> int:
    """Return 2 for an unknown commit or benchmark."""
    parser = argparse.ArgumentParser(prog="python -m bench.compare", description=__doc__)
    parser.add_argument("base", metavar="BASE")
    parser.add_argument("names", nargs="+", metavar="NAME")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--short", action="store_true", help="tiny sizes")
    asked = parser.parse_args(arguments)
    if not known(asked.names):
        return 2
    try:
        with unpacked(asked.base) as base:
            sides = {"base": base, "ours": Checkout(ROOT, sys.executable)}
            whose = "this tree's" if base.is_current else "its own"
            print(f"bench: base runs {whose} benchmarks", file=sys.stderr)
            results = [measured(name, sides, asked.rounds, short=asked.short) for name in asked.names]
    except subprocess.CalledProcessError:
        print(f"bench: no such commit, or it cannot be set up: {asked.base}", file=sys.stderr)
        return 2
    print(table(COLUMNS, [row.cells() for rows, _ in results for row in rows]), end="")
    for line in (line for _, lines in results for line in lines):
        print(f"bench: {line}", file=sys.stderr)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
