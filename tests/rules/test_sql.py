"""X19: no SQL is built from values. Statements are constants, pieces of them are constants, values are parameters."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

import pytest

from extras.cluster.postgres.engine import _LOCKS
from tests.rules.source_files import ROOMS, modules, name_of, tree_of

SQL = re.compile(
    r"\b(SELECT\b.*\bFROM|INSERT\s+(OR\s+\w+\s+)?INTO|UPDATE\s+\S+\s+SET|DELETE\s+FROM|CREATE\s+(UNIQUE\s+)?(TABLE|INDEX)|"
    r"DROP\s+(TABLE|INDEX)|ALTER\s+TABLE|PRAGMA\s|ORDER\s+BY|GROUP\s+BY|WHERE\s|LIMIT\s)",
    re.S,
)
CONSTANT = re.compile(r"_*[A-Z][A-Z0-9_]*$")
ALLOWED = {
    "storage/sqlite/engine.py:PRAGMA {}": "of a table of ours; SQLite binds none in a pragma",
    "storage/sqlite/engine.py:PRAGMA {}={}": "of a table of ours; SQLite binds none in a pragma",
    "storage/sqlite/engine.py:PRAGMA busy_timeout={}": "a number of ours; SQLite binds none in a pragma",
    "storage/sqlite/engine.py:PRAGMA user_version={}": "a number of ours; SQLite binds none in a pragma",
}
"""file:beginning of the statement: why it may contain a non-constant."""


def pieces(node: ast.expr) -> list[ast.expr] | None:
    """Return the parts of a concatenated text; None for any other expression."""
    match node:
        case ast.JoinedStr(values=values):
            return [value.value if isinstance(value, ast.FormattedValue) else value for value in values]
        case ast.BinOp(left=left, op=ast.Add(), right=right):
            return [*(pieces(left) or [left]), *(pieces(right) or [right])]
        case ast.BinOp(left=ast.Constant(value=str()) as left, op=ast.Mod(), right=right):
            return [left, right]
        case ast.Call(func=ast.Attribute(value=ast.Constant(value=str()) as text, attr="format" | "join"), args=args):
            return [text, *args]
    return None


def offences(name: str, tree: ast.Module) -> Iterator[str]:
    words = _words_of(tree)
    for node in ast.walk(tree):
        if not isinstance(node, ast.expr) or (parts := pieces(node)) is None:
            continue
        said = "".join(str(part.value) if isinstance(part, ast.Constant) else "{}" for part in parts)
        values = [part for part in parts if not _is_constant(part, words)]
        if SQL.search(said + " ") and values and f"{name}:{said.strip()}" not in ALLOWED:
            yield f"{name}:{node.lineno}: {said.strip()[:60]} takes {', '.join(ast.unparse(value) for value in values)}"


def _words_of(tree: ast.Module) -> set[str]:
    """Return the names that a module gives nothing but constant texts."""
    plain, other = set(), {node.arg for node in ast.walk(tree) if isinstance(node, ast.arg)}
    stored = [node.id for node in ast.walk(tree) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)]
    for node in ast.walk(tree):
        match node:
            case ast.Assign(targets=[ast.Name(id=id)], value=value) if _is_text(value):
                plain.add(id)
                stored.remove(id)
    return plain - other - set(stored)


def _is_text(node: ast.expr) -> bool:
    match node:
        case ast.IfExp(body=one, orelse=other):
            return _is_text(one) and _is_text(other)
    return isinstance(node, ast.Constant) and isinstance(node.value, str)


def _is_constant(node: ast.expr, words: set[str]) -> bool:
    match node:
        case ast.Name(id=id) | ast.Attribute(attr=id):
            return bool(CONSTANT.match(id)) or (isinstance(node, ast.Name) and id in words)
        case ast.Call(func=ast.Name(id="int"), args=[inner]):
            return _is_constant(inner, words)
    return isinstance(node, ast.Constant)


LOCKING = re.compile(r"SELECT\b.*\bFOR (NO KEY UPDATE|UPDATE|KEY SHARE|SHARE)\b", re.S)
ONE_ROW = {"SELECT number FROM view FOR UPDATE"}


def unordered(tree: ast.Module) -> Iterator[str]:
    """Yield the statements that lock rows in no stated order: two nodes could wait for each other."""
    for node in ast.walk(tree):
        match node:
            case ast.Constant(value=str(text)) if (
                LOCKING.search(text) and "ORDER BY" not in text and text not in ONE_ROW
            ):
                yield text


def test_every_statement_that_locks_rows_names_their_order() -> None:
    assert [text for path in modules("storage") for text in unordered(tree_of(path))] == []
    assert [text for text in _LOCKS.values() if "ORDER BY" not in text] == []


@pytest.mark.parametrize(
    ("planted", "found"),
    [
        ("SELECT 1 FROM destination WHERE alert=? FOR UPDATE", 1),
        ("SELECT 1 FROM destination WHERE id=ANY(?) FOR NO KEY UPDATE", 1),
        ("SELECT 1 FROM destination WHERE id=ANY(?) ORDER BY id FOR NO KEY UPDATE", 0),
    ],
)
def test_a_lock_without_an_order_is_found(planted: str, found: int) -> None:
    assert len(list(unordered(ast.parse(f"c.execute({planted!r})")))) == found


def test_x19_no_statement_is_built_from_values() -> None:
    assert [line for path in modules(*ROOMS) for line in offences(name_of(path), tree_of(path))] == []


@pytest.mark.parametrize(
    "planted",
    [
        'c.execute(f"SELECT * FROM log WHERE id={id}")',
        'c.execute("DELETE FROM log WHERE id=" + id)',
        'c.execute("SELECT a FROM b ORDER BY %s" % column)',
        'c.execute("SELECT a FROM b ORDER BY {}".format(column))',
        'query = "SELECT a FROM b" + " WHERE x=" + x',
        'c.execute(f"UPDATE {table} SET a=1")',
        'c.execute(BASE + f" ORDER BY {column}")',
    ],
)
def test_the_scan_sees_each_way_to_build_one(planted: str) -> None:
    assert list(offences("planted.py", ast.parse(planted)))


def test_the_scan_lets_constants_and_parameters_pass() -> None:
    fine = """
def job(c, id, all):
    which = "" if all else " WHERE id=?"
    c.execute(_BASE + " WHERE id=?", (id,))
    c.execute(f"SELECT {_COLUMNS} FROM log" + which)
"""
    assert list(offences("planted.py", ast.parse(fine))) == []


def test_every_exception_is_still_needed() -> None:
    kept = dict(ALLOWED)
    for name in kept:
        reason = ALLOWED.pop(name)
        path = next(path for path in modules(*ROOMS) if name_of(path) == name.partition(":")[0])
        assert list(offences(name_of(path), tree_of(path))), name
        ALLOWED[name] = reason
