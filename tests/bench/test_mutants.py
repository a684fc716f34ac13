"""The mutation driver: its mutants, the tests it chooses, and the results of a trial."""

from __future__ import annotations

import ast
import json
from collections.abc import Sequence
from pathlib import Path

import pytest

from bench.mutants import __main__ as driver
from bench.mutants import named, trial
from bench.mutants.__main__ import Summary, as_diff, equivalent, survivors
from bench.mutants.drawing import Mutant, drawn, files_of, is_another, mutants_of
from bench.mutants.kinds import Change
from bench.mutants.rooms import FALLBACK, ROOMS, TESTS
from bench.mutants.trial import Copy, Touched, Verdict, tried
from tests.rules.source_files import ROOT

SOURCE = '''
"""Words."""
LIMIT = 5

class Box:
    def __repr__(self) -> str:
        return f"<{1 < 2}>"

    def take(self, n: int) -> None:
        """More words."""
        if n >= LIMIT and not self.full:
            self.world.log("taken", n=1)
            self.n = n + 1
            self.send(n)
        try:
            self.save()
        except ValueError:
            self.undo()
'''


def made(kind: str) -> set[tuple[str, str]]:
    return {
        (mutant.change.before, mutant.change.after)
        for mutant in mutants_of("recorder", "x.py", SOURCE)
        if mutant.change.kind == kind
    }


@pytest.mark.parametrize(
    ("kind", "before", "after"),
    [
        ("comparison flipped", "n >= LIMIT", "n > LIMIT"),
        ("boolean negated", "n >= LIMIT and not self.full", "(n >= LIMIT or not self.full)"),
        ("boolean negated", "not self.full", "(self.full)"),
        ("one more or less", "5", "6"),
        ("constant changed", "5", "50"),
        ("one more or less", "n + 1", "(n - 1)"),
        ("statement dropped", "self.send(n)", "pass"),
        ("statement dropped", "self.n = n + 1", "pass"),
        ("branch forced", "n >= LIMIT and not self.full", "True"),
        ("branch forced", "n >= LIMIT and not self.full", "False"),
        ("exception arm emptied", "self.undo()", "pass"),
        ("order swapped", "self.n = n + 1\n            self.send(n)", "self.send(n)\n            self.n = n + 1"),
    ],
)
def test_each_kind_of_fault_is_made(kind: str, before: str, after: str) -> None:
    assert (before, after) in made(kind)


def test_an_early_return_leaves_out_all_that_follows() -> None:
    (after,) = {after for before, after in made("early return") if before.startswith("try:")}
    assert after == "return"


def test_neither_words_nor_the_log_nor_representations_are_mutated() -> None:
    every = {mutant.change.before for mutant in mutants_of("recorder", "x.py", SOURCE)}
    assert not any("taken" in before and "self.n" not in before and "if" not in before for before in every)
    assert "1 < 2" not in every
    assert not any("words" in before for before in every)


@pytest.mark.parametrize("room", ROOMS)
def test_every_mutant_of_a_room_is_python_and_nearly_all_say_something_else(room: str) -> None:
    texts = {path: (ROOT / path).read_text("utf-8") for path in files_of(room, ROOT)[:3]}
    mutants = [mutant for path, text in texts.items() for mutant in mutants_of(room, path, text)][::7]
    for mutant in mutants:
        ast.parse(mutant.applied(texts[mutant.path]))
    assert sum(not is_another(texts[mutant.path], mutant) for mutant in mutants) <= len(mutants) // 20


def test_the_draw_is_the_same_again_and_takes_from_each_room_alike() -> None:
    found = drawn(40, 3, ROOT)
    assert [mutant.key for mutant in found] == [mutant.key for mutant in drawn(40, 3, ROOT)]
    assert [mutant.key for mutant in found] != [mutant.key for mutant in drawn(40, 4, ROOT)]
    assert {mutant.room for mutant in found} == set(ROOMS)
    assert len({(mutant.path, mutant.change) for mutant in found}) == 40


def test_the_rooms_and_their_tests_are_there() -> None:
    for room in ROOMS:
        assert files_of(room, ROOT)
        assert FALLBACK[room]
    for name in (*TESTS, *(name for names in FALLBACK.values() for name in names)):
        assert (ROOT / name).exists(), name


def test_mutants_of_the_review_can_still_be_planted() -> None:
    found = named.named(ROOT)
    assert len(found) == 8
    assert all(is_another((ROOT / mutant.path).read_text("utf-8"), mutant) for mutant in found)


def test_each_listed_as_equivalent_has_a_reason_and_is_of_a_file_that_is_there() -> None:
    text = driver.LISTED.read_text("utf-8")
    found = equivalent(text)
    assert len(found) == sum(not line.startswith(("#", "  ")) and bool(line) for line in text.splitlines())
    for key, reason in found.items():
        assert reason.endswith("."), key
        assert (ROOT / key.partition("::")[0]).exists(), key


def a_mutant(path: str, before: str, after: str, text: str) -> Mutant:
    start = text.encode().index(before.encode())
    line = text[: text.index(before)].count("\n") + 1
    return Mutant("recorder", path, "double", Change("planted", start, start + len(before), before, after, line, line))


def test_tests_are_those_that_come_through_the_line_the_quickest_first(tmp_path: Path) -> None:
    found = {"tests": [["a", 2.0], ["b", 1.0], ["c", 0.1], ["d", 500.0], ["e", 0.1]], "failed": ["c"]}
    (tmp_path / "t.json").write_text(json.dumps(found | {"lines": {"x.py": {"1": [0, 1, 2, 3], "2": [4]}}}))
    touched = Touched.read(tmp_path / "t.json")
    mutant = a_mutant("x.py", "0", "1", "def double(n=0):\n    return n\n")
    assert [name for name, _ in touched.tests_of(mutant)] == ["b", "a"]


