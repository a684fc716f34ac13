from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import click
import msgspec
import pytest

from sanderling.cli import main

ACTS = "it does something, and says so in a sentence"
WITHOUT = {
    "completion": "a script for a shell",
    "console": "takes the whole terminal",
    "export": "its file is JSON already",
    "help": "a page for a person",
    "install": ACTS,
    "keys master": "a secret that goes into a file",
    "keys rotate-master": ACTS,
    "keys rotate-signing": ACTS,
    "mcp": "messages of JSON-RPC are all that it prints",
    "publications readdress": "an address, the only thing on standard output",
    "restore": ACTS,
    "standby": "it runs until it is stopped, one line for each thing that changes; --once ends with an exit code",
    "serve": "runs, and logs JSON where nobody is at a terminal",
    "try": "a tour for a person",
    "uninstall": ACTS,
    **{f"alerts {act}": ACTS for act in ("delete", "pause", "resume")},
    **{f"{what} delete": ACTS for what in ("bins", "publications")},
    **{f"people {act}": ACTS for act in ("disable", "enable", "remove", "role")},
    **{f"sources {act}": ACTS for act in ("delete", "pause", "rename", "restore", "resume", "tag", "untag")},
}
"""Commands without data to print, each with its purpose."""


def walked(command: click.Command, path: tuple[str, ...] = ()) -> Iterator[tuple[str, click.Command]]:
    if not isinstance(command, click.Group):
        yield " ".join(path), command
        return
    context = click.Context(command)
    for name in command.list_commands(context):
        if (below := command.get_command(context, name)) is not None:
            yield from walked(below, (*path, name))


def test_every_command_that_prints_data_prints_it_as_json_too() -> None:
    lacking = {
        name
        for name, command in walked(main)
        if not any("--json" in each.opts for each in command.params if isinstance(each, click.Option))
    }
    assert lacking == set(WITHOUT)


@pytest.mark.parametrize(
    "line",
    [
        "kinds list",
        "kinds show ntfy",
        "templates list",
        "templates show gtm-competitor-watch",
        "licences",
        "licences trio",
        "version",
    ],
)
def test_offline_commands_print_json_lines(line: str, capsys: pytest.CaptureFixture[str]) -> None:
    main.main([*line.split(), "--json"], standalone_mode=False)
    lines = capsys.readouterr().out.splitlines()
    assert lines and all(isinstance(msgspec.json.decode(each), dict) for each in lines)


@pytest.mark.parametrize("group", ["kinds", "templates"])
def test_a_check_says_of_each_file_whether_it_is_well(
    group: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "bad.toml").write_text("nothing = 1")
    main.main([group, "check", str(tmp_path), "--json"], standalone_mode=False)
    found = [msgspec.json.decode(each) for each in capsys.readouterr().out.splitlines()]
    assert found and not any(each["well"] for each in found) and found[0]["file"].endswith("bad.toml")
