"""Kinds of faults, found in a module's tree and written as edits of its text.

Not mutated, because no promise depends on them: docstrings, annotations, assertions, `__repr__`, log lines, crash
points of the simulation (`reach`), and type checkers' code.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from itertools import pairwise
from typing import NamedTuple

_FLIPPED: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq, ast.NotEq: ast.Eq,
    ast.Is: ast.IsNot, ast.IsNot: ast.Is, ast.In: ast.NotIn, ast.NotIn: ast.In,
}  # fmt: skip
_TURNED: dict[type[ast.operator], type[ast.operator]] = {ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.FloorDiv}
_UNSEEN = frozenset({"log", "_log", "reach", "note", "checkpoint", "cancel_shielded_checkpoint"})
_SIMPLE = (ast.Assign, ast.AugAssign, ast.Expr, ast.Delete)


class Change(NamedTuple):
    """An edit: bytes `start` to `end` of the file change from `before` to `after`. first, last: its lines."""

    kind: str
    start: int
    end: int
    before: str
    after: str
    first: int
    last: int


class _Text:
    """A module's text, edited by nodes of its tree."""

    def __init__(self, text: str) -> None:
        self._raw = text.encode()
        self._starts = [0]
        for line in self._raw.splitlines(keepends=True):
            self._starts.append(self._starts[-1] + len(line))

    def span(self, first: ast.AST, last: ast.AST | None = None) -> tuple[int, int]:
        a, b = first, last or first
        start = self._starts[a.lineno - 1] + a.col_offset  # type: ignore[attr-defined]
        return start, self._starts[b.end_lineno - 1] + b.end_col_offset  # type: ignore[attr-defined]

    def of(self, node: ast.AST, last: ast.AST | None = None) -> str:
        start, end = self.span(node, last)
        return self._raw[start:end].decode()

    def change(self, kind: str, node: ast.AST, after: str, last: ast.AST | None = None) -> Change:
        start, end = self.span(node, last)
        until = (last or node).end_lineno  # type: ignore[attr-defined]
        return Change(kind, start, end, self._raw[start:end].decode(), after, node.lineno, until)  # type: ignore[attr-defined]


def changes(tree: ast.Module, text: str) -> Iterator[tuple[Change, str]]:
    """Yield each possible change of a module, with the name of its scope."""
    yield from _within(tree, _Text(text), "")


def _within(node: ast.AST, text: _Text, where: str) -> Iterator[tuple[Change, str]]:
    for body in (getattr(node, field, None) for field in ("body", "orelse", "finalbody")):
        if isinstance(body, list):
            for change in _of_block(node, body, text):
                yield change, where
    for child in ast.iter_child_nodes(node):
        if _is_aside(child):
            continue
        inner = where
        if isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            inner = f"{where}.{child.name}" if where else child.name
        for change in _of_node(child, text):
            yield change, inner
        yield from _within(child, text, inner)


def _is_aside(node: ast.AST) -> bool:
    match node:
        case ast.FunctionDef(name="__repr__" | "__str__") | ast.Assert() | ast.arg() | ast.Import() | ast.ImportFrom():
            return True
        case ast.Expr(value=ast.Constant() | ast.Yield()):
            return True
        case ast.Expr(value=ast.Call() | ast.Await()):
            return _is_unseen(node)
        case ast.If(test=ast.Name(id="TYPE_CHECKING")):
            return True
        case ast.ClassDef():
            return any(getattr(base, "id", getattr(base, "attr", "")) == "Protocol" for base in node.bases)
    return False


def _is_unseen(node: ast.Expr) -> bool:
    value = node.value.value if isinstance(node.value, ast.Await) else node.value
    if not isinstance(value, ast.Call):
        return False
    called = value.func
    name = called.attr if isinstance(called, ast.Attribute) else getattr(called, "id", "")
    return name in _UNSEEN


# --- kinds that concern one node -----