def test_the_long_tests_of_a_room_run_last(tmp_path: Path) -> None:
    (tmp_path / "x.py").write_text("def double(n=0):\n    return n\n")
    asked = list[Sequence[str]]()

    class Asking(Copy):
        def __init__(self) -> None:
            self.folder = tmp_path

        def run(self, words: Sequence[str], seconds: float) -> tuple[int | None, str]:
            asked.append(words)
            return (1, "FAILED tests/y.py") if "long" in words else (0, "")

    mutant = a_mutant("x.py", "0", "1", "def double(n=0):\n    return n\n")
    verdict = tried(mutant, Asking(), Touched((), frozenset(), {}), 0.0)
    assert (verdict.by, verdict.witness) == ("long tests", "FAILED tests/y.py")
    assert [words[-1] for words in asked] == ["tests/actors/recorder"] * 2 and "not long" in asked[0]
    assert (tmp_path / "x.py").read_text().startswith("def double(n=0)")


def test_the_summary_counts_and_shows_survivors_as_diffs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(driver, "ROOT", tmp_path)
    (tmp_path / "x.py").write_text("n = 1\n")
    mutant = a_mutant("x.py", "1", "2", "n = 1\n")
    summary = Summary(tmp_path / "out/summary.txt")
    summary.add(mutant, Verdict("tests", "FAILED t", 1.0))
    summary.add(mutant, Verdict("", "", 2.0))
    text = (tmp_path / "out/summary.txt").read_text()
    assert text.startswith("2 tried: survived 1, tests 1\n`make test` notices 1 of the 1 that anything notices\n")
    assert "-n = 1\n+n = 2" in text
    assert survivors(text) == {mutant.key}
    assert "+n = 2" in as_diff(mutant, tmp_path)


@pytest.mark.parametrize(
    ("codes", "whole", "by"),
    [
        ((0, 0, 1, 0), True, "simulation"),
        ((0, None), True, ""),
        ((70, 0), True, "simulation"),
        ((1, 1, None), False, ""),
    ],
)
def test_worlds_are_simulated_until_one_breaks_that_is_whole_without_the_mutant(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, codes: tuple[int | None, ...], by: str, *, whole: bool
) -> None:
    left, asked = list(codes), list[tuple[str, ...]]()

    class Simulating(Copy):
        def __init__(self) -> None:
            self.root = self.folder = tmp_path
            self.whole = {}

        def run(self, words: Sequence[str], seconds: float) -> tuple[int | None, str]:
            asked.append((*words, (tmp_path / "x.py").read_text()))
            if len(left) == 1 and left[0] is None:
                monkeypatch.setattr("bench.mutants.trial.time.monotonic", lambda: 1e9)
            return left.pop(0), ""

    (tmp_path / "x.py").write_text("n = 1\n")
    copy = Simulating()
    found, witness = trial.simulated(a_mutant("x.py", "0", "1", "n = 0\n"), "n = 0\n", copy, 60)
    assert found == by
    assert not left
    assert witness.startswith("simulate") == bool(by)
    assert all(words[:2] == ("-m", "tests.simulation") for words in asked)
    assert len(set(asked)) == len(asked)
    assert (tmp_path / "x.py").read_text() == "n = 1\n"
    assert all(known is whole for known in copy.whole.values())


@pytest.mark.real
def test_a_trial_runs_in_a_copy_and_names_the_failing_test(
    tmp_path: Path, git_tree: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = (git_tree / "actors/recorder/doubling.py").read_text()
    copy = Copy(git_tree, tmp_path)
    nobody = Touched([], frozenset(), {})
    wrong = a_mutant("actors/recorder/doubling.py", "2", "3", text)
    same = a_mutant("actors/recorder/doubling.py", "n * 2", "2 * n", text)
    endless = a_mutant("actors/recorder/doubling.py", "return", "while True: pass\n    return", text)
    monkeypatch.setattr("bench.mutants.trial.MOST_TESTING", 0.0)
    monkeypatch.setattr("bench.mutants.trial.SLACK", 20.0)
    assert tried(wrong, copy, nobody, 0).by == "tests"
    assert tried(same, copy, nobody, 0).by == ""
    monkeypatch.setattr("bench.mutants.trial.SLACK", 3.0)
    assert tried(endless, copy, nobody, 0).by == "time"
    assert (git_tree / "actors/recorder/doubling.py").read_text() == text
    assert (copy.folder / "actors/recorder/doubling.py").read_text() == text


@pytest.fixture
def git_tree(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A tree with one module, its test, and the driver's plug-in."""
    import subprocess

    root = tmp_path_factory.mktemp("sound")
    for name in ("bench/__init__.py", "bench/mutants/__init__.py", "actors/__init__.py", "actors/recorder/__init__.py"):
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).touch()
    for name in ("touching", "rooms", "drawing", "kinds"):
        (root / f"bench/mutants/{name}.py").write_text((ROOT / f"bench/mutants/{name}.py").read_text())
    (root / "actors/recorder/doubling.py").write_text("def double(n: int) -> int:\n    return n * 2\n")
    (root / "tests/actors/recorder").mkdir(parents=True)
    (root / "tests/actors/recorder/test_doubling.py").write_text(
        "from actors.recorder.doubling import double\n\n\ndef test_it() -> None:\n    assert double(4) == 8\n"
    )
    (root / "pyproject.toml").write_text('[tool.pytest.ini_options]\npythonpath = ["."]\n')
    subprocess.run(["git", "init", "-q"], cwd=root, check=True)
    return root
