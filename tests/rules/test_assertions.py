"""Each test asserts something: in its body, or in a function of the tests that it uses."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from tests.rules.source_files import ROOT, modules, nodes_of

Function = ast.FunctionDef | ast.AsyncFunctionDef
FAILS = frozenset({"raises", "warns", "fail", "fail_after", "AssertionError"})
"""Names that make a test fail; `fail_after` expects an end."""


def names_in(node: ast.AST) -> Iterator[str]:
    for each in ast.walk(node):
        if isinstance(each, ast.Name | ast.Attribute):
            yield each.id if isinstance(each, ast.Name) else each.attr


def asserts(function: Function) -> bool:
    return any(isinstance(each, ast.Assert) for each in ast.walk(function)) or not FAILS.isdisjoint(names_in(function))


@cache
def functions_of(path: Path) -> tuple[Function, ...]:
    """Return a module's functions and methods."""
    return tuple(node for node in nodes_of(path) if isinstance(node, Function))


@cache
def imported_by(path: Path) -> tuple[Path, ...]:
    """Return the modules of the tests that a module imports."""
    found = {node.module for node in nodes_of(path) if isinstance(node, ast.ImportFrom) and node.module}
    files = (ROOT / f"{name.replace('.', '/')}.py" for name in found if name.startswith("tests."))
    return tuple(file for file in files if file.is_file())


@cache
def asserting(path: Path) -> frozenset[str]:
    """Return the names of functions that assert, or use one that does, in a module and those that it imports."""
    names = frozenset[str]().union(*map(asserting, imported_by(path)))
    left = [node for node in functions_of(path) if not node.name.startswith("test_")]
    while found := {node.name for node in left if asserts(node) or not names.isdisjoint(names_in(node))} - names:
        names |= found
    return names


def without_assertion(path: Path) -> Iterator[str]:
    for node in functions_of(path):
        if node.name.startswith("test_") and not asserts(node) and asserting(path).isdisjoint(names_in(node)):
            yield f"{path}:{node.lineno} {node.name}"


@pytest.mark.parametrize(
    ("body", "is_found"),
    [
        ("assert 1", False),
        ("with pytest.raises(ValueError): int('x')", False),
        ("with trio.fail_after(1): pass", False),
        ("holds()", False),
        ("outer()", False),
        ("with suppress(ValueError): int('x')", True),
        ("writes()", True),
    ],
)
def test_a_test_without_an_assertion_is_found(body: str, is_found: bool, tmp_path: Path) -> None:
    path = tmp_path / "test_it.py"
    path.write_text(
        "def holds(): assert 1\ndef outer(): holds()\ndef writes(): print(1)\ndef test_it():\n    " + body, "utf-8"
    )
    assert bool([*without_assertion(path)]) is is_found


def test_each_test_asserts_something() -> None:
    assert [found for path in modules("tests") for found in without_assertion(path)] == []
