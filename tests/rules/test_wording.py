"""Nothing is decided by the wording of a sentence: a reason is compared by its kind, its code or its values."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cache

from tests.rules.source_files import ROOMS, modules, name_of, nodes_of

SENTENCES = frozenset({"reason", "says", "evidence", "detail", "remark", "last_error", "rule", "why", "says_so"})
"""Names of fields and variables that hold sentences for people."""
METHODS = frozenset({"startswith", "endswith", "removeprefix", "removesuffix", "partition", "find", "index", "count"})
KNOWN = frozenset(
    {
        "actors/content/changes/news.py: CONTROLS",  # a rule is the name of itself in one comparison of a page
        "actors/content/changes/news.py: NULL",
        "actors/content/changes/news.py: SEEN",
        "actors/errors.py: Invalid enum value",  # msgspec has no other form of its errors
        "actors/errors.py: Expected `str` matching",
        "extras/apply/reading.py: Expected `object`, got `str`",
        "storage/records/source.py: a sitemap, as XML",  # records from before their mark
    }
)
"""The remaining cases. Add nothing."""


@cache
def constants() -> frozenset[str]:
    """Return the names of the public constants of all modules that are sentences."""
    return frozenset(name for path in modules(*ROOMS) for name in constants_in(nodes_of(path)) if name[0] != "_")


def constants_in(nodes: tuple[ast.AST, ...]) -> Iterator[str]:
    for node in nodes:
        if isinstance(node, ast.Assign | ast.AnnAssign) and node.value is not None and is_sentence(node.value):
            for target in node.targets if isinstance(node, ast.Assign) else [node.target]:
                if isinstance(target, ast.Name) and target.id.isupper():
                    yield target.id


def is_sentence(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, str) and " " in node.value.strip()


def compared(nodes: tuple[ast.AST, ...]) -> Iterator[str]:
    """Yield the texts and constants that are compared with a sentence."""
    known = constants() | set(constants_in(nodes))
    for node in nodes:
        sides: list[ast.expr] = []
        if isinstance(node, ast.Compare):
            sides = [node.left, *node.comparators]
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in METHODS:
            sides = [node.func.value, *node.args]
        if any(_named(side) in SENTENCES for side in sides):
            for side in sides:
                if is_sentence(side):
                    yield str(ast.literal_eval(side))
                elif _named(side) in known:
                    yield _named(side)


def _named(node: ast.expr) -> str:
    return str(getattr(node, "attr", getattr(node, "id", "")))


def test_no_module_compares_the_wording_of_a_sentence() -> None:
    found = {f"{name_of(path)}: {text}" for path in modules(*ROOMS) for text in compared(nodes_of(path))}
    assert found == KNOWN


def test_a_comparison_is_found() -> None:
    text = "if found.says == 'no answer' or reason.startswith('a login') or 'x y' in name or says in IN_BASELINE: pass"
    assert list(compared(tuple(ast.walk(ast.parse(text))))) == ["no answer", "a login", "IN_BASELINE"]
