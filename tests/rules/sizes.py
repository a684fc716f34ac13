"""How long files and functions are. `python -m tests.rules.sizes` prints the table that `make check` shows."""

from __future__ import annotations

import ast
from statistics import median, quantiles

from tests.rules.source_files import ROOMS, modules, name_of, tree_of

FUNCTION_LIMIT = 60


def file_sizes(*folders: str) -> dict[str, int]:
    """Return the lines of each module."""
    return {name_of(path): len(path.read_text("utf-8").splitlines()) for path in modules(*folders)}


def function_sizes(*folders: str) -> dict[str, int]:
    """Return the lines of each function, as `file:line name`."""
    found = {}
    for path in modules(*folders):
        for node in ast.walk(tree_of(path)):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                found[f"{name_of(path)}:{node.lineno} {node.name}"] = (node.end_lineno or node.lineno) - node.lineno + 1
    return found


def main() -> None:
    """Print one line a room."""
    print("room          files   lines  median  longest   functions  median   p90  longest")
    for room in (*ROOMS, "tests"):
        lines, sizes = list(file_sizes(room).values()), list(function_sizes(room).values())
        if len(sizes) > 1:
            print(
                f"{room:<12} {len(lines):>6} {sum(lines):>7} {median(lines):>7.0f} {max(lines):>8}   "
                f"{len(sizes):>9} {median(sizes):>7.0f} {quantiles(sizes, n=10)[-1]:>5.0f} {max(sizes):>8}"
            )


if __name__ == "__main__":
    main()
