"""docs/figures.md: each section has a benchmark, and is marked when its product code has changed a lot."""

from __future__ import annotations

import re
import subprocess

import pytest

from bench import page
from bench.one import Result, names, topic_of
from bench.page import PAGE, STALE, changed, marked, rewritten, section, sections, stale
from bench.topic import ROOT, Record
from sanderling.environment import environ

TEXT = PAGE.read_text("utf-8")
TOPICS = {topic_of(name).title: topic_of(name) for name in names()}
ROW = Record("start of an actor", "us", "<= 100 us", rises=False, met=True, ours=50.0, limit=25.0, note="")


def test_each_section_and_row_is_of_a_benchmark() -> None:
    for title, text in sections(TEXT).items():
        figures = {figure.name for figure in TOPICS[title].figures.values()}
        rows = {line.split(" | ")[0].removeprefix("| ") for line in text.splitlines() if line.startswith("| ")}
        assert rows - {"figure", "---"} <= figures, title
        assert TOPICS[title].method in text


def test_the_page_equals_the_commands_output() -> None:
    assert rewritten(TEXT, {}) == TEXT
    assert sections(TEXT)


def test_a_section_of_which_much_has_changed_says_so() -> None:
    if not (ROOT / ".git").exists():
        pytest.skip("no git history here")
    for commit in set(re.findall(r" at `(\w+)`", TEXT)):
        try:
            page.git("cat-file", "-e", commit)
        except subprocess.CalledProcessError:
            assert environ().get("CI") != "true", f"this clone lacks {commit}, at which docs/figures.md was measured"
            pytest.skip(f"this clone lacks {commit}")
    assert list(stale(TEXT)) == [], "run `make bench-stale`"


def a_page(monkeypatch: pytest.MonkeyPatch, lines: int) -> str:
    monkeypatch.setattr(page, "measured", lambda: "`0123456789ab`")
    monkeypatch.setattr(page, "changed", lambda commit, paths: lines if "supervision" in paths[0] else 0)
    found = {title: section(Result(title, "How.", [ROW]), 0.5) for title in ("The actor runtime", "Matching")}
    return rewritten("", found)


def test_a_section_is_marked_when_its_product_has_changed_by_more_than_2000_lines(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert list(stale(a_page(monkeypatch, 2_000))) == []
    text = a_page(monkeypatch, 2_001)
    assert list(stale(text)) == ["runtime"]
    said = marked(text, "runtime")
    assert STALE in sections(said)["The actor runtime"] and STALE not in sections(said)["Matching"]
    assert list(stale(said)) == []


def test_a_partial_run_replaces_its_own_section_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    text = marked(a_page(monkeypatch, 2_001), "runtime")
    again = section(Result("The actor runtime", "How.", [ROW._replace(ours=60.0)]), 0.5)
    new = rewritten(text, {"The actor runtime": again})
    assert "| start of an actor | <= 100 us | 25 us | 60 us | 2.40 | yes |" in new
    assert STALE not in new and sections(new)["Matching"] == sections(text)["Matching"]


@pytest.mark.real
def test_changes_are_counted_by_path() -> None:
    if not (ROOT / ".git").exists():
        pytest.skip("no git history here")
    assert changed("HEAD", ["."]) == 0
    empty = page.git("hash-object", "-t", "tree", "/dev/null")
    assert changed(empty, ["supervision"]) > changed(empty, ["supervision/policy.py"]) > 0
