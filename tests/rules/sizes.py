"""Lengths of files and functions. `python -m tests.rules.sizes` prints the table that `make lint` shows.

It fails when a function is too long to read at once. A file is as long as its idea.
"""

from __future__ import annotations

import ast
import sys
from statistics import median, quantiles

from tests.rules.source_files import ROOMS, modules, name_of, tree_of

FUNCTION_LIMIT = 60


def file_sizes(*folders: str) -> dict[str, int]:
    return {name_of(path): len(path.read_text("utf-8").splitlines()) for path in modules(*folders)}


def function_sizes(*folders: str) -> dict[str, int]:
    """Return the lines of each function, as `file:line name`."""
    found = {}
    for path in modules(*folders):
        for node in ast.walk(tree_of(path)):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                found[f"{name_of(path)}:{node.lineno} {node.name}"] = (node.end_lineno or node.lineno) - node.lineno + 1
    return found


def main() -> int:
    """Print one line for each room and each function over the limit; return 1 when there is one."""
    functions = {room: function_sizes(room) for room in (*ROOMS, "tests", "bench")}
    print("room          files   lines  median  longest   functions  median   p90  longest")
    for room in (*ROOMS, "tests"):
        lines, sizes = list(file_sizes(room).values()), list(functions[room].values())
        if len(sizes) > 1:
            print(
                f"{room:<12} {len(lines):>6} {sum(lines):>7} {median(lines):>7.0f} {max(lines):>8}   "
                f"{len(sizes):>9} {median(sizes):>7.0f} {quantiles(sizes, n=10)[-1]:>5.0f} {max(sizes):>8}"
            )
    long = [
        f"{name}: {size} lines" for found in functions.values() for name, size in found.items() if size > FUNCTION_LIMIT
    ]
    for line in long:
        print(f"{line}, more than {FUNCTION_LIMIT}")
    return 1 if long else 0


if __name__ == "__main__":
    sys.exit(main())
