"""The output of `--json` on a terminal and elsewhere (S19)."""

from __future__ import annotations

import ast
import json

import click
import pytest
from click.testing import CliRunner

from sanderling.client import terminal as printing
from tests.rules.source_files import ROOT

TITLE = "Sale \u009b31m\x7f\u202eevil\u2066\u200f\u061c\u2028 日本語 é 👍"


def printed(monkeypatch: pytest.MonkeyPatch, *, terminal: bool) -> str:
    monkeypatch.setattr(printing, "on_terminal", lambda stream: terminal)
    result = CliRunner().invoke(click.command()(lambda: printing.print_json({"title": TITLE})))
    return result.output


def test_x18_s19_json_on_a_terminal_neither_moves_the_cursor_nor_turns_text_round(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    text = printed(monkeypatch, terminal=True)
    assert not set("\u009b\x7f\u202e\u2066\u200f\u061c\u2028") & set(text)
    assert "日本語 é 👍" in text and "\\u009b" in text
    assert json.loads(text) == {"title": TITLE}


def test_s19_programs_get_the_bytes_as_they_are(monkeypatch: pytest.MonkeyPatch) -> None:
    assert TITLE in printed(monkeypatch, terminal=False)


def test_s19_no_command_prints_json_in_another_way() -> None:
    found = []
    for path in sorted((ROOT / "sanderling").rglob("*.py")):
        if "simulation" in path.parts:
            continue
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.Call) and ast.unparse(node.func).endswith(("echo", "_echo")):
                said = ast.unparse(node)
                if ("json.encode(" in said or "json.dumps(" in said or "as_json(" in said) and "shown(" not in said:
                    found.append(f"{path.name}: {said}")
    assert found == []
