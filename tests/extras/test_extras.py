"""Each row of the table of extras agrees with the extra, so the product can show it without an import."""

from __future__ import annotations

import subprocess
import sys
from importlib import import_module
from importlib.util import find_spec

import click
import pytest

from actors.extras import TABLE, extra, role
from sanderling.cli import main
from tests.rules.source_files import ROOT


def test_each_folder_has_a_row_and_each_row_a_folder() -> None:
    assert {f"extras.{path.parent.name}" for path in (ROOT / "extras").glob("*/__init__.py")} == set(TABLE)


@pytest.mark.parametrize("module", TABLE)
def test_a_row_lists_the_commands_of_its_extra(module: str) -> None:
    assert {*TABLE[module].commands} == {command.name for command in extra(module).commands()}


@pytest.mark.parametrize("module", TABLE)
def test_the_program_finds_the_commands(module: str) -> None:
    context = click.Context(main)
    assert {*TABLE[module].commands} <= {*main.list_commands(context)}
    for command in extra(module).commands():
        assert main.get_command(context, str(command.name)) is command


@pytest.mark.parametrize("module", TABLE)
def test_a_row_names_modules_of_its_own(module: str) -> None:
    for named in (*TABLE[module].roles.values(), *TABLE[module].from_the_system):
        assert named.startswith(f"{module}.") and find_spec(named) is not None


def test_an_extra_runs_its_role_of_a_process_and_nothing_else_has_one() -> None:
    roles = {name: module for row in TABLE.values() for name, module in row.roles.items()}
    assert roles and all(role(name) is import_module(module).main for name, module in roles.items())
    assert role() is None and role("serve") is None


@pytest.mark.real
def test_neither_the_help_nor_another_command_imports_an_extra() -> None:
    probe = "import sys; from sanderling import cli; cli.run(sys.argv[1:]); print(*sys.modules)"
    for line in ("--help", "version", "imprt"):
        command = [sys.executable, "-c", probe, line]
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
        assert not [name for name in done.stdout.split() if name.startswith("extras")]
