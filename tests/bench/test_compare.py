"""Comparing two commits: arithmetic, turns, refusals."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from bench import compare
from bench.compare import Checkout, compared, measured, unpacked
from bench.one import Result
from bench.page import git
from bench.topic import ROOT, Record


def records(*values: float, rises: bool = False, figure: str = "start") -> list[Record]:
    return [Record(figure, "us", "", rises, met=True, ours=value, limit=None, note="") for value in values]


def test_medians_are_compared_and_the_wider_range_is_the_spread() -> None:
    row = compared(records(100, 90, 130), records(102, 103, 101))
    assert (row.base, row.ours, row.ratio, row.spread) == ("100 us", "102 us", 1.02, 0.4)
    assert row.cells() == ["start", "100 us", "102 us", "1.02", "40 %", ""]


@pytest.mark.parametrize(
    ("base", "ours", "rises", "is_worse"),
    [
        (100, 106, False, True),
        (100, 105, False, False),
        (100, 50, False, False),
        (100, 94, True, True),
        (100, 95, True, False),
        (100, 200, True, False),
        (0, 0, False, False),
        (0, 1, False, True),
        (0, 1, True, False),
        (1, 0, True, True),
    ],
)
def test_only_figures_worse_by_more_than_5_percent_are_marked(
    base: float, ours: float, rises: bool, is_worse: bool
) -> None:
    row = compared(records(base, rises=rises), records(ours, rises=rises))
    assert (row.cells()[-1] == "**worse**") == is_worse


def sides() -> dict[str, Checkout]:
    return {"base": Checkout(Path("old"), "python-of-old"), "ours": Checkout(ROOT, sys.executable)}


def test_both_sides_run_in_turns(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []

    def run(name: str, *, root: Path, python: str, short: bool) -> Result:
        asked.append((root.name, python))
        return Result("T", "M", records(len(asked)) + records(1, figure=root.name))

    monkeypatch.setattr(compare, "run", run)
    rows, said = measured("table", sides(), 2, short=True)
    assert asked == [("old", "python-of-old"), (ROOT.name, sys.executable)] * 2
    assert [(row.figure, row.ratio) for row in rows] == [("start", 3 / 2)]
    assert said == sorted(f"table: only one side has the row: {name}" for name in ("old", ROOT.name))


def test_a_benchmark_that_does_not_run_on_the_base_is_reported_in_a_line(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def run(name: str, *, root: Path, **_: object) -> Result:
        return Result(error="Traceback\nAttributeError: no rows") if root.name == "old" else Result()

    monkeypatch.setattr(compare, "run", run)
    assert measured("log", sides(), 2, short=True) == ([], ["log does not run on base: AttributeError: no rows"])


def test_an_unknown_commit_and_an_unknown_benchmark_are_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert compare.main(["no-such-commit", "table"]) == 2
    assert "no such commit, or it cannot be set up: no-such-commit" in capsys.readouterr().err
    assert compare.main(["HEAD", "nonsense"]) == 2
    assert "no such benchmark: nonsense" in capsys.readouterr().err


@pytest.mark.real
def test_a_base_is_unpacked_next_to_the_shared_material_and_removed_afterwards() -> None:
    if not (ROOT / ".git").exists():
        pytest.skip("no git history here")
    with unpacked("HEAD") as base:
        assert (base.root / "actors/world.py").read_text("utf-8") == git("show", "HEAD:actors/world.py") + "\n"
        assert (base.root / "bench/one.py").exists() and base.root.is_dir()
        assert (base.root.parent / "shared").exists() == (ROOT.parent / "shared").exists()
    assert not base.root.parent.exists()
