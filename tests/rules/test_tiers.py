"""One table lists the tiers; code that needs all of them reads it."""

from __future__ import annotations

import ast
from collections.abc import Iterator

import pytest

from storage.records.tiers import TIERS, WATCHED, Kind, tier_of
from tests.rules.source_files import ROOT

ROOMS = ("actors", "api", "extras", "sanderling", "storage")
LISTED = {
    "storage/records/tiers.py": "the table",
    "actors/sources/tiers.py": "what each does",
    "actors/content/messages.py": "what a body can be found to be",
    "actors/sources/checks/fetch.py": "a page that became a feed, and back",
}


DECIDES = {
    "actors/sources/detection.py": "what a URL is",
    "actors/sources/checks/fetch.py": "a page that became a feed, and back",
    "actors/sources/registry/practice.py": "what the practice page is",
}
"""Modules that may compare with a tier's name, because they choose it. All others ask for a property of the tier."""


def lists_in(code: str) -> Iterator[int]:
    """Yield the lines of collections, types and mappings that name two tiers or more."""
    for node in ast.walk(ast.parse(code)):
        parts: list[ast.expr | None] = []
        if isinstance(node, ast.List | ast.Tuple | ast.Set):
            parts = [*node.elts]
        elif isinstance(node, ast.Dict):
            parts = [*node.keys]
        if (
            isinstance(node, ast.expr)
            and len({part.value for part in parts if isinstance(part, ast.Constant)} & TIERS.keys()) > 1
        ):
            yield node.lineno


def test_no_other_file_lists_the_tiers() -> None:
    found = {}
    for path in (path for room in ROOMS for path in (ROOT / room).rglob("*.py")):
        if lines := list(lists_in(path.read_text("utf-8"))):
            found[str(path.relative_to(ROOT))] = lines
    assert {name: lines for name, lines in found.items() if name not in LISTED} == {}
    assert found.keys() >= LISTED.keys() - {"storage/records/tiers.py"}, "what lists them no more needs no exception"


@pytest.mark.parametrize(
    "code", ['a = ("feed", "html")', 'b: Literal["push", "x", "feed"]', 'c = {"feed": 1, "push": 2}']
)
def test_a_list_of_them_is_seen(code: str) -> None:
    assert list(lists_in(code)) == [1]


def comparisons_in(code: str) -> Iterator[int]:
    """Yield the lines that compare a `type` with the name of a tier."""
    for node in ast.walk(ast.parse(code)):
        if not isinstance(node, ast.Compare):
            continue
        sides = [side for part in (node.left, *node.comparators) for side in (part, *getattr(part, "elts", ()))]
        names = {side.value for side in sides if isinstance(side, ast.Constant)} & TIERS.keys()
        typed = any(
            "type" in ast.unparse(side).rpartition(".")[2] for side in sides if not isinstance(side, ast.Constant)
        )
        if names and typed:
            yield node.lineno


def test_only_detection_compares_the_names_of_tiers() -> None:
    found = {}
    for path in (path for room in ROOMS for path in (ROOT / room).rglob("*.py")):
        if lines := list(comparisons_in(path.read_text("utf-8"))):
            found[str(path.relative_to(ROOT))] = lines
    assert {name: lines for name, lines in found.items() if name not in DECIDES} == {}
    assert found.keys() >= DECIDES.keys(), "a module without comparisons needs no exception"


@pytest.mark.parametrize(
    ("code", "lines"),
    [
        ('source.type == "html"', [1]),
        ('event.source_type not in ("feed", "push")', [1]),
        ('answer["type"] != "push"', [1]),
        ('element.tag == "html"', []),
        ("found.type in WITH_DIFF", []),
    ],
)
def test_a_comparison_is_found(code: str, lines: list[int]) -> None:
    assert list(comparisons_in(code)) == lines


def test_each_kind_of_the_log_is_of_one_tier_or_of_none() -> None:
    assert len(set(WATCHED)) == len(WATCHED)
    assert {tier_of(kind) for kind in WATCHED} == set(TIERS)
    others = {Kind.NOTICE, Kind.PRACTICE, Kind.HEARTBEAT}
    assert {tier_of(kind) for kind in others} == {None}
    assert {*WATCHED, *others} == {number for name, number in vars(Kind).items() if name.isupper()}
