"""msgspec raises its own errors for bad JSON or a wrong type, but not for invalid UTF-8."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

from tests.rules.source_files import ROOMS, modules, name_of, nodes_of

OURS = {"MsgspecError", "DecodeError"}
WIDER = {"ValueError", "UnicodeError", "UnicodeDecodeError", "Exception"}


def narrow_catches(nodes: Iterable[ast.AST]) -> Iterator[int]:
    """Yield the lines of handlers that miss a single damaged byte."""
    for node in nodes:
        if isinstance(node, ast.ExceptHandler) and node.type is not None:
            caught = {
                part.attr if isinstance(part, ast.Attribute) else getattr(part, "id", "")
                for part in ast.walk(node.type)
            }
            if caught & OURS and not caught & WIDER:
                yield node.lineno


def test_catching_a_decode_error_catches_invalid_utf_8() -> None:
    paths = modules(*ROOMS)
    assert len(paths) > 400
    assert [f"{name_of(path)}:{line}" for path in paths for line in narrow_catches(nodes_of(path))] == []


def test_the_rule_sees_a_narrow_catch() -> None:
    for caught, lines in (("msgspec.MsgspecError", [3]), ("(msgspec.DecodeError, UnicodeDecodeError)", [])):
        tree = ast.parse(f"try:\n    f()\nexcept {caught}:\n    g()\n")
        assert list(narrow_catches(ast.walk(tree))) == lines
