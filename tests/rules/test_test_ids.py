"""A test has the same id in every process: pytest-xdist runs nothing where two workers collect different ids."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tests.rules.source_files import modules, name_of, nodes_of

FROM_CLOCK_OR_CHANCE = {"now", "utcnow", "today", "time", "monotonic", "urandom", "uuid4", "random", "token_bytes"}


def parametrized(tree: tuple[ast.AST, ...]) -> Iterator[ast.Call]:
    for node in tree:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            for decorator in node.decorator_list:
                if isinstance(decorator, ast.Call) and ast.unparse(decorator.func).endswith("parametrize"):
                    yield decorator


def varying(decorator: ast.Call) -> Iterator[ast.expr]:
    """Yield expressions that differ between processes: clocks, chance, gzip's time stamp, the order of a set."""
    for node in ast.walk(decorator):
        if isinstance(node, ast.Call):
            name = ast.unparse(node.func).rpartition(".")[2]
            without_time = ast.unparse(node.func) == "gzip.compress" and "mtime" not in {k.arg for k in node.keywords}
            if name in FROM_CLOCK_OR_CHANCE or without_time:
                yield node
    for argument in decorator.args[1:2]:
        if isinstance(argument, ast.Set | ast.SetComp):
            yield argument


def test_parameters_are_equal_in_every_process() -> None:
    found = [
        f"{name_of(path)}:{node.lineno}: {ast.unparse(node)[:80]}"
        for path in modules("tests")
        for decorator in parametrized(nodes_of(path))
        for node in varying(decorator)
    ]
    assert found == []


def test_the_rule_finds_varying_ids() -> None:
    text = '@pytest.mark.parametrize("a", [gzip.compress(b""), time.time(), gzip.compress(b"", mtime=0)])\ndef f(): ...'
    assert len([node for d in parametrized(tuple(ast.walk(ast.parse(text)))) for node in varying(d)]) == 2
