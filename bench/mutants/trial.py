"""A trial: one mutant in a copy of the tree, the tests that run its lines, then simulated worlds."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from bench.mutants.drawing import Mutant
from bench.mutants.rooms import FALLBACK, WORLDS

SLACK = 25.0
"""Extra seconds for a test run, in addition to 1.5 times its time under the slow tracer; after that the mutant hangs,
which counts as noticed.
"""
LONG = 300.0
"""Seconds for the long tests of a room."""
MOST_TESTING = 40.0
"""Maximum seconds of tests per mutant, the fastest first."""
WORLD = 1.0
"""Days of a world that is about everything."""
MOST_SIMULATING = 600.0
"""Seconds for worlds to prove that they hold without a mutant."""


@dataclass(frozen=True)
class Verdict:
    """The result. by: "tests" or "time" of `make test`, "long tests", "simulation"; "" for a survivor. witness: the
    test or the world.
    """

    by: str
    witness: str
    seconds: float


@dataclass(frozen=True)
class Touched:
    """Which tests run which lines: names and seconds of tests, and their numbers by file and line."""

    tests: Sequence[tuple[str, float]]
    failed: frozenset[str]
    lines: Mapping[str, Mapping[str, Sequence[int]]]

    @classmethod
    def read(cls, path: Path) -> Touched:
        """Read `touching`'s output."""
        found = json.loads(path.read_text())
        return cls([tuple(each) for each in found["tests"]], frozenset(found["failed"]), found["lines"])

    def tests_of(self, mutant: Mutant) -> Sequence[tuple[str, float]]:
        """Return the tests of `make test` that run a mutant's lines, the fastest first."""
        by_line = self.lines.get(mutant.path, {})
        change = mutant.change
        numbers = {n for line in range(change.first, change.last + 1) for n in by_line.get(str(line), ())}
        found = sorted(
            (self.tests[n] for n in numbers if self.tests[n][0] not in self.failed), key=lambda each: each[1]
        )
        most, kept = MOST_TESTING, []
        for name, seconds in found:
            most -= seconds
            if most < 0:
                break
            kept.append((name, seconds))
        return kept


class Copy:
    """A copy of a tree's tracked and new files, with one changed file at a time."""

    def __init__(self, root: Path, folder: Path) -> None:
        self.root, self.folder = root, folder / "tree"
        self.whole: dict[str, bool] = {}
        """By `simulate` arguments, whether the worlds hold without a mutant."""
        listed = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
        names = subprocess.run(listed, cwd=root, capture_output=True, check=True, text=True).stdout
        for name in filter(None, names.split("\0")):
            if (root / name).exists():
                (self.folder / name).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy2(root / name, self.folder / name, follow_symlinks=False)
        self._python = str(root / ".venv/bin/python") if (root / ".venv/bin/python").exists() else sys.executable

    def put(self, path: str, text: str) -> None:
        """Write a file and delete its bytecode, which a clock of whole seconds may not tell apart."""
        target = self.folder / path
        target.write_text(text, "utf-8")
        for compiled in (target.parent / "__pycache__").glob(f"{target.stem}.*.pyc"):
            compiled.unlink()

    def run(self, words: Sequence[str], seconds: float) -> tuple[int | None, str]:
        """Run Python in the copy; return its exit code (None on timeout) and the end of its output."""
        process = subprocess.Popen(
            [self._python, *words],
            cwd=self.folder,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            start_new_session=True,
            text=True,
            errors="replace",
        )
        try:
            said, _ = process.communicate(timeout=seconds)
        except subprocess.TimeoutExpired:
            _end(process)
            return None, ""
        return process.returncode, said[-4000:]


def _end(process: subprocess.Popen[str]) -> None:
    """Kill a process and its children, which share a session."""
    subprocess.run(["kill", "-9", "--", f"-{process.pid}"], check=False, capture_output=True)
    process.communicate()


