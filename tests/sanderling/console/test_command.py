"""The command before it takes the terminal, and the modules that import Textual."""

from __future__ import annotations

import pytest

from sanderling.cli import run
from tests.rules.source_files import ROOMS, modules, name_of
from tests.rules.test_rooms import imported


def test_nothing_but_the_console_imports_textual() -> None:
    found = {name_of(path) for path in modules(*ROOMS) if "textual" in imported(path)}
    assert found and all(name.startswith("sanderling/console/") for name in found)


def test_without_textual_it_says_how_to_get_it(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("sanderling.commands.operating.find_spec", lambda name: None)
    assert run(["console"]) == 2
    assert "pip install textual==8.2.8" in capsys.readouterr().err


def test_without_a_terminal_the_console_names_alternatives(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["console"]) == 2
    assert "sanderling status`" in capsys.readouterr().err


def test_a_remote_service_needs_a_key(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr("sanderling.commands.operating.on_terminal", lambda stream: True)
    monkeypatch.delenv("SANDERLING_KEY", raising=False)
    assert run(["console", "--url", "http://elsewhere.test"]) == 2
    assert "needs an API key" in capsys.readouterr().err