def _of_node(node: ast.AST, text: _Text) -> Iterator[Change]:
    match node:
        case ast.Compare(ops=[op]) if type(op) in _FLIPPED:
            after = ast.Compare(node.left, [_FLIPPED[type(op)]()], node.comparators)
            yield text.change("comparison flipped", node, ast.unparse(after))
        case ast.BoolOp():
            other: ast.boolop = ast.Or() if isinstance(node.op, ast.And) else ast.And()
            yield text.change("boolean negated", node, f"({ast.unparse(ast.BoolOp(other, node.values))})")
        case ast.UnaryOp(op=ast.Not()):
            yield text.change("boolean negated", node, f"({text.of(node.operand)})")
        case ast.Constant(value=bool() as value):
            yield text.change("constant changed", node, str(not value))
        case ast.Constant(value=int() | float() as value):
            yield text.change("one more or less", node, f"{value + 1}")
            if value not in (0, 1, 2):
                yield text.change("constant changed", node, f"{value * 10}")
        case ast.BinOp(op=op) if type(op) in _TURNED and not _is_text(node):
            after_op = ast.BinOp(node.left, _TURNED[type(op)](), node.right)
            yield text.change("one more or less", node, f"({ast.unparse(after_op)})")
        case ast.If() | ast.IfExp():
            yield text.change("branch forced", node.test, "True")
            yield text.change("branch forced", node.test, "False")
        case ast.While() if not isinstance(node.test, ast.Constant):
            yield text.change("branch forced", node.test, "False")
        case ast.ExceptHandler() if not all(isinstance(each, ast.Pass) or _is_aside(each) for each in node.body):
            yield text.change("exception arm emptied", node.body[0], "pass", node.body[-1])


def _is_text(node: ast.BinOp) -> bool:
    sides = (node.left, node.right)
    return any(
        isinstance(side, ast.JoinedStr) or isinstance(getattr(side, "value", None), str | bytes) for side in sides
    )


# --- kinds that concern statements in a row -----


def _of_block(owner: ast.AST, body: list[ast.stmt], text: _Text) -> Iterator[Change]:
    seen = [each for each in body if not (isinstance(each, ast.Expr) and isinstance(each.value, ast.Constant))]
    in_function = not isinstance(owner, ast.Module | ast.ClassDef)
    for statement in seen if in_function else ():
        if _is_call(statement) or _sets_a_field(statement):
            yield text.change("statement dropped", statement, "pass")
        if isinstance(statement, ast.Raise):
            yield text.change("statement dropped", statement, "pass")
    if isinstance(owner, ast.FunctionDef | ast.AsyncFunctionDef) and _returns_nothing(owner):
        for statement in seen[1:]:
            if not isinstance(statement, ast.Return) and not _is_aside(statement):
                yield text.change("early return", statement, "return", seen[-1])
    for one, two in pairwise(seen):
        if in_function and _has_an_order(one, two) and not (_is_aside(one) or _is_aside(two)):
            gap = " " * one.col_offset
            yield text.change("order swapped", one, f"{text.of(two)}\n{gap}{text.of(one)}", two)


def _has_an_order(one: ast.stmt, two: ast.stmt) -> bool:
    """Return whether the order of two statements may matter: one awaits, or has an effect."""
    if not (isinstance(one, _SIMPLE) and isinstance(two, _SIMPLE)):
        return False
    waits = any(isinstance(each, ast.Await) for statement in (one, two) for each in ast.walk(statement))
    return waits or _is_call(one) or _is_call(two)


def _is_call(node: ast.stmt) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Call | ast.Await) and not _is_unseen(node)


def _sets_a_field(node: ast.stmt) -> bool:
    match node:
        case ast.Assign(targets=[ast.Attribute() | ast.Subscript()]) | ast.AugAssign() | ast.Delete():
            return True
    return False


def _returns_nothing(node: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    says_none = isinstance(node.returns, ast.Constant) and node.returns.value is None
    return says_none and not any(isinstance(each, ast.Yield | ast.YieldFrom) for each in ast.walk(node))
