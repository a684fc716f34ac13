"""The pages on security name tests that exist, and every scope."""

from __future__ import annotations

import ast
import re

from api.route import PUBLIC, SCOPES
from tests.rules.source_files import ROOT, tree_of

ACCESS = (ROOT / "docs/security-access.md").read_text("utf-8")
PAGE = (ROOT / "docs/security-tests.md").read_text("utf-8")

CHECKLIST = """
1.2.1 1.2.3 1.2.4 1.2.9 1.3.1 1.3.6 1.3.12 1.5.1 1.5.3 3.2.1 3.3.1 3.3.2 3.3.3 3.3.4 3.4.1 3.4.3 3.4.4 3.4.5 3.4.6 3.5.1
3.5.3 4.2.4 4.2.5 4.4.2 5.2.3 6.2.4 6.4.1 7.2.3 7.2.4 8.2.1 8.2.2 11.2.4 11.5.1 12.1 12.2 12.3 13.1.2 13.1.3 13.2.4
13.2.5 13.3 15.1.2 15.2.2 15.2.4 15.3.2 15.3.4 15.4.4 16.3 16.3.2 16.4.1 16.5.2 16.5.3 16.5.4
"""
"""Items of ASVS 5.0 behind the threats here."""


def functions_of(name: str) -> set[str]:
    nodes = ast.walk(tree_of(ROOT / name))
    return {node.name for node in nodes if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)}


def test_every_test_that_is_named_is_there() -> None:
    named = re.findall(r"`(tests/[\w/]+\.py)::(\w+)`", PAGE)
    assert len(named) > 100
    assert [(name, test) for name, test in named if test not in functions_of(name)] == []


def test_each_threat_is_named_as_its_test_is() -> None:
    rows = re.findall(r"^\| (X\d+)\b(.*)$", PAGE, re.M)
    assert len(rows) > 40
    assert all({number.lower()} >= set(re.findall(r"::test_(x\d+)_", cells)) for number, cells in rows)


def test_every_scope_is_explained() -> None:
    assert [scope for scope in sorted(SCOPES - {PUBLIC}) if f"`{scope}`" not in ACCESS] == []


def test_every_item_of_the_checklist_has_a_test() -> None:
    rows = re.findall(r"^\| (?:X\d+, )?([\d., ]+) \| [^|]+ \| `tests/[^|]+` \|$", PAGE, re.M)
    assert {item for row in rows for item in row.split(", ")} == set(CHECKLIST.split())
