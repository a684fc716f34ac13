"""The files that the house rules check."""

from __future__ import annotations

import ast
import subprocess
from collections.abc import Iterator
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[2]
ROOMS = ("supervision", "storage", "actors", "api", "sanderling", "extras")


def modules(*folders: str) -> list[Path]:
    return sorted(path for folder in folders for path in (ROOT / folder).rglob("*.py"))


def name_of(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


@cache
def tree_of(path: Path) -> ast.Module:
    return ast.parse(path.read_text("utf-8"), str(path))


@cache
def nodes_of(path: Path) -> tuple[ast.AST, ...]:
    return tuple(ast.walk(tree_of(path)))


def tracked() -> Iterator[tuple[str, str]]:
    """Yield the name and text of every tracked text file."""
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, check=True, text=True).stdout
    for name in filter(None, listed.split("\0")):
        path = ROOT / name
        if path.is_file():
            try:
                yield name, path.read_text("utf-8")
            except UnicodeDecodeError:
                continue


def names_used(tree: ast.Module) -> Iterator[tuple[int, str]]:
    """Yield (line, full dotted name) of each use of an import, under any alias.

    `from time import time as t; t()` gives `time.time`, and so do `import time; time.time()` and the import alone.
    """
    aliases: dict[str, str] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for item in node.names:
                aliases[item.asname or item.name.split(".")[0]] = item.name if item.asname else item.name.split(".")[0]
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            for item in node.names:
                aliases[item.asname or item.name] = f"{node.module}.{item.name}"
                yield node.lineno, f"{node.module}.{item.name}"
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute):
            dotted = _dotted(node)
            if dotted is not None and dotted.split(".")[0] in aliases:
                head, _, rest = dotted.partition(".")
                yield node.lineno, f"{aliases[head]}.{rest}"


def _dotted(node: ast.expr) -> str | None:
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Attribute):
        before = _dotted(node.value)
        return None if before is None else f"{before}.{node.attr}"
    return None
