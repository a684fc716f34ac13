"""msgspec has errors of its own for what is no JSON or of another type, but not for what is no UTF-8."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.rules.source_files import ROOMS, modules, name_of, tree_of

OURS = {"MsgspecError", "DecodeError"}
WIDER = {"ValueError", "UnicodeError", "UnicodeDecodeError", "Exception"}


def narrow_catches(tree: ast.AST) -> Iterator[int]:
    """Yield the lines of handlers that a single byte of damage gets past."""
    for node in ast.walk(tree):
        if isinstance(node, ast.ExceptHandler) and node.type is not None:
            caught = {
                part.attr if isinstance(part, ast.Attribute) else getattr(part, "id", "")
                for part in ast.walk(node.type)
            }
            if caught & OURS and not caught & WIDER:
                yield node.lineno


@pytest.mark.parametrize("path", modules(*ROOMS), ids=name_of)
def test_who_catches_what_cannot_be_decoded_catches_what_is_no_utf_8(path: Path) -> None:
    assert not list(narrow_catches(tree_of(path)))


def test_the_rule_sees_a_narrow_catch() -> None:
    tree = ast.parse("try:\n    f()\nexcept msgspec.MsgspecError:\n    g()\n")
    assert list(narrow_catches(tree)) == [3]
    assert not list(
        narrow_catches(ast.parse("try:\n    f()\nexcept (msgspec.DecodeError, UnicodeDecodeError):\n    g()\n"))
    )
