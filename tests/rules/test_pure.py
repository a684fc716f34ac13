"""Pure modules reach no effect through any import: late imports and branches count, imports for types do not.

A module is pure when its docstring says "Pure.", and so is all of a package whose docstring says "All of it is pure".
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from tests.rules.source_files import ROOMS, ROOT, modules, name_of, tree_of

EFFECTS = frozenset(
    {"trio", "httpx", "quart", "socket", "sqlite3", "os", "random", "threading", "subprocess"}
    | {"actors.world", "actors.settings", "supervision.mailbox"}
)
"""Ways to a clock, chance, the loop, the network, files, processes, or to configuration and callers."""
SAYS_SO = re.compile(r"\bPure[.:]")
ALL_OF_IT = "All of it is pure"


def dotted(path: Path) -> str:
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


PATHS = {dotted(path): path for path in modules(*ROOMS, "sanderling_client")}


def words_of(name: str) -> str:
    return ast.get_docstring(tree_of(PATHS[name])) or ""


def is_pure(name: str) -> bool:
    """Return whether the docstring of a module or of its package declares it pure."""
    parts = name.split(".")
    around = [".".join(parts[:length]) for length in range(1, len(parts) + 1)]
    if any(ALL_OF_IT in words_of(package) for package in around if package in PATHS):
        return True
    return PATHS[name].name != "__init__.py" and SAYS_SO.search(words_of(name)) is not None


@cache
def pure() -> list[str]:
    return [name for name in PATHS if is_pure(name)]


@cache
def imports(name: str) -> tuple[str, ...]:
    """Return the dotted names of modules that a module imports at run time."""
    return tuple(dict.fromkeys(found for node in _run(tree_of(PATHS[name])) for found in _named(node)))


def _run(node: ast.AST) -> Iterator[ast.AST]:
    """Yield the nodes of a tree without those below `if TYPE_CHECKING`."""
    for child in ast.iter_child_nodes(node):
        if not (isinstance(child, ast.If) and isinstance(child.test, ast.Name) and child.test.id == "TYPE_CHECKING"):
            yield child
            yield from _run(child)


def _named(node: ast.AST) -> Iterator[str]:
    if isinstance(node, ast.Import):
        yield from (item.name for item in node.names)
    elif isinstance(node, ast.ImportFrom) and node.module:
        inside = [f"{node.module}.{item.name}" for item in node.names]
        yield from (name if name in PATHS else node.module for name in inside)


def way_to_an_effect(name: str) -> list[str]:
    """Return the modules from one to the first effect that it reaches; [] when it reaches none."""
    before: dict[str, str] = {name: ""}
    waiting = [name]
    for at in waiting:
        for found in imports(at):
            room = found.split(".")[0]
            if found in EFFECTS or room in EFFECTS:
                way = [found, at]
                while before[way[-1]]:
                    way.append(before[way[-1]])
                return way[::-1]
            if found in PATHS and found not in before:
                before[found] = at
                waiting.append(found)
    return []


def test_pure_modules_reach_no_effect() -> None:
    assert [" -> ".join(way) for name in pure() if (way := way_to_an_effect(name))] == []


def test_there_are_many_and_the_heart_of_the_service_is_among_them() -> None:
    assert len(pure()) > 110
    assert {
        "actors.content.changes.churn",
        "actors.query.parts",
        "actors.sources.schedule.cadence",
        "sanderling_client.verify",
        "storage.records.event",
    } <= {*pure()}


def test_a_way_to_an_effect_is_found() -> None:
    assert way_to_an_effect("actors.sources.polling")[-1] in EFFECTS | {"random", "trio"}
    assert name_of(PATHS["actors.world"]) == "actors/world.py"
