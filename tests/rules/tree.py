"""The tree of packages: `python -m tests.rules.tree` prints each with the first sentence of its preface."""

from __future__ import annotations

import ast
import sys

from tests.rules.source_files import ROOMS, modules, name_of, tree_of


def packages() -> list[str]:
    """Return the path of each package, with a trailing slash."""
    return [f"{name_of(path.parent)}/" for path in modules(*ROOMS) if path.name == "__init__.py"]


def drawn() -> str:
    """Return a line for each package: its path, and the first sentence of its preface."""
    lines = []
    for path in modules(*ROOMS):
        if path.name == "__init__.py":
            preface = " ".join((ast.get_docstring(tree_of(path)) or "").partition("\n\n")[0].split())
            first = preface.partition(". ")[0].removesuffix(".")
            lines.append(f"- `{name_of(path.parent)}/`: {first}\n")
    return "".join(lines)


if __name__ == "__main__":
    sys.stdout.write(drawn())
