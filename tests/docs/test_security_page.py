"""docs/security.md names tests that exist, and every scope there is."""

from __future__ import annotations

import ast
import re

from api.route import PUBLIC, SCOPES
from tests.rules.source_files import ROOT, tree_of

PAGE = (ROOT / "docs/security.md").read_text("utf-8")


def functions_of(name: str) -> set[str]:
    nodes = ast.walk(tree_of(ROOT / name))
    return {node.name for node in nodes if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)}


def test_every_test_that_is_named_is_there() -> None:
    named = re.findall(r"`(tests/[\w/]+\.py)::(\w+)`", PAGE)
    assert len(named) > 20
    assert [(name, test) for name, test in named if test not in functions_of(name)] == []


def test_each_threat_is_named_as_its_test_is() -> None:
    rows = re.findall(r"^\| (X\d+) \|.*::test_(x\d+)_", PAGE, re.M)
    assert rows and all(number.lower() == test for number, test in rows)


def test_every_scope_is_explained() -> None:
    assert [scope for scope in sorted(SCOPES - {PUBLIC}) if f"`{scope}`" not in PAGE] == []
