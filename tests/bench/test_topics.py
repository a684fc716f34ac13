"""Declarations of benchmarks, verdicts on their rows, and exit codes."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from bench import __main__ as driver
from bench import match
from bench.one import Result, names, run, topic_of
from bench.topic import ROOT, Figure, Record

TINY = """
from bench.topic import Absent, Figure, Row, Topic
TOPIC = Topic("Tiny", "Nothing.", ("actors",), {"a": Figure("one", "us", "<= 2 us"), "b": Figure("two", "/s")})
def rows():
    print("noise")
    yield Row("a", 3.0, 1.5, "a note")
"""


@pytest.mark.parametrize("name", names())
def test_a_topic_names_the_product_that_it_measures_and_the_units_of_its_goals(name: str) -> None:
    topic = topic_of(name)
    assert topic.paths and [path for path in topic.paths if not (ROOT / path).exists()] == []
    for figure in topic.figures.values():
        for clause in figure.clauses:
            assert clause[3] or clause.string[clause.end() :].strip() == figure.unit, figure


def test_titles_are_distinguished() -> None:
    titles = [topic_of(name).title for name in names()]
    assert len(titles) == len(set(titles)) > 30


def test_a_goal_bounds_the_value_the_ratio_or_both() -> None:
    both = Figure("", "/s", ">= 0.5 x bare, >= 2,000/s")
    assert both.rises
    assert [both.met(*pair) for pair in ((2_000, 4_000), (1_999, 1_000), (2_000, 4_001))] == [True, False, False]
    least = Figure("", "ms", "<= 10 ms")
    assert not least.rises and least.met(10, None) and not least.met(10.1, None)
    assert Figure("", higher=True).rises and Figure("").met(1, None)


def test_a_goal_that_cannot_be_read_is_an_error() -> None:
    with pytest.raises(AssertionError, match="no goal: about 3"):
        Figure("a", "", "about 3").met(1, None)
    with pytest.raises(AssertionError, match="no limit"):
        Figure("a", "", "<= 2 x bare").met(1, None)


def a_tree(folder: Path, rest: str) -> Path:
    """Return a checkout whose only benchmark is `tiny`."""
    (folder / "bench").mkdir()
    for module in ("one", "topic"):
        (folder / f"bench/{module}.py").write_text((ROOT / f"bench/{module}.py").read_text("utf-8"), "utf-8")
    (folder / "bench/tiny.py").write_text(TINY + rest, "utf-8")
    return folder


ONE = Record("one", "us", "<= 2 us", rises=False, met=False, ours=3.0, limit=1.5, note="a note")


@pytest.mark.real
def test_a_benchmarks_rows_are_found_among_other_output(tmp_path: Path) -> None:
    root = a_tree(tmp_path, "    yield Row('b', 1)\n")
    two = Record("two", "/s", "", rises=False, met=True, ours=1, limit=None, note="")
    assert run("tiny", root=root) == Result("Tiny", "Nothing.", [ONE, two])


@pytest.mark.real
@pytest.mark.parametrize(
    ("rest", "absent", "error"),
    [
        ("", "", "tiny gave no row of: two"),
        ("    yield Row('c', 1)\n", "", "KeyError: 'c'"),
        ("    raise ValueError('broken')\n", "", "ValueError: broken"),
        ("    raise Absent('a moon')\n", "a moon", ""),
        ("TOPIC = TOPIC._replace(hours=True)\n", "", "gave no row of: two"),
    ],
)
def test_a_missing_row_or_an_exception_is_an_error_and_something_absent_is_not(
    tmp_path: Path, rest: str, absent: str, error: str
) -> None:
    found = run("tiny", root=a_tree(tmp_path, rest))
    assert found.records == [ONE] and found.absent == absent
    assert error in found.error and bool(found.error) == bool(error)


@pytest.mark.real
def test_a_benchmark_of_hours_runs_only_by_name(tmp_path: Path) -> None:
    found = run("tiny", root=a_tree(tmp_path, "TOPIC = TOPIC._replace(hours=True)\n"), named=False)
    assert (found.records, found.error) == ([], "") and "WHAT=tiny" in found.absent


def test_an_unknown_name_is_refused_with_those_that_there_are(capsys: pytest.CaptureFixture[str]) -> None:
    assert driver.main(["log", "nonsense"]) == 2
    said = capsys.readouterr().err
    assert "no such benchmark: nonsense" in said and "runtime" in said


@pytest.mark.parametrize("flags", [[], ["--short"]])
def test_a_run_goes_on_after_a_failure_and_ends_with_1(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], flags: list[str]
) -> None:
    results = {"log": Result(error="Traceback: it broke"), "match": Result("Matching", "How.", [ONE])}
    results["nodes"] = Result(absent="PostgreSQL")
    monkeypatch.setattr(driver, "run", lambda name, **_: results[name])
    assert driver.main([*flags, "log", "nodes", "match"]) == 1
    said = capsys.readouterr()
    assert "log failed:\nTraceback: it broke" in said.err and "nodes: absent: PostgreSQL" in said.err
    assert ("match: 1 rows" if flags else "| one | <= 2 us | 1.5 us | 3 us (a note) | 2.00 | NO |") in said.out
    monkeypatch.setitem(results, "log", Result("Log", "How.", [ONE]))
    assert driver.main([*flags, "log", "nodes", "match"]) == 0


def test_made_words_are_enough_for_queries_of_both_kinds(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(match, "FEEDS", Path("absent"))
    words = match.corpus(random.Random(11))
    assert all(len(match.queries(10, words, rare, random.Random(1))) == 10 for rare in (False, True))
