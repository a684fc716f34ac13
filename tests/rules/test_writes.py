"""A write that began with a read compares the record with that read, or runs inside one store transaction (`edit`).

Nodes and requests write at the same time: a whole record written from an old read would undo an acknowledged write in
between.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tests.rules.source_files import modules, name_of, nodes_of

COMPARED = {("sources", "update"), ("sources", "delete")}
"""They take a record; `before` names the one it replaces."""
ADDED = {("alerts", "put"), ("alerts", "put_destination"), ("publications", "put"), ("saved_views", "put")}
"""They overwrite without comparing: for new records only."""


def called(node: ast.AST) -> tuple[str, str]:
    """Return (store, method) of a call, as in `storage.sources.update(…)`; empty for any other."""
    match node:
        case ast.Call(func=ast.Attribute(attr=method, value=ast.Attribute(attr=store))):
            return store, method
        case ast.Call(func=ast.Attribute(attr="put_destination")):  # no other store has it
            return "alerts", "put_destination"
    return "", ""


def blind(tree: tuple[ast.AST, ...]) -> Iterator[ast.Call]:
    """Yield the writes of a module that may undo another's."""
    for function in (node for node in tree if isinstance(node, ast.AsyncFunctionDef)):
        inside = list(ast.walk(function))
        changed = {
            target.id
            for node in inside
            if isinstance(node, ast.Assign) and _replaces(node.value)
            for target in node.targets
            if isinstance(target, ast.Name)
        }
        for node in inside:
            if not isinstance(node, ast.Call):
                continue
            if called(node) in COMPARED:
                before = {keyword.arg: keyword.value for keyword in node.keywords}.get("before")
                if before is None or (isinstance(before, ast.Constant) and before.value is None):
                    yield node
            if called(node) in ADDED and any(
                _replaces(given) or (isinstance(given, ast.Name) and given.id in changed) for given in node.args
            ):
                yield node


def _replaces(node: ast.expr) -> bool:
    """Return whether an expression is a changed record; one with its own new id is a new record."""
    if not isinstance(node, ast.Call) or ast.unparse(node.func).rpartition(".")[2] != "replace":
        return False
    return "id" not in {keyword.arg for keyword in node.keywords}


def test_no_write_restores_a_stale_read() -> None:
    found = [
        f"{name_of(path)}:{node.lineno}: {ast.unparse(node)[:90]}"
        for path in modules("actors", "api", "extras", "sanderling")
        for node in blind(nodes_of(path))
    ]
    assert found == []


def test_the_rule_finds_blind_writes() -> None:
    planted = """
async def f(storage):
    alert = replace(await storage.alerts.get("a"), name="b")
    await storage.alerts.put(alert)
    await storage.sources.update(source, lease, before=None)
    await storage.sources.delete(source, lease)
    await storage.sources.update(source, lease, before=seen)
    await storage.alerts.put(Alert("b"))
"""
    assert [node.lineno for node in blind(tuple(ast.walk(ast.parse(planted))))] == [4, 5, 6]
