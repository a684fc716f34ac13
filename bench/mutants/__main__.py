"""Draw mutants and see who notices them: `python -m bench.mutants --count 200 --seed 1`.

First it records which test runs which line (one run of all tests, or of those for the rooms of `--only`; `--keep`
reuses the record). Then each mutant is tested in a copy of the tree. Results are in build/mutants/summary.txt,
survivors as diffs; an interrupted run keeps its results. Exit 1 if a mutant survived that is not listed as equivalent.
"""

from __future__ import annotations

import argparse
import difflib
import sys
import tempfile
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from bench.mutants.drawing import Mutant, drawn
from bench.mutants.named import named
from bench.mutants.rooms import FALLBACK, ROOMS, TESTS
from bench.mutants.trial import Copy, Touched, Verdict, tried

ROOT = Path(__file__).parents[2]
BUILD = ROOT / "build/mutants"
LISTED = Path(__file__).with_name("equivalent.txt")


def equivalent(text: str) -> dict[str, str]:
    """Return {key: reason} of a list: a mutant's key on one line, `  because ...` on the next."""
    found: dict[str, str] = {}
    key = ""
    for line in text.splitlines():
        if line.startswith("  because "):
            found[key] = line.removeprefix("  because ")
        elif line and not line.startswith("#"):
            key = line
    return found


def survivors(summary: str) -> set[str]:
    """Return the keys of the survivors in a summary."""
    lines = (line for line in summary.splitlines() if line.startswith("SURVIVED"))
    return {line.partition(" s  ")[2].rstrip() for line in lines}


def as_diff(mutant: Mutant, root: Path) -> str:
    sound = (root / mutant.path).read_text("utf-8")
    lines = difflib.unified_diff(
        sound.splitlines(), mutant.applied(sound).splitlines(), mutant.path, mutant.where, lineterm="", n=2
    )
    return "\n".join(lines)


class Summary:
    """The results so far; the file is always complete."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._tried: list[tuple[Mutant, Verdict]] = []
        path.parent.mkdir(parents=True, exist_ok=True)

    def add(self, mutant: Mutant, verdict: Verdict) -> None:
        self._tried.append((mutant, verdict))
        self._path.write_text(self.text(), "utf-8")

    def text(self) -> str:
        counts = Counter(verdict.by or "survived" for _, verdict in self._tried)
        rooms = Counter((mutant.room, verdict.by or "survived") for mutant, verdict in self._tried)
        lines = [f"{len(self._tried)} tried: " + ", ".join(f"{by} {n}" for by, n in sorted(counts.items()))]
        noticed = len(self._tried) - counts["survived"] - counts["equivalent"]
        lines += [f"`make test` notices {counts['tests'] + counts['time']} of the {noticed} that anything notices", ""]
        for room in dict.fromkeys(mutant.room for mutant, _ in self._tried):
            lines.append(f"{room:12}" + "".join(f"{by:>12}{rooms[room, by]:4}" for by in sorted(counts)))
        lines += [
            "",
            *(f"{v.by or 'SURVIVED':10} {v.seconds:6.1f} s  {m.key}  {v.witness}" for m, v in self._tried),
            "",
        ]
        lines += [f"{m.key}\n{as_diff(m, ROOT)}\n" for m, v in self._tried if not v.by]
        return "\n".join(lines)


def learn(copy: Copy, target: Path, tests: Sequence[str]) -> None:
    """Run tests of `make test` once without a mutant and record each one's lines. Trials skip failing tests."""
    words = ["-m", "pytest", "-q", "-n0", "--tb=line", "-m", "not long"]
    words += ["-p", "bench.mutants.touching", "--touched-into", str(target)]
    code, said = copy.run([*words, "--basetemp", str(copy.folder.parent / "scratch"), *tests], 7200)
    print(said[-600:], flush=True)
    if code not in (0, 1):
        raise SystemExit(f"the tests did not run: {code}")


def main() -> int:
    parser = argparse.ArgumentParser(prog="bench.mutants", description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--count", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--simulate", type=float, default=120.0, help="seconds for each that the tests let live")
    parser.add_argument("--only", action="append", choices=list(ROOMS), help="one room; can be repeated")
    parser.add_argument("--named", action="store_true", help="those of named.py, and none that are drawn")
    parser.add_argument("--match", default="", help="of those drawn, the ones whose key has this in it")
    parser.add_argument("--keep", action="store_true", help="take the last time's answer to which test comes where")
    parser.add_argument("--also", action="append", default=[], help="a file of tests that each is shown to as well")
    parser.add_argument("--survivors", action="store_true", help="only those that survived the last time")
    parser.add_argument("--folder", type=Path, help="where the copy goes: a disk of memory is quicker")
    given = parser.parse_args()
    mutants = named(ROOT) if given.named else drawn(given.count, given.seed, ROOT, given.only or ())
    if given.survivors:
        lived = survivors((BUILD / "summary.txt").read_text("utf-8"))
        mutants = [mutant for mutant in mutants if mutant.key in lived]
    mutants = [mutant for mutant in mutants if given.match in mutant.key]
    with tempfile.TemporaryDirectory(dir=given.folder) as folder:
        copy = Copy(ROOT, Path(folder))
        rooms = given.only or []
        touched = BUILD / f"{'-'.join(['touched', *rooms])}.json"
        if not (given.keep and touched.exists()):
            BUILD.mkdir(parents=True, exist_ok=True)
            learn(copy, touched, [name for room in rooms for name in FALLBACK[room]] or TESTS)
        return try_all(mutants, copy, Touched.read(touched), given.simulate, given.also)


def try_all(mutants: Sequence[Mutant], copy: Copy, touched: Touched, simulated: float, also: Sequence[str] = ()) -> int:
    known = equivalent(LISTED.read_text("utf-8"))
    summary = Summary(BUILD / "summary.txt")
    unknown = 0
    for number, mutant in enumerate(mutants, 1):
        if mutant.key in known:
            verdict = Verdict("equivalent", known[mutant.key], 0.0)
        else:
            verdict = tried(mutant, copy, touched, simulated, also)
        summary.add(mutant, verdict)
        print(f"{number:4} {verdict.by or 'SURVIVED':10} {verdict.seconds:6.1f} s  {mutant.key[:150]}", flush=True)
        if not verdict.by:
            unknown += 1
            print(as_diff(mutant, ROOT), flush=True)
    print("\n".join(summary.text().splitlines()[:2]))
    return 1 if unknown else 0


if __name__ == "__main__":
    sys.exit(main())
