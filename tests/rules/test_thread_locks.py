"""The event loop takes no thread lock: its holder may wait for a disk or a server, and all tasks would wait.

Checked: `async def`, and direct calls from it to a class that takes such a lock. A call from elsewhere through a sync
function is not seen.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

from tests.rules.source_files import modules, name_of, nodes_of, tree_of

ROOMS = ("actors", "api", "extras", "storage")
KINDS = {"Lock", "RLock", "Condition", "Semaphore", "BoundedSemaphore"}
WAITS_FOR_NOTHING = {"PostgresConnection": "its lock is held while a socket is closed or shut down: neither waits"}
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


def locks_of(path: Path) -> set[str]:
    """Return the attributes and names of a module that are thread locks."""
    imported = {
        alias.asname or alias.name
        for node in nodes_of(path)
        if isinstance(node, ast.ImportFrom) and node.module == "threading"
        for alias in node.names
        if alias.name in KINDS
    }
    makes = imported | {f"threading.{kind}" for kind in KINDS}
    return {
        ast.unparse(target)
        for node in nodes_of(path)
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Call) and ast.unparse(node.value.func) in makes
        for target in node.targets
    }


def own_nodes(function: ast.AST) -> Iterator[ast.AST]:
    """Yield a function's own nodes, without nested functions: these may run in a thread."""
    for node in ast.iter_child_nodes(function):
        if not isinstance(node, (*FUNCTIONS, ast.Lambda)):
            yield node
            yield from own_nodes(node)


def takes(function: ast.AST, locks: set[str]) -> bool:
    for node in own_nodes(function):
        if isinstance(node, ast.With) and locks & {ast.unparse(item.context_expr) for item in node.items}:
            return True
        if isinstance(node, ast.Call) and ast.unparse(node.func) in {f"{lock}.acquire" for lock in locks}:
            return True
    return False


def takers() -> dict[str, set[str]]:
    """Return the methods that take a lock, by their class."""
    found = dict[str, set[str]]()
    for path in modules(*ROOMS):
        if locks := locks_of(path):
            for node in nodes_of(path):
                if isinstance(node, ast.ClassDef):
                    functions = [each for each in node.body if isinstance(each, FUNCTIONS)]
                    found[node.name] = {each.name for each in functions if takes(each, locks)}
    return {name: methods for name, methods in found.items() if methods and name not in WAITS_FOR_NOTHING}


def on_the_loop(path: Path, classes: dict[str, set[str]]) -> Iterator[str]:
    """Yield the places in a module where the loop takes a thread lock."""
    locks = locks_of(path)
    text = ast.unparse(tree_of(path))
    methods = {method for name, taking in classes.items() if name in text for method in taking}
    for function in nodes_of(path):
        if isinstance(function, ast.AsyncFunctionDef):
            if takes(function, locks):
                yield f"{name_of(path)}: {function.name} takes a lock"
            for node in own_nodes(function):
                if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in methods:
                    yield f"{name_of(path)}: {function.name} calls {ast.unparse(node.func)}"


def test_no_lock_of_threads_is_taken_on_the_loop() -> None:
    classes = takers()
    assert "ShippedLog" in classes, "the rule sees no lock any more"
    assert [place for path in modules(*ROOMS) for place in on_the_loop(path, classes)] == []
