"""The table of commands: quick help, exit codes, and settings as flags."""

from __future__ import annotations

import errno
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
import trio

from actors.setting_table import declared
from api.keys import SCOPES
from api.route import PUBLIC
from api.route import SCOPES as ROUTE_SCOPES
from extras.manual.references import tree
from sanderling import UNUSED, cli, flags
from sanderling.environment import flag
from sanderling.exits import CommandFailed, Exit
from tests.rules.source_files import ROOT


@pytest.fixture(autouse=True)
def _no_variables(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(flags, "environ", lambda: {"SANDERLING_DATA": str(tmp_path)})


def test_every_setting_is_a_flag_of_serve(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.run(["serve", "--help-all"]) == Exit.WELL
    shown = capsys.readouterr().out
    assert [name for name in declared() if flag(name) not in shown] == []


def test_its_help_has_those_that_people_need_first(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.run(["serve", "--help"]) == Exit.WELL
    shown = capsys.readouterr().out
    assert all(flag(name) in shown for name in (*cli.EVERYDAY, "help_all")) and "--cadence-floor" not in shown
    assert len(shown.splitlines()) < 40


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (["version"], Exit.WELL),
        (["--version"], Exit.WELL),
        (["--help"], Exit.WELL),
        (["frobnicate"], Exit.USAGE),
        (["settings", "--port", "x"], Exit.BAD_SETTING),
        (["keys", "create", "--name", "x"], Exit.USAGE),
        (["keys", "create", "--name", "x", "--scope", "everything"], Exit.USAGE),
        (["keys", "revoke", "nobody"], Exit.FAILED),
        (["keys", "delete", "nobody"], Exit.FAILED),
        (["tail"], Exit.UNREACHABLE),
        (["tail", "--url", "http://127.0.0.1:1"], Exit.USAGE),
        (["probe", "https://hook.test/"], Exit.USAGE),
        (["probe", "https://127.0.0.1/", "--secret", "whsec_AQID"], Exit.USAGE),
        (["probe", "https://127.0.0.1/", "--secret", "whsec_AQID", "--data", "absent"], Exit.USAGE),
        (["listen", "--jwks", "absent"], Exit.USAGE),
        (["listen", "--status", "99"], Exit.USAGE),
    ],
)
def test_the_exit_code_says_how_it_ended(arguments: list[str], code: Exit) -> None:
    assert cli.run(arguments) == code


def test_the_last_line_of_create_is_the_key_alone(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.run(["keys", "create", "--name", "reader", "--scope", "stream:read"]) == Exit.WELL
    written = capsys.readouterr()
    key = written.out.splitlines()[-1]
    assert key.startswith("svc_") and len(key) == 47
    assert key not in written.err
    assert cli.run(["keys", "list"]) == Exit.WELL
    listed = capsys.readouterr().out
    assert key[:12] in listed and key not in listed
    assert cli.run(["keys", "revoke", key[:12]]) == Exit.WELL
    assert cli.run(["keys", "list"]) == Exit.WELL
    assert capsys.readouterr().out == ""


def test_rotating_the_signing_key_keeps_the_old_one_in_the_list(capsys: pytest.CaptureFixture[str]) -> None:
    for _ in range(2):
        assert cli.run(["keys", "rotate-signing"]) == Exit.WELL
    first, second = capsys.readouterr().out.split()
    assert cli.run(["keys", "signing"]) == Exit.WELL
    assert [line.split()[:2] for line in capsys.readouterr().out.splitlines()] == [
        [second, "active"],
        [first, "retired"],
    ]
    assert cli.run(["keys", "signing", "--jwks"]) == Exit.WELL
    assert [key["kid"] for key in json.loads(capsys.readouterr().out)["keys"]] == [second, first]


def test_a_folder_that_is_not_there_is_made_by_no_command_that_needs_one(tmp_path: Path) -> None:
    for command in (["rotate-signing"], ["signing"], ["list"], ["revoke", "reader"]):
        assert cli.run(["keys", *command, "--data", str(tmp_path / "typo")]) == Exit.BAD_DATA
    assert not (tmp_path / "typo").exists()


def test_settings_show_value_and_origin(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    (tmp_path / "sanderling.toml").write_text("workers = 3\n")
    assert cli.run(["settings", "--port", "9"]) == Exit.WELL
    rows = {line.split()[0]: line.split()[1:] for line in capsys.readouterr().out.splitlines()}
    assert rows["port"] == ["9", "--port"]
    assert rows["workers"] == ["3", str(tmp_path / "sanderling.toml")]


def test_a_failure_inside_a_nursery_is_reported_as_itself(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    async def fail() -> None:
        raise CommandFailed("The words.", Exit.TRY_AGAIN)

    async def inside() -> None:
        async with trio.open_nursery() as nursery:
            nursery.start_soon(fail)

    monkeypatch.setattr(cli.main, "main", lambda *_args, **_options: trio.run(inside))
    assert cli.run([]) == Exit.TRY_AGAIN
    assert capsys.readouterr().err == "sanderling: The words.\n"


@pytest.mark.parametrize(("error", "code"), [(errno.EPIPE, Exit.WELL), (errno.ENOSPC, Exit.TRY_AGAIN)])
@pytest.mark.real
def test_a_closed_output_causes_no_traceback(error: int, code: Exit) -> None:
    reader, writer = os.pipe()
    os.close(reader)
    if error == errno.ENOSPC:
        full = os.open("/dev/full", os.O_WRONLY)
        os.dup2(full, writer)
        os.close(full)
    done = subprocess.run(
        [sys.executable, "-m", "sanderling", "--help"], check=False, cwd=ROOT, stdout=writer, stderr=subprocess.PIPE
    )
    os.close(writer)
    assert done.returncode == code
    assert done.stderr.decode() == (
        "" if code == Exit.WELL else f"sanderling: could not write the output: {os.strerror(error)}.\n"
    )


def test_an_empty_list_of_keys_says_how_to_make_one(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.run(["keys", "list"]) == Exit.WELL
    written = capsys.readouterr()
    assert written.out == "" and "keys create" in written.err


def test_a_bug_is_not_swallowed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cli.main, "main", lambda *_args, **_options: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        cli.run([])


def test_the_scopes_offered_are_those_that_routes_ask_for() -> None:
    assert set(SCOPES) == ROUTE_SCOPES - {PUBLIC}


@pytest.mark.real
def test_help_imports_nothing_heavy() -> None:
    probe = "import sys; from sanderling import cli; cli.run(['--help']); print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", probe], cwd=ROOT, capture_output=True, text=True, check=True)
    assert not {"trio", "httpx", "quart", "lxml", "sqlite3", "structlog"} & set(done.stdout.split())


@pytest.mark.real
def test_a_command_imports_neither_the_dashboard_nor_the_actors_of_the_service() -> None:
    probe = "import sys; from sanderling import cli; cli.run(['sources', 'list', '--nonsense']); print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", probe], cwd=ROOT, capture_output=True, text=True, check=True)
    loaded = set(done.stdout.split())
    assert "sanderling.commands.sources" in loaded
    assert not {"werkzeug", "api.dashboard", "actors.sources", "actors.overseer", "actors.coverage"} & loaded


def test_each_example_is_in_the_help_of_a_command() -> None:
    helps = {name.removeprefix("sanderling "): command.help or "" for name, command in tree()}
    examples = cli.WORDS["examples"]
    assert examples and [name for name, text in examples.items() if not helps.get(name, "").endswith(text)] == []


_PROBE = """
import sys
from sanderling import without_unused
with without_unused():
    import sanderling.cli, sanderling.serve
print(*sys.modules)
from xml.etree.ElementTree import fromstring
assert fromstring("<a>b</a>").text == "b"
"""


@pytest.mark.real
def test_the_service_imports_no_package_that_it_never_uses() -> None:
    done = subprocess.run([sys.executable, "-c", _PROBE], cwd=ROOT, capture_output=True, text=True, check=True)
    late = {"prometheus_client", "smtpproto", "email.policy", "xml.sax", "sanderling.commands.alerts"}
    found = set(done.stdout.split())
    assert "sanderling.serve" in found and not found & {*UNUSED, *late}


def test_the_help_lists_each_command_once_and_cuts_no_line(capsys: pytest.CaptureFixture[str]) -> None:
    listed = [name for rows in cli.WORDS["sections"].values() for name in rows]
    assert sorted(listed) == sorted(cli.main.commands)
    assert all(len(says) <= 45 for rows in cli.WORDS["sections"].values() for says in rows.values())
    cli.run(["--help"])
    out = capsys.readouterr().out
    assert "Read and notify:" in out and "..." not in out.partition("Watch:")[2]
