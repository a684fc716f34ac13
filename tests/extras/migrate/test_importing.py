"""The command: it prints its plan, asks, carries it out, and ends with a code for scripts."""

from __future__ import annotations

import json
import os
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from extras.migrate import importing
from sanderling import cli
from sanderling.client import api
from sanderling.exits import Exit
from tests.extras.migrate import samples
from tests.extras.migrate.service import FakeService

LIST = b"https://a.test/  x | A \x1b[31m title\nhttps://gone.test/\nfile:///etc/passwd\n"
Shown = Callable[[], tuple[str, str]]


@pytest.fixture
def service(monkeypatch: pytest.MonkeyPatch) -> FakeService:
    made = FakeService()
    made.becomes = lambda url: "gone" if "gone" in url else ""
    monkeypatch.setattr(api, "client_here", lambda _url, _key: made.client())
    return made


@pytest.fixture
def file(tmp_path: Path) -> str:
    (tmp_path / "list").write_bytes(LIST)
    return str(tmp_path / "list")


def test_a_dry_run_shows_all_and_asks_the_service_nothing(
    service: FakeService, file: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.run(["import", "--dry-run", file]) == Exit.WELL
    shown = capsys.readouterr().out
    assert shown.startswith("This is a list of addresses. It becomes 2 sources.\nExactly: address (2), ")
    assert "Not at all:\n  address: file:///etc/passwd: scheme" in shown and "\x1b" not in shown
    assert service.asked == []


def test_json_has_the_very_bodies_that_are_sent(
    service: FakeService, file: str, capsys: pytest.CaptureFixture[str]
) -> None:
    cli.run(["import", "--dry-run", "--json", file])
    lines = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    planned = [line["source"] for line in lines if "source" in line]
    assert lines[-1]["plan"] | {"kind": "urls", "sources": 2, "impossible": 1} == lines[-1]["plan"]
    assert cli.run(["import", "--yes", "--json", file]) == Exit.FAILED
    (_, _, sent) = service.asked[0]
    assert sent["sources"] == planned
    done = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert done[-1] == {"sums": {"source_new": 1, "source_refused": 1}}
    assert done[1] == {
        "what": "source", "place": "line 2", "name": "https://gone.test/", "became": "refused", "says": "it is gone",
    }  # fmt: skip


def test_each_refusal_has_a_line_and_sets_the_exit_code(
    service: FakeService, file: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.run(["import", "--yes", file]) == Exit.FAILED
    out, err = capsys.readouterr()
    assert out.splitlines() == [
        "new      source      https://a.test/  (line 1)",
        "refused  source      https://gone.test/  (line 2): it is gone",
    ]
    assert err == "1 source added, 1 refused.\n"


@pytest.mark.parametrize(("answer", "asked"), [("y\n", 1), ("n\n", 0), ("\n", 0)])
def test_on_a_terminal_the_report_is_shown_before_the_confirmation(
    service: FakeService,
    file: str,
    answer: str,
    asked: int,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(importing, "on_terminal", lambda _stream: True)
    monkeypatch.setattr("click.termui.visible_prompt_func", lambda _prompt: answer.strip())
    cli.run(["import", file])
    assert "Not at all:" in capsys.readouterr().out
    assert len(service.asked) == asked


@pytest.mark.parametrize(
    ("arguments", "code", "says"),
    [
        (["import", "{file}"], Exit.USAGE, "no terminal to confirm on"),
        (["import", "--yes", "--dry-run", "{file}"], Exit.USAGE, "exclude each other"),
        (["import", "--from", "word", "{file}"], Exit.USAGE, "'word' is not one of"),
        (["import", "--dry-run", "{file}.absent"], Exit.USAGE, "No such file"),
        (["import", "--dry-run", "--from", "changedetection", "{file}"], Exit.FAILED, "It is not JSON"),
        (["import", "--dry-run", "/dev/null"], Exit.FAILED, "Name the program with --from"),
    ],
)
def test_an_impossible_move_is_explained(
    service: FakeService, file: str, arguments: list[str], code: Exit, says: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.run([word.replace("{file}", file) for word in arguments]) == code
    assert says in capsys.readouterr().err
    assert service.asked == []


def test_secrets_of_new_destinations_are_shown_once_and_addresses_by_their_host(
    service: FakeService, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "url-watches.json"
    path.write_bytes(samples.old_datastore())
    for secrets in (3, 0):  # the service in memory makes one for mail, too
        assert cli.run(["import", "--yes", str(path)]) == Exit.WELL
        out = capsys.readouterr().out
        assert out.count("whsec_x") == secrets and "hidden" not in out
    assert len(service.alerts) == 2 and sum(map(len, service.destinations.values())) == 3


def test_a_data_folder_of_changedetection_is_read_as_its_backup_is(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "backup.zip").write_bytes(samples.new_datastore())
    with zipfile.ZipFile(tmp_path / "backup.zip") as archive:
        archive.extractall(tmp_path)
    other = os.path.join(os.fsencode(tmp_path), b"datastore", b"caf\xe9")
    os.mkdir(other)
    Path(os.fsdecode(other), "watch.json").write_text("{}")  # not UTF-8, so not of that program
    shown = []
    for name in ("backup.zip", "datastore"):
        assert cli.run(["import", "--dry-run", str(tmp_path / name)]) == Exit.WELL
        shown.append(sorted(capsys.readouterr().out.splitlines()))
    assert shown[0] == shown[1]
