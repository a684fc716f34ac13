"""The tree of packages as its prefaces tell it. `python -m tests.rules.tree` writes it into docs/architecture.md."""

from __future__ import annotations

import ast

from tests.rules.source_files import ROOMS, ROOT, modules, name_of, tree_of

PAGE = ROOT / "docs/architecture.md"
BEGIN, END = "<!-- the tree: python -m tests.rules.tree -->\n", "<!-- the end of the tree -->\n"


def drawn() -> str:
    """Return a line for each package: its path, and the first sentence of its preface."""
    lines = []
    for path in modules(*ROOMS):
        if path.name == "__init__.py":
            preface = " ".join((ast.get_docstring(tree_of(path)) or "").partition("\n\n")[0].split())
            first = preface.partition(". ")[0].removesuffix(".")
            lines.append(f"- `{name_of(path.parent)}/`: {first}\n")
    return "".join(lines)


def written() -> str:
    """Return what stands on the page."""
    return PAGE.read_text("utf-8").partition(BEGIN)[2].partition(END)[0]


if __name__ == "__main__":
    text = PAGE.read_text("utf-8")
    before, _, rest = text.partition(BEGIN)
    PAGE.write_text(before + BEGIN + drawn() + END + rest.partition(END)[2], "utf-8")
