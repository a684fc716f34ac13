"""Beyond import-linter: the third parties that a room knows, and the preface of each package."""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.rules.source_files import ROOMS, modules, name_of, nodes_of, tree_of

THIRD_PARTIES = {
    "supervision": {"supervision", "trio"},
    "storage": {"storage", "trio", "msgspec", "sqlite_utils", "nacl"},
}


def imported(path: Path) -> Iterator[str]:
    for node in nodes_of(path):
        if isinstance(node, ast.Import):
            yield from (item.name.split(".")[0] for item in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.module.split(".")[0]


@pytest.mark.parametrize("room", THIRD_PARTIES)
def test_a_lower_room_knows_only_its_few_third_parties(room: str) -> None:
    known = THIRD_PARTIES[room] | sys.stdlib_module_names
    assert [f"{name_of(path)}: {name}" for path in modules(room) for name in imported(path) if name not in known] == []


def test_every_package_has_a_docstring_of_up_to_12_lines() -> None:
    packages = {name_of(path): tree_of(path) for path in modules(*ROOMS) if path.name == "__init__.py"}
    lines = {name: len((ast.get_docstring(tree) or "").splitlines()) for name, tree in packages.items()}
    assert len(lines) > 50
    assert {name: count for name, count in lines.items() if not 1 <= count <= 12} == {}


@pytest.mark.parametrize("room", ROOMS)
def test_every_folder_of_modules_is_a_package(room: str) -> None:
    folders = {path.parent for path in modules(room)}
    assert [name_of(folder) for folder in sorted(folders) if not (folder / "__init__.py").is_file()] == []


def test_a_module_is_introduced_by_a_noun_and_not_by_a_clause() -> None:
    """`The schedule of a delivery`, not `When a delivery is tried again`: a reader in a hurry looks for the noun."""
    clauses = ("What", "Who", "Whoever", "Whether", "Which", "How", "When", "Where")
    prefaces = {name_of(path): (ast.get_docstring(tree_of(path)) or "").split(" ")[0] for path in modules(*ROOMS)}
    assert len(prefaces) > 400
    assert [name for name, first in prefaces.items() if first in clauses] == []
