"""An ignored error has a comment with the reason."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

from tests.rules.source_files import ROOMS, modules, nodes_of


def ignored_without_reason(path: Path) -> Iterator[str]:
    """Yield the places of `except ...: pass` without a comment behind `pass`."""
    lines = path.read_text("utf-8").splitlines()
    for node in nodes_of(path):
        first = node.body[0] if isinstance(node, ast.ExceptHandler) else None
        if isinstance(first, ast.Pass) and "#" not in lines[first.lineno - 1]:
            yield f"{path}:{first.lineno}"


def test_an_error_that_is_passed_over_has_a_reason(tmp_path: Path) -> None:
    path = tmp_path / "it.py"
    path.write_text("try: 1\nexcept ValueError:\n    pass\ntry: 1\nexcept OSError:\n    pass  # it is gone\n", "utf-8")
    assert [*ignored_without_reason(path)] == [f"{path}:3"]
    assert [found for each in modules(*ROOMS) for found in ignored_without_reason(each)] == []