def tried(mutant: Mutant, copy: Copy, touched: Touched, simulating: float, also: Sequence[str] = ()) -> Verdict:
    """Try a mutant. simulating: seconds of simulation if the tests do not notice it. also: more files of tests."""
    began = time.monotonic()  # noqa: TID251  a bench has no World
    sound = (copy.folder / mutant.path).read_text("utf-8")
    copy.put(mutant.path, mutant.applied(sound))
    try:
        by, witness = _tested(mutant, copy, touched.tests_of(mutant), also)
        if not by:
            by, witness = _asked(copy, ["-m", "long", *FALLBACK[mutant.room]], LONG)
            by = by and "long tests"
        if not by and simulating:
            by, witness = simulated(mutant, sound, copy, simulating)
    finally:
        copy.put(mutant.path, sound)
    return Verdict(by, witness, time.monotonic() - began)  # noqa: TID251


def _tested(mutant: Mutant, copy: Copy, found: Sequence[tuple[str, float]], also: Sequence[str]) -> tuple[str, str]:
    """Run the tests for a mutant's lines; if there are none, its room's tests."""
    if not found:
        return _asked(copy, ["-m", "not long", *dict.fromkeys((*also, *FALLBACK[mutant.room]))], MOST_TESTING)
    chosen = copy.folder.parent / "chosen.txt"
    chosen.write_text("\n".join([*also, *(name for name, _ in found)]))
    where = sorted({name.partition("::")[0] for name, _ in found})
    words = ["-p", "bench.mutants.touching", "--only-tests", str(chosen), *dict.fromkeys((*also, *where))]
    return _asked(copy, words, sum(took for _, took in found))


def _asked(copy: Copy, words: Sequence[str], seconds: float) -> tuple[str, str]:
    """Run tests that take so many seconds; return `Verdict.by` and `witness`."""
    most = SLACK + 1.5 * seconds
    scratch = str(copy.folder.parent / "scratch")
    code, said = copy.run(["-m", "pytest", "-q", "-x", "-n0", "--tb=no", "-rfE", "--basetemp", scratch, *words], most)
    if code is None:
        return "time", f"no end after {most:.0f} s of tests"
    if code in (0, 5):  # 5: no tests selected
        return "", ""
    failed = [line for line in said.splitlines() if line.startswith(("FAILED", "ERROR"))]
    return "tests", failed[0][:200] if failed else f"exit code {code}: {said.strip()[-160:]}"


def simulated(mutant: Mutant, sound: str, copy: Copy, seconds: float) -> tuple[str, str]:
    """Simulate for so many seconds, until a world breaks that holds with the original file (`sound`); return
    `Verdict.by` and `witness`.
    """
    until, seed = time.monotonic() + seconds, 0  # noqa: TID251
    while (left := until - time.monotonic()) > 0:  # noqa: TID251
        seed += 1
        worlds = [str(seed), "--days", str(WORLD)]
        if mutant.room in WORLDS and seed % 2:
            kind, count = WORLDS[mutant.room]
            worlds = [f"{seed * count}..{(seed + 1) * count - 1}", "--only", kind]
        if copy.whole.get(" ".join(worlds)) is False:
            continue
        code, _ = copy.run(["-m", "tests.simulation", *worlds], left)
        if code and _whole(mutant, sound, copy, worlds):
            return "simulation", f"simulate {' '.join(worlds)}"
    return "", ""


def _whole(mutant: Mutant, sound: str, copy: Copy, worlds: Sequence[str]) -> bool:
    """Return whether worlds hold without the mutant; the result is cached."""
    name = " ".join(worlds)
    if name not in copy.whole:
        planted = (copy.folder / mutant.path).read_text("utf-8")
        copy.put(mutant.path, sound)
        code, _ = copy.run(["-m", "tests.simulation", *worlds], MOST_SIMULATING)
        copy.put(mutant.path, planted)
        copy.whole[name] = code == 0
    return copy.whole[name]
